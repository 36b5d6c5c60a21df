// A picture that moves: leverage scores of columns in two dimensions. One column is turned and stretched by sliders; the
// area of the circle at the head of each is its leverage, and all areas add up to two.
(() => {
  const place = document.querySelector('.living[data-picture="leverage"]');
  if (!place) return;
  const SVG = "http://www.w3.org/2000/svg", CROWD = 14;
  place.innerHTML = `<div class="living-controls">
    <label>direction of the column <input type="range" name="angle" min="0" max="180" value="100"></label>
    <label>its length <input type="range" name="length" min="0.05" max="2" step="0.05" value="1"></label>
    <label>copies of it <input type="range" name="copies" min="0" max="9" value="0"></label></div>
    <svg viewBox="0 0 640 260" role="img"></svg><p aria-live="polite"></p>`;
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
      const kind = i < CROWD ? "crowd" : "value", at = {x: 320 + 130 * x, y: 245 - 110 * y};
      element("line", {class: kind, x1: 320, y1: 245, x2: at.x, y2: at.y});
      element("circle", {class: kind, cx: at.x, cy: at.y, r: 26 * Math.sqrt(Math.max(scores[i], 0))});
    });
    const own = scores[CROWD], copies = value("copies");
    const why = own > 0.5 && !copies ? "Without it a direction is nearly lost."
      : copies ? `Together its ${copies + 1} copies have ${((copies + 1) * own).toFixed(2)}: any one of them will do.`
      : own > 2 / columns.length ? "That is more than its share." : "Others say the same.";
    said.textContent = `Leverage of the blue column: ${own.toFixed(2)} of 2, a mean one has ${(2 / columns.length).toFixed(2)}. ${why}`;
    svg.setAttribute("aria-label", said.textContent);
    place.dataset.scores = JSON.stringify({columns, scores});
  };
  for (const input of place.querySelectorAll("input")) input.addEventListener("input", draw);
  draw();
})();
