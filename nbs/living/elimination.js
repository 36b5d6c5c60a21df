// A picture that moves: bounds closing in. Without each of eight features the least objective of a kernel machine, with
// the squared hinge, lies between a dual and a primal value. Each Newton step goes to the candidate with the least lower
// bound; a feature whose lower bound is above the least upper one cannot be the cheapest, and gets no more of them.
(() => {
  const place = document.querySelector('.living[data-picture="elimination"]');
  if (!place) return;
  const SVG = "http://www.w3.org/2000/svg", N = 60, FEATURES = 8, GAMMA = 0.3, CLOSED = 1e-9, MOST = 40;
  place.innerHTML = `<div class="living-controls">
    <label>Newton steps <input type="range" name="steps" min="0" max="9" value="0"></label>
    <label>constant C of the model <input type="range" name="cost" min="-1" max="1.5" step="0.25" value="0.75"></label></div>
    <svg role="img"></svg><p aria-live="polite"></p>`;
  const input = (name) => place.querySelector(`[name=${name}]`);
  const svg = place.querySelector("svg"), said = place.querySelector("p");

  // Samples in a cube, by numbers that are the same everywhere; the label is the sign of a product of two features.
  let seed = 3;
  const next = () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2147483648 - 1;
  };
  const X = Array.from({length: N}, () => Array.from({length: FEATURES}, next));
  const y = X.map((x) => (x[0] * x[1] > 0 ? 1 : -1));
  const kernel = (gone) => X.map((a) => X.map((b) =>
    Math.exp(-GAMMA * a.reduce((sum, ai, j) => sum + (j === gone ? 0 : (ai - b[j]) ** 2), 0))));
  const dot = (a, b) => a.reduce((sum, ai, i) => sum + ai * b[i], 0);

  // The solution of A x = b for a positive definite A, by Cholesky.
  const solve = (A, b) => {
    const n = b.length, L = A.map((row) => [...row]), x = [...b];
    for (let j = 0; j < n; j++) {
      for (let k = 0; k < j; k++) for (let i = j; i < n; i++) L[i][j] -= L[i][k] * L[j][k];
      const root = Math.sqrt(L[j][j]);
      for (let i = j; i < n; i++) L[i][j] /= root;
    }
    for (let i = 0; i < n; i++) { for (let k = 0; k < i; k++) x[i] -= L[i][k] * x[k]; x[i] /= L[i][i]; }
    for (let i = n - 1; i >= 0; i--) { for (let k = i + 1; k < n; k++) x[i] -= L[k][i] * x[k]; x[i] /= L[i][i]; }
    return x;
  };

  // Newton's method from the point u: after each step the best dual value so far, and the best primal one.
  const fit = (K, C, u) => {
    const times = (v) => K.map((row) => dot(row, v));
    const slack = (f) => f.map((fi, i) => Math.max(0, 1 - y[i] * fi));
    const primal = (v, f) => dot(v, f) / 2 + C * slack(f).reduce((sum, s) => sum + s * s, 0);
    const dual = (v) => dot(v, y) - dot(v, v) / (4 * C) - dot(v, times(v)) / 2;
    const feasible = (v) => v.map((vi, i) => (y[i] * vi > 0 ? vi : 0));
    let f = times(u), value = primal(u, f);
    const path = [[dual(feasible(u)), value]];
    while (path[path.length - 1][1] - path[path.length - 1][0] > CLOSED * value && path.length <= MOST) {
      const active = y.map((_, i) => i).filter((i) => y[i] * f[i] < 1);
      const part = solve(active.map((i) => active.map((j) => K[i][j] + (i === j ? 1 / (2 * C) : 0))), active.map((i) => y[i]));
      const goal = y.map(() => 0);
      active.forEach((i, a) => { goal[i] = part[a]; });
      for (let t = 1; t > 1e-6; t /= 2) {
        const v = u.map((ui, i) => ui + t * (goal[i] - ui)), g = times(v);
        if (primal(v, g) < value) { [u, f, value] = [v, g, primal(v, g)]; break; }
      }
      const pulled = slack(f).map((s, i) => 2 * C * y[i] * s);
      path.push([Math.min(value, Math.max(path[path.length - 1][0], dual(pulled), dual(feasible(u)))), value]);
    }
    return {path, u: slack(f).map((s, i) => 2 * C * y[i] * s)};
  };

  const element = (name, attributes, text) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, given] of Object.entries(attributes)) made.setAttribute(key, given);
    if (text) made.textContent = text;
    svg.append(made);
  };
  // How many steps each candidate has had, after 0, 1, 2, ... steps in all, until a single one can be the cheapest.
  const race = (paths) => {
    const states = [paths.map(() => 0)];
    for (;;) {
      const made = states[states.length - 1], bound = (j, end) => paths[j][made[j]][end];
      const best = Math.min(...paths.map((_, j) => bound(j, 1)));
      const open = paths.map((_, j) => j).filter((j) => bound(j, 0) <= best);
      const behind = open.reduce((a, b) => (bound(b, 0) < bound(a, 0) ? b : a));
      if (open.length === 1 || made[behind] === paths[behind].length - 1) return states;
      states.push(made.map((m, j) => m + (j === behind)));
    }
  };
  let shown = null;
  const draw = () => {
    const C = 10 ** +input("cost").value;
    if (!shown || shown.C !== C) {
      const all = fit(kernel(-1), C, y.map(() => 0)), [before] = all.path[all.path.length - 1];
      const paths = X[0].map((_, j) => fit(kernel(j), C, all.u).path);
      shown = {C, before, paths, states: race(paths)};
      input("steps").max = shown.states.length - 1;
    }
    const {before, paths, states} = shown, spent = +input("steps").value, made = states[spent];
    const bound = (j, end) => paths[j][made[j]][end] - before;
    const best = Math.min(...paths.map((_, j) => bound(j, 1))), open = paths.map((_, j) => bound(j, 0) <= best);
    const total = paths.reduce((sum, path) => sum + path.length - 1, 0);
    const saved = paths.filter((path, j) => made[j] < path.length - 1).length;

    // As wide as the page in its own pixels, so that words are no smaller on a phone. The scale is that of the ends.
    const width = Math.max(280, svg.clientWidth || 640), height = 260, ends = paths.map((path) => path[path.length - 1][1] - before);
    const low = Math.min(0, ...paths.map((path) => path[0][0] - before)), high = 1.35 * Math.max(...ends);
    const at = (value) => 30 + (height - 60) * (1 - (Math.min(value, high) - low) / (high - low));
    const across = (j) => 12 + (j + 0.5) * (width - 24) / FEATURES, half = Math.min(16, width / 50);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.replaceChildren();
    paths.forEach((_, j) => {
      const [lower, upper] = [at(bound(j, 0)), at(bound(j, 1))];
      element("rect", {class: open[j] ? "value" : "crowd", x: across(j) - half, width: 2 * half, y: upper - 3, height: lower - upper + 3});
      element("text", {x: across(j), y: height - 8, "text-anchor": "middle"}, String(j));
    });
    element("line", {class: "promise", "stroke-dasharray": "3 4", x1: 4, x2: width - 4, y1: at(best), y2: at(best)});
    element("text", {x: 4, y: 16}, "rise of the objective, at least and most");
    const left = paths.map((_, j) => j).filter((j) => open[j]);
    const steps = `${spent} Newton step${spent === 1 ? "" : "s"}`;
    said.textContent = left.length > 1
      ? `After ${steps} ${left.length} of ${FEATURES} features may still be the cheapest. ${left.length < FEATURES ? "The grey ones cost more than the dotted line, the least upper bound, in any case." : "No lower bound is above the dotted line, the least upper bound."}`
      : `After ${steps} feature ${left[0]} is certain to be the cheapest. Fitting the model without each feature takes ${total}: ${saved} of ${FEATURES} fits need not be finished.`;
    input("cost").setAttribute("aria-valuetext", C.toPrecision(2));
    svg.setAttribute("aria-label", `The rise of the objective without each feature, between its bounds. ${said.textContent}`);
    place.dataset.race = JSON.stringify({X, y, C, open, spent, total, saved, last: states.length - 1,
      bounds: paths.map((_, j) => [0, 1].map((end) => bound(j, end) + before))});
  };
  for (const name of ["steps", "cost"]) input(name).addEventListener("input", draw);
  addEventListener("resize", draw);
  draw();
})();
