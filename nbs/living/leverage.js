// A picture that moves: leverage scores of columns in two dimensions. One column is turned and stretched by sliders; the
// area of the circle at the head of each is its leverage, and all areas add up to two. The blue one can be dragged, too.
(() => {
  const place = document.querySelector('.living[data-picture="leverage"]');
  if (!place) return;
  const SVG = "http://www.w3.org/2000/svg", CROWD = 14;
  place.innerHTML = `<div class="living-controls">
    <label>direction of the column <input type="range" name="angle" min="0" max="180" value="100"></label>
    <label>its length <input type="range" name="length" min="0.05" max="2" step="0.05" value="1"></label>
    <label>copies of it <input type="range" name="copies" min="0" max="9" value="0"></label></div>
    <svg viewBox="70 0 500 285" role="img"></svg><p aria-live="polite"></p>`;
  const value = (name) => +place.querySelector(`[name=${name}]`).value;
  const svg = place.querySelector("svg"), said = place.querySelector("p");
  const element = (name, attributes) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, given] of Object.entries(attributes)) made.setAttribute(key, given);
    svg.append(made);
  };
  // the others: a fan about one direction, of lengths that alternate
  const crowd = Array.from({length: CROWD}, (_, i) => {
    const angle = (8 + 3 * i) * Math.PI / 180, length = 0.8 + 0.5 * (i % 3);
    return [length * Math.cos(angle), length * Math.sin(angle)];
  });
  const draw = () => {
    const angle = value("angle") * Math.PI / 180, length = value("length");
    const mine = [length * Math.cos(angle), length * Math.sin(angle)];
    const columns = [...crowd, ...Array(1 + value("copies")).fill(mine)];
    const sum = (get) => columns.reduce((total, x) => total + get(x), 0);
    const a = sum((x) => x[0] * x[0]), b = sum((x) => x[0] * x[1]), c = sum((x) => x[1] * x[1]);
    const scores = columns.map(([x, y]) => (c * x * x - 2 * b * x * y + a * y * y) / (a * c - b * b));
    svg.replaceChildren();
    columns.forEach(([x, y], i) => {
      const kind = i < CROWD ? "crowd" : "value", at = {x: 320 + 110 * x, y: 250 - 110 * y};
      element("line", {class: kind, x1: 320, y1: 250, x2: at.x, y2: at.y});
      element("circle", {class: kind, cx: at.x, cy: at.y, r: 26 * Math.sqrt(Math.max(scores[i], 0))});
    });
    const own = scores[CROWD], copies = value("copies");
    const all = own * (copies + 1), left = Math.round(100 * (1 - own));
    const why = all < 2 / columns.length * (copies + 1) ? "Others say the same."
      : copies ? `Its ${copies + 1} copies share ${all.toFixed(2)}: any one of them, with a weight, stands for all.`
      : own > 0.9 ? `Without it only ${left}% of a direction is left.`
      : own > 0.5 ? `Without it ${left}% of a direction is left: the others say the rest.`
      : "That is more than the mean.";
    said.textContent = `Blue: the column that you move; grey: the others. The size of a dot is its leverage, and all add up to 2, the number of dimensions. The blue one has ${own.toFixed(2)}, where the mean is ${(2 / columns.length).toFixed(2)}. ${why}`;
    svg.setAttribute("aria-label", said.textContent);
    place.dataset.scores = JSON.stringify({columns, scores});
  };
  const drag = (event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const x = (at.x - 320) / 110, y = Math.max((250 - at.y) / 110, 0);
    place.querySelector("[name=angle]").value = Math.atan2(y, x) * 180 / Math.PI;
    place.querySelector("[name=length]").value = Math.hypot(x, y);
    draw();
  };
  svg.style.touchAction = "pan-y";
  svg.addEventListener("pointerdown", (event) => { svg.setPointerCapture(event.pointerId); drag(event); });
  svg.addEventListener("pointermove", (event) => { if (event.buttons) drag(event); });
  for (const input of place.querySelectorAll("input")) input.addEventListener("input", draw);
  draw();
})();
