// A picture that moves: labels against geometry. Fifteen columns in two dimensions, some of them noisy, of which six or
// so are to tell two classes apart and to keep every direction. A dial goes from the columns that the labels like best,
// over the ones they like best among those that the theorem allows, to the longest ones that it allows.
(() => {
  const place = document.querySelector('.living[data-picture="labels"]');
  if (!place) return;
  const SVG = "http://www.w3.org/2000/svg", LAST = 10, APART = 3, MOST = 100;
  const TRUTH = [Math.cos(Math.PI / 6), Math.sin(Math.PI / 6)]; // the direction in which the classes differ
  place.innerHTML = `<div class="living-controls">
    <label>labels alone <input type="range" name="dial" min="0" max="${LAST}" value="3"> geometry alone</label>
    <label>columns to choose, r <input type="range" name="r" min="4" max="10" value="6"></label></div>
    <svg role="img"></svg><p aria-live="polite"></p>`;
  const input = (name) => place.querySelector(`[name=${name}]`);
  const svg = place.querySelector("svg"), said = place.querySelector("p");
  const sum = (values) => values.reduce((a, b) => a + b, 0);
  const dot = (x, y) => x[0] * y[0] + x[1] * y[1];

  // Angles, lengths and noise of the columns, then their rows of V: orthonormal, by the root of the inverse of A.
  const given = [[16, 0.7, 0.2], [22, 0.9, 0.3], [27, 0.75, 0.2], [31, 1, 0.3], [36, 0.85, 0.2], [44, 0.7, 0.25],
    [65, 0.7, 0.3], [92, 0.8, 0.3], [120, 0.7, 0.3], [8, 1.3, 1.5], [40, 1.2, 1.5], [72, 1.35, 1.5], [100, 1.25, 1.5],
    [132, 1.3, 1.5], [160, 1.2, 1.5]];
  const noise = given.map((one) => one[2]);
  const raw = given.map(([angle, length]) => [Math.cos, Math.sin].map((f) => length * f(angle * Math.PI / 180)));
  const gram = (rows, w) => [[0, 0], [0, 1], [1, 1]].map(([i, j]) => sum(rows.map((v, k) => w[k] * v[i] * v[j])));
  const [a, b, c] = gram(raw, raw.map(() => 1)), root = Math.sqrt(a * c - b * b);
  const size = root * Math.sqrt(a + c + 2 * root);
  const V = raw.map(([x, y]) => [((c + root) * x - b * y) / size, ((a + root) * y - b * x) / size]);
  const squares = V.map((v) => dot(v, v));
  // how far the classes are apart in each column, in units of their spread, squared
  const scores = V.map((v, i) => (APART * dot(v, TRUTH)) ** 2 / (squares[i] + noise[i] ** 2));

  // Eigenvalues of [[a, b], [b, c]], and for each the squared parts of a vector along its eigenvector.
  const eigen = ([a, b, c]) => {
    const middle = (a + c) / 2, half = Math.hypot((a - c) / 2, b), angle = Math.atan2(2 * b, a - c) / 2;
    const q = [[-Math.sin(angle), Math.cos(angle)], [Math.cos(angle), Math.sin(angle)]];
    return {values: [middle - half, middle + half], parts: (v) => q.map((one) => dot(one, v) ** 2)};
  };
  // The algorithm of the chapter on BSS, where the largest score to a power, times the squared length, is taken.
  const run = (r, power) => {
    const s = Math.sqrt(2 / r), delta = (1 + s) / (1 - s), w = V.map(() => 0);
    for (let tau = 0; tau < r; tau++) {
      const L = tau - Math.sqrt(2 * r), U = delta * (tau + Math.sqrt(2 * r));
      const {values, parts} = eigen(gram(V, w));
      const below = values.map((x) => 1 / (x - L - 1)), above = values.map((x) => 1 / (U + delta - x));
      const gapBelow = sum(below) - sum(values.map((x) => 1 / (x - L)));
      const gapAbove = sum(values.map((x) => 1 / (U - x))) - sum(above);
      let best = null;
      V.forEach((v, i) => {
        const y = parts(v);
        const lower = dot(y, below.map((p) => p * p / gapBelow - p));
        const upper = dot(y, above.map((p) => p * p / gapAbove + p));
        const key = (w[i] ? 0 : 1e9) + scores[i] ** power * squares[i]; // a column that is new, if there is one
        if (upper <= lower && !(best && key <= best.key)) best = {i, key, weight: 2 / (lower + upper)};
      });
      w[best.i] += best.weight;
    }
    return w;
  };
  // The share of samples on the right side of the best plane through the chosen columns, where the classes are normal.
  const rightShare = (weights) => {
    const [a, b, c] = gram(V, weights.map((w, i) => (w ? noise[i] ** -2 : 0))), [x, y] = TRUTH;
    const lost = ((1 + c) * x * x - 2 * b * x * y + (1 + a) * y * y) / ((1 + a) * (1 + c) - b * b);
    const z = APART * Math.sqrt(1 - lost) / 2;
    return 1 / (1 + Math.exp(-1.5976 * z - 0.07056 * z ** 3)); // the normal distribution, to three digits
  };

  const element = (name, attributes, text) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text) made.textContent = text;
    svg.append(made);
  };
  const draw = () => {
    const dial = +input("dial").value, r = +input("r").value, s = Math.sqrt(2 / r);
    const best = scores.map((_, i) => i).sort((i, j) => scores[j] - scores[i]).slice(0, r);
    const weights = dial ? run(r, 2 * ((LAST - dial) / (LAST - 1)) ** 2) : V.map((_, i) => +best.includes(i));
    const {values} = eigen(gram(V, weights)), kappa = values[1] / values[0];
    const promise = ((1 + s) / (1 - s)) ** 2, right = rightShare(weights), share = `${(100 * right).toFixed(0)}%`;
    // one unit is one pixel, so that words are as large on a phone; there the bars stand below the columns
    const wide = svg.getBoundingClientRect().width || 640, beside = wide >= 560;
    const field = beside ? 0.56 * wide : wide, R = Math.min(0.48 * field, 200), x0 = beside ? field + 30 : 2;
    const y0 = beside ? 30 : R + 50, length = wide - x0 - 2, foot = {x: field * 0.46, y: R + 10};
    svg.setAttribute("viewBox", `0 0 ${wide} ${y0 + (beside ? Math.max(R - 15, 136) : 136)}`);
    svg.replaceChildren();
    const at = ([x, y], by) => ({x: foot.x + by * R * x * (y < 0 ? -1 : 1), y: foot.y - by * R * Math.abs(y)});
    element("text", {x: 2, y: 14}, "the larger the dot, the larger the score");
    const end = at(TRUTH, 1.04);
    element("line", {class: "promise", "stroke-dasharray": "2 6", x1: foot.x, y1: foot.y, x2: end.x, y2: end.y});
    element("text", {x: Math.min(end.x + 40, field - 2), y: end.y - 8, "text-anchor": "end"}, "classes differ");
    for (const lit of [false, true]) V.forEach((v, i) => {
      const head = at(v, 1.7), kind = lit ? "value" : "crowd";
      if (lit !== weights[i] > 0) return;
      element("line", {class: kind, x1: foot.x, y1: foot.y, x2: head.x, y2: head.y});
      element("circle", {class: kind, cx: head.x, cy: head.y, r: 2 + 3.6 * Math.sqrt(scores[i])});
    });
    const bar = (y, part, text) => {
      element("text", {x: x0, y: y - 8}, text);
      element("rect", {class: "wall", x: x0, y, width: length, height: 16});
      element("rect", {class: "value", x: x0, y, width: length * Math.min(part, 1), height: 16});
    };
    const number = (x) => x.toPrecision(x < 100 ? 2 : 3), on = (x) => Math.log(x) / Math.log(MOST);
    bar(y0, 2 * right - 1, `samples told apart: ${share}`);
    element("text", {x: x0, y: y0 + 34}, "50%, by guessing");
    bar(y0 + 88, on(kappa), `condition number, log scale: ${number(kappa)}`);
    const line = x0 + length * on(promise);
    element("line", {class: "promise", x1: line, y1: y0 + 84, x2: line, y2: y0 + 112});
    element("text", {x: line, y: y0 + 129, "text-anchor": "middle"}, `promised: at most ${number(promise)}`);
    const who = dial === 0 ? `Labels alone take the ${r} columns of largest score, and the theorem has no say`
      : dial === LAST ? "Geometry alone takes the longest of the columns that the theorem allows"
      : "Labels choose among the columns that the theorem allows";
    const kept = dial ? "and the promise holds whatever the labels prefer" : kappa > promise
      ? "and what they keep is worse than it would allow" : "and that they keep so much is luck";
    said.textContent = `${who}: ${share} of the samples are told apart, ${kept}.`;
    input("dial").setAttribute("aria-valuetext", who);
    const told = `Condition number ${number(kappa)}, promised at most ${number(promise)}.`;
    svg.setAttribute("aria-label", `${said.textContent} ${told}`);
    place.dataset.shown = JSON.stringify({V, noise, scores, weights, kappa, promise, right});
  };
  for (const name of ["dial", "r"]) input(name).addEventListener("input", draw);
  window.addEventListener("resize", draw);
  draw();
})();
