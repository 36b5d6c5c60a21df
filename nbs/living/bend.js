// A picture that moves: a path of objectives, and the two pieces that describe it, for the change point that you choose:
// a line before it and a parabola after it, by least squares, as in the chapter. Below, the error for every change.
(() => {
  const place = document.querySelector('.living[data-picture="bend"]');
  if (!place) return;
  const SVG = "http://www.w3.org/2000/svg", LAST = 24, MATTER = 7;
  place.innerHTML = `<div class="living-controls">
    <label>features left at the change <input type="range" name="left" min="1" max="${LAST}" value="13"></label>
    <label>how sharply the path bends <input type="range" name="sharp" min="0" max="1" step="0.05" value="0.8"></label>
    <label>noise <input type="range" name="noise" min="0" max="1" step="0.05" value="0.25"></label></div>
    <svg role="img"></svg><p aria-live="polite"></p>`;
  const input = (name) => place.querySelector(`[name=${name}]`);
  const svg = place.querySelector("svg"), said = place.querySelector("p");
  const dot = (a, b) => a.reduce((sum, ai, i) => sum + ai * b[i], 0);

  // Normal numbers, the same everywhere.
  let seed = 2;
  const next = () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const gone = Array.from({length: LAST + 1}, (_, t) => t / LAST);
  const deviations = gone.map(() => Math.sqrt(-2 * Math.log(next() || 1e-9)) * Math.cos(2 * Math.PI * next()));

  // Least squares in a few columns: the curve, and the weight of the last column. Gram and Schmidt, each of them twice.
  const nearest = (columns, values) => {
    const made = [], curve = values.map(() => 0);
    let last = 0;
    for (const column of columns) {
      const q = [...column];
      for (const p of [...made, ...made]) { const c = dot(q, p); p.forEach((pi, i) => { q[i] -= c * pi; }); }
      const length = Math.sqrt(dot(q, q));
      made.push(q.map((qi) => qi / length));
    }
    for (const q of made) { const c = dot(q, values); q.forEach((qi, i) => { curve[i] += c * qi; }); last = c; }
    return {curve, last};
  };
  // The rules of the chapter for the ends: a single point has no slope, and a tail through all of its points must rise.
  const bent = (values, at) => {
    const beyond = gone.map((t) => Math.max(t - gone[at], 0)), after = LAST - at;
    const line = [gone.map(() => 1), gone].slice(0, at + 1), square = beyond.map((b) => b * b);
    const tail = [square, beyond].slice(after > 1 ? 0 : 1); // the slope at the change comes last
    const {curve, last} = nearest([...line, ...tail], values);
    return after <= 2 && last < 0 ? nearest([...line, ...tail.slice(0, -1)], values).curve : curve;
  };

  const element = (name, attributes, text) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, given] of Object.entries(attributes)) made.setAttribute(key, given);
    if (text) made.textContent = text;
    svg.append(made);
  };
  let across = null;
  const draw = () => {
    const sharp = +input("sharp").value, noise = 0.1 * input("noise").value, at = LAST - input("left").value;
    const values = gone.map((t, i) => {
      const beyond = Math.max(0, i - LAST + MATTER) / MATTER;
      return 0.2 + 0.15 * t + 0.65 * (sharp * beyond + (1 - sharp) * beyond ** 2) + noise * deviations[i];
    });
    const curves = gone.slice(0, -1).map((_, i) => bent(values, i));
    const errors = curves.map((curve) => curve.reduce((sum, c, i) => sum + (c - values[i]) ** 2, 0));
    const least = Math.min(...errors), best = errors.findIndex((error) => error <= least + 1e-20 * dot(values, values));
    // as wide as the page in its own pixels, so that words are no smaller on a phone
    const width = Math.max(280, svg.clientWidth || 640), half = 200, height = 330;
    across = (i) => 14 + (width - 28) * i / LAST;
    const up = (value) => half - 12 - (half - 30) * (value - 0.05) / 1.1;
    const top = Math.max(...errors), floor = Math.max(errors[best], 1e-4 * top); // the errors on a logarithmic scale
    const down = (error) => height - 36 - (height - half - 64) * Math.log(Math.max(error, floor) / floor) / Math.log(top / floor);
    const near = errors.map((_, i) => i).filter((i) => errors[i] <= 2 * errors[best] + 1e-15);
    const points = (get, from, to) => gone.map((_, i) => `${across(i).toFixed(1)},${get(i).toFixed(1)}`).slice(from, to).join(" ");
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.replaceChildren();
    element("line", {class: "value", x1: across(at), x2: across(at), y1: 8, y2: height - 26});
    values.forEach((value, i) => element("circle", {class: "crowd", cx: across(i), cy: up(value), r: 3.5}));
    element("polyline", {class: "value", points: points((i) => up(curves[at][i]), 0, at + 1)});
    element("polyline", {class: "value", points: points((i) => up(curves[at][i]), at)});
    element("polyline", {class: "value", points: points((i) => down(errors[i]), 0, LAST)});
    for (const i of near) element("circle", {class: "value", cx: across(i), cy: down(errors[i]), r: i === best ? 6 : 3});
    element("text", {x: 14, y: 20}, "objective");
    element("text", {x: 14, y: half + 16}, "error of every change (logarithmic)");
    for (const left of [24, 18, 12, 6, 0]) element("text", {x: across(LAST - left), y: height - 8, "text-anchor": left ? left === LAST ? "start" : "middle" : "end"}, left || "0 left");
    const exact = errors[best] < 1e-15, ratio = errors[at] / errors[best];
    const here = at === best ? "This change has the least error" : exact ? `A change at ${LAST - best} features left is exact, this one is not`
      : `A change here has ${ratio.toPrecision(2)} times the least error, which is at ${LAST - best} features left`;
    said.textContent = `${here}; ${MATTER} matter. ${near.length > 1 ? `${near.length} of ${LAST} changes have at most twice the least error (dots): the bend may be at any of them.` : "No other change is nearly as good."}`;
    svg.setAttribute("aria-label", said.textContent);
    place.dataset.bend = JSON.stringify({values, errors, best: LAST - best});
  };
  // The change can be dragged in the picture, too.
  const drag = (event) => {
    if (event.type === "pointermove" && !event.buttons) return;
    const box = svg.getBoundingClientRect(), x = (event.clientX - box.left) * svg.viewBox.baseVal.width / box.width;
    const at = Math.round(LAST * (x - across(0)) / (across(LAST) - across(0)));
    input("left").value = LAST - at;
    draw();
  };
  Object.assign(svg.style, {touchAction: "pan-y", cursor: "ew-resize"});
  for (const kind of ["pointerdown", "pointermove"]) svg.addEventListener(kind, drag);
  for (const name of ["left", "sharp", "noise"]) input(name).addEventListener("input", draw);
  addEventListener("resize", draw);
  draw();
})();
