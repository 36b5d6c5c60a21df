// A picture that moves: how many directions count at a ridge, and what the theorem on barriers promises for it. The
// squared singular values fall like a power; the power, the ridge and the number of columns are sliders.
(() => {
  const place = document.querySelector('.living[data-picture="ridge"]');
  if (!place) return;
  const SVG = "http://www.w3.org/2000/svg", N = 60;
  place.innerHTML = `<div class="living-controls">
    <label>ridge, λ <input type="range" name="ridge" min="-4" max="0" step="0.05" value="-1.5"></label>
    <label>how fast the spectrum falls <input type="range" name="power" min="0" max="3" step="0.1" value="1.2"></label>
    <label>columns to choose, r <input type="range" name="r" min="1" max="120" value="40"></label></div>
    <svg viewBox="0 0 640 220" role="img"></svg><p aria-live="polite"></p>`;
  const value = (name) => +place.querySelector(`[name=${name}]`).value;
  const svg = place.querySelector("svg"), said = place.querySelector("p");
  const bar = (kind, j, height) => {
    const made = document.createElementNS(SVG, "rect");
    const all = {class: kind, x: 10 + j * 620 / N, width: 620 / N - 2, y: 210 - 200 * height, height: 200 * height};
    for (const [key, given] of Object.entries(all)) made.setAttribute(key, given);
    svg.append(made);
  };
  const number = (x) => x.toPrecision(3);
  const draw = () => {
    const lambda = 10 ** value("ridge"), r = value("r");
    const squares = Array.from({length: N}, (_, j) => (j + 1) ** -value("power"));
    const counts = squares.map((x) => x / (x + lambda));
    const dimension = counts.reduce((a, b) => a + b, 0);
    svg.replaceChildren();
    squares.forEach((x, j) => { bar("wall", j, 1); bar("value", j, counts[j]); });
    const s = Math.sqrt(dimension / r);
    const promise = s < 1
      ? `${r} columns keep all of the data, together with the ridge, between ${number((1 - s) / (1 + s))} and ${number((1 + s) / (1 - s))} times.`
      : `For ${r} columns that is too many: the theorem asks for more than ${Math.ceil(dimension - 1e-9)}, or for a larger ridge.`;
    said.textContent = `With λ at ${number(lambda)} times the largest squared singular value, ${number(dimension)} of ${N} directions count. ${promise}`;
    svg.setAttribute("aria-label", said.textContent);
    place.dataset.dimension = JSON.stringify([lambda, value("power"), dimension]);
  };
  for (const input of place.querySelectorAll("input")) input.addEventListener("input", draw);
  draw();
})();
