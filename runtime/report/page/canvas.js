// SPDX-License-Identifier: LGPL-2.1-or-later
// Charts on a canvas: sharp on any screen, drawn again when size or theme change, with a place that the pointer or the
// arrow keys choose and that is told in words.

const redraws = [];

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function redrawAll() {
  for (const redraw of redraws) redraw();
}

function watchTheme() {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  // Paper is light, whatever the screen is.
  addEventListener("beforeprint", () => {
    document.documentElement.classList.add("printing");
    redrawAll();
  });
  addEventListener("afterprint", () => {
    document.documentElement.classList.remove("printing");
    redrawAll();
  });
}

// draw(context, width, height): returns the number of marks, which tests look at. pick(x, y, width, height): what is
// there, anything; tell(picked): lines of text. step(picked, dx, dy): its neighbour, for the arrow keys.
function chart({name, label, height, draw, pick, tell, step, zoom}) {
  const canvas = element("canvas", {"data-chart": name, tabindex: "0", role: "img", "aria-label": label});
  const live = element("p", {class: "live", "aria-live": "polite"});
  const under = element("div", {class: "under"});
  const holder = element("figure", {class: "chart"}, canvas, under);
  const state = {picked: null, transform: d3.zoomIdentity};
  const tall = () => (typeof height === "function" ? height(holder.clientWidth) : height);
  let width = 0;
  const redraw = () => {
    width = holder.clientWidth;
    if (width === 0) return;
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(tall() * ratio);
    canvas.style.height = `${tall()}px`;
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    canvas.dataset.marks = draw(context, width, tall(), state);
  };
  let waiting = false;
  const soon = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; redraw(); });
  };
  redraws.push(redraw);
  new ResizeObserver(() => holder.clientWidth !== width && redraw()).observe(holder);
  if (pick) {
    const choose = (picked, x, y) => {
      state.picked = picked;
      soon();
      if (picked === null) return hideTip();
      const lines = tell(picked);
      if (x !== undefined) showTip(lines, x, y);
      else live.textContent = lines.join(", ");
    };
    canvas.addEventListener("pointermove", event => {
      const box = canvas.getBoundingClientRect();
      const picked = pick(event.clientX - box.left, event.clientY - box.top, width, tall(), state);
      choose(picked === undefined ? null : picked, event.clientX, event.clientY);
    });
    canvas.addEventListener("pointerleave", () => choose(null));
    canvas.addEventListener("blur", () => { live.textContent = ""; choose(null); });
    canvas.addEventListener("keydown", event => {
      const way = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
      if (!way || !step) return;
      event.preventDefault();
      choose(step(state.picked, way[0], way[1]));
    });
  }
  if (zoom) {
    const behaviour = d3.zoom().scaleExtent([1, zoom]).on("zoom", () => {
      state.transform = d3.event.transform;
      hideTip();
      soon();
    });
    behaviour.filter(() => !d3.event.button && (d3.event.type !== "wheel" || d3.event.ctrlKey || d3.event.shiftKey));
    const selected = d3.select(canvas).call(behaviour);
    // Limits follow the size.
    canvas.addEventListener("pointerenter", () =>
      behaviour.extent([[0, 0], [width, tall()]]).translateExtent([[0, 0], [width, tall()]]));
    const by = factor => behaviour.scaleBy(selected, factor);
    canvas.addEventListener("keydown", event => {
      if (event.key === "+" || event.key === "=") by(2);
      else if (event.key === "-") by(0.5);
      else if (event.key === "0") behaviour.transform(selected, d3.zoomIdentity);
    });
    under.append(element("div", {class: "zoom", role: "group", "aria-label": "Zoom"},
      element("button", {type: "button", "aria-label": "Closer", onclick: () => by(2)}, "+"),
      element("button", {type: "button", "aria-label": "Further", onclick: () => by(0.5)}, "−"),
      element("button", {type: "button", "aria-label": "All",
        onclick: () => behaviour.transform(selected, d3.zoomIdentity)}, "all"),
      element("span", {class: "hint"}, "or Shift and the wheel, drag")));
  }
  if (pick) under.append(live);
  holder.redraw = redraw;
  return holder;
}

// Axes of canvases. ticks: [[position, text]...]
function axisBelow(context, ticks, y, left, right, title) {
  context.strokeStyle = colour("--line");
  context.fillStyle = colour("--quiet");
  context.beginPath();
  context.moveTo(left, y + 0.5);
  context.lineTo(right, y + 0.5);
  for (const [x] of ticks) {
    context.moveTo(Math.round(x) + 0.5, y);
    context.lineTo(Math.round(x) + 0.5, y + 5);
  }
  context.stroke();
  context.textAlign = "center";
  for (const [x, text] of ticks) context.fillText(text, x, y + 14);
  if (title) context.fillText(title, (left + right) / 2, y + 31);
}

function axisLeft(context, ticks, x, top, bottom, right, title) {
  context.strokeStyle = colour("--grid");
  context.fillStyle = colour("--quiet");
  context.textAlign = "right";
  context.beginPath();
  for (const [y, text] of ticks) {
    context.moveTo(x, Math.round(y) + 0.5);
    context.lineTo(right, Math.round(y) + 0.5);
    context.fillText(text, x - 6, y);
  }
  context.stroke();
  if (!title) return;
  context.save();
  context.translate(11, (top + bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.fillText(title, 0, 0);
  context.restore();
}

// Round times between 0 and `most`.
function timeTicks(scale, count) {
  const [, top] = scale.domain();
  const unit = scaled(top, TIME_UNITS)[1];
  const size = TIME_UNITS.find(entry => entry[0] === unit)[1];
  const inUnit = scale.copy().domain(scale.domain().map(value => value / size));
  return inUnit.ticks(count).map(value => [inUnit(value), `${value} ${unit}`]);
}

function rankTicks(scale, count) {
  return scale.ticks(count).filter(Number.isInteger).map(value => [scale(value + 0.5), String(value)]);
}
