// A picture that moves: single-set spectral sparsification between its two barriers, as in the chapter. It chooses among
// 200 random columns by the largest slack, or takes the first that is feasible; the number of draws, the rank and the
// step are sliders. Without this script its place shows a sentence.
(() => {
  const place = document.querySelector('.living[data-picture="barriers"]');
  if (!place) return;
  const SVG = "http://www.w3.org/2000/svg", D = 200;

  // Numbers that look random and are the same everywhere (mulberry32), two of them made a normal one.
  const random = (seed) => () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const dot = (x, y) => x.reduce((sum, xi, i) => sum + xi * y[i], 0);

  // A basis of `ell` dimensions for D columns of very different length: orthonormal, by Gram and Schmidt.
  const basis = (ell) => {
    const next = random(7);
    const normal = () => Math.sqrt(-2 * Math.log(next() || 1e-9)) * Math.cos(2 * Math.PI * next());
    const size = Array.from({length: D}, () => Math.exp(normal()));
    const made = [];
    for (let j = 0; j < ell; j++) {
      const x = size.map((s) => s * normal());
      for (const y of [...made, ...made]) { const c = dot(x, y); y.forEach((yi, i) => { x[i] -= c * yi; }); }
      const length = Math.sqrt(dot(x, x));
      made.push(x.map((xi) => xi / length));
    }
    return Array.from({length: D}, (_, i) => made.map((x) => x[i]));
  };

  // Eigenvalues, rising, and eigenvectors of a small symmetric matrix, by Jacobi's rotations.
  const eigen = (A) => {
    const n = A.length, B = A.map((row) => [...row]);
    const Q = B.map((_, i) => B.map((_, j) => +(i === j)));
    for (let sweep = 0; sweep < 30; sweep++) {
      let off = 0;
      for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) {
        off += B[p][q] ** 2;
        if (Math.abs(B[p][q]) < 1e-14) continue;
        const theta = (B[q][q] - B[p][p]) / (2 * B[p][q]);
        const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.hypot(theta, 1));
        const c = 1 / Math.hypot(t, 1), s = c * t;
        for (let k = 0; k < n; k++) [B[k][p], B[k][q]] = [c * B[k][p] - s * B[k][q], s * B[k][p] + c * B[k][q]];
        for (let k = 0; k < n; k++) [B[p][k], B[q][k]] = [c * B[p][k] - s * B[q][k], s * B[p][k] + c * B[q][k]];
        for (let k = 0; k < n; k++) [Q[k][p], Q[k][q]] = [c * Q[k][p] - s * Q[k][q], s * Q[k][p] + c * Q[k][q]];
      }
      if (off < 1e-22) break;
    }
    const order = B.map((_, j) => j).sort((i, j) => B[i][i] - B[j][j]);
    return {values: order.map((j) => B[j][j]), vectors: order.map((j) => Q.map((row) => row[j]))};
  };

  // The algorithm of the chapter: at every step both barriers and the eigenvalues between them.
  const run = (ell, r, first) => {
    const V = basis(ell), s = Math.sqrt(ell / r), root = Math.sqrt(ell * r), delta = (1 + s) / (1 - s);
    const A = Array.from({length: ell}, () => Array(ell).fill(0));
    const path = [];
    const sum = (x) => x.reduce((a, b) => a + b, 0);
    for (let tau = 0; tau <= r; tau++) {
      const L = tau - root, U = delta * (tau + root);
      const {values, vectors} = eigen(A);
      path.push({L, U, values});
      if (tau === r) break;
      const below = values.map((a) => 1 / (a - L - 1)), above = values.map((a) => 1 / (U + delta - a));
      const gapBelow = sum(below) - sum(values.map((a) => 1 / (a - L)));
      const gapAbove = sum(values.map((a) => 1 / (U - a))) - sum(above);
      let best = null;
      for (const v of V) {
        const y = vectors.map((q) => dot(q, v) ** 2);
        const lower = dot(y, below.map((p) => p * p / gapBelow - p));
        const upper = dot(y, above.map((p) => p * p / gapAbove + p));
        if (first ? !best && upper <= lower : !best || lower - upper > best.lower - best.upper) best = {v, lower, upper};
      }
      const t = 2 / (best.lower + best.upper);
      best.v.forEach((vi, i) => best.v.forEach((vj, j) => { A[i][j] += t * vi * vj; }));
    }
    return {path, s};
  };

  const element = (name, attributes, parent) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    parent.append(made);
    return made;
  };
  place.innerHTML = `<div class="living-controls">
    <label>columns to choose, r <input type="range" name="r" min="2" max="60" value="30"></label>
    <label>dimensions, ℓ <input type="range" name="ell" min="1" max="12" value="6"></label>
    <label>step <input type="range" name="tau" min="0" max="30" value="30"></label>
    <label><input type="checkbox" name="first"> the first column that is allowed, not the best</label></div>
    <svg viewBox="0 0 640 300" role="img"></svg><p aria-live="polite"></p>`;
  const input = (name) => place.querySelector(`[name=${name}]`);
  const svg = place.querySelector("svg"), said = place.querySelector("p");
  let shown = null;
  const draw = () => {
    const r = +input("r").value, ell = Math.min(+input("ell").value, r - 1);
    const key = [r, ell, input("first").checked].join();
    if (!shown || shown.key !== key) shown = {key, ...run(ell, r, input("first").checked)};
    input("ell").value = ell;
    input("tau").max = r;
    const tau = +input("tau").value, {path, s} = shown;
    const low = path[0].L, high = path[r].U;
    const x = (step) => 10 + 620 * step / r, y = (value) => 290 - 280 * (value - low) / (high - low);
    const line = (get, to = r) => path.slice(0, to + 1).map((p, step) => `${x(step).toFixed(1)},${y(get(p)).toFixed(1)}`).join(" ");
    svg.replaceChildren();
    element("polygon", {class: "wall", points: `${line((p) => p.U)} 630,0 10,0`}, svg);
    element("polygon", {class: "wall", points: `${line((p) => p.L)} 630,300 10,300`}, svg);
    for (let j = 0; j < ell; j++) element("polyline", {class: "value", points: line((p) => p.values[j], tau)}, svg);
    for (const value of path[tau].values) element("circle", {class: "value", r: 3, cx: x(tau), cy: y(value)}, svg);
    element("text", {x: 20, y: 26}, svg).textContent = "upper barrier";
    element("text", {x: 620, y: 288, "text-anchor": "end"}, svg).textContent = "lower barrier";
    // All numbers at the scale of the last step, where the promise is made.
    const scale = (1 - s) / r, scaled = path[tau].values.map((value) => value * scale), last = path[r].values.map((value) => value * scale);
    const number = (value) => Math.abs(value) < 5e-4 ? "0" : value.toPrecision(3);
    const values = ell === 1 ? `the eigenvalue is ${number(scaled[0])}` : `the ${ell} eigenvalues lie from ${number(scaled[0])} to ${number(scaled[ell - 1])}`;
    said.textContent = tau < r
      ? `After ${tau} of ${r} steps the barriers stand at ${number(path[tau].L * scale)} and ${number(path[tau].U * scale)}; ${values}.`
      : `${r} columns for ${ell} dimension${ell === 1 ? "" : "s"}: every squared length is kept between ${number(last[0])} and ${number(last[ell - 1])} times; promised for any data are ${number((1 - s) ** 2)} and ${number((1 + s) ** 2)}.`;
    svg.setAttribute("aria-label", said.textContent);
    place.dataset.interval = JSON.stringify([last[0], last[ell - 1], (1 - s) ** 2, (1 + s) ** 2]);
  };
  for (const name of ["r", "ell", "tau", "first"]) input(name).addEventListener("input", () => {
    if (name === "r") { input("tau").max = input("r").value; input("tau").value = input("r").value; }
    draw();
  });
  draw();
})();
