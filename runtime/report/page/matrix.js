// SPDX-License-Identifier: LGPL-2.1-or-later
// Who sends to whom: a square of ranks, or of nodes, with a colour for each pair on a logarithmic scale.

const MATRIX_BOX = {left: 62, right: 10, top: 10, bottom: 42};

// Cells {from, to, messages, bytes} of ranks or nodes; `names` of rows and columns, `block` of them in a cell.
function cellsOf(report, kind) {
  const messages = report.mpi_calls.messages;
  const cells = [];
  for (let i = 0; i < messages.from.length; ++i)
    if (messages.to[i] >= 0)
      cells.push({from: messages.from[i], to: messages.to[i], messages: messages.messages[i],
        bytes: messages.bytes[i]});
  const ranks = ranksOf(report);
  if (kind === "ranks" || messages.block > 1)
    return {cells, size: Math.ceil(ranks / messages.block), block: messages.block, name: i => `rank ${i}`};
  const nodes = [...new Set(report.ranks.host)];
  const index = new Map(nodes.map((node, i) => [node, i]));
  const of = report.ranks.host.map(node => index.get(node));
  return {cells: gathered(cells, cell => [of[cell.from], of[cell.to]]), size: nodes.length, block: 1,
    name: i => nodes[i]};
}

// Cells that fall together, as one.
function gathered(cells, place) {
  const sums = new Map();
  for (const cell of cells) {
    const [from, to] = place(cell);
    const key = from * 65536 + to;
    const known = sums.get(key);
    if (known) {
      known.messages += cell.messages;
      known.bytes += cell.bytes;
    } else {
      sums.set(key, {from, to, messages: cell.messages, bytes: cell.bytes});
    }
  }
  return [...sums.values()];
}

function heat(share) {
  const dark = !document.documentElement.classList.contains("printing") &&
    matchMedia("(prefers-color-scheme: dark)").matches;
  return dark ? d3.interpolateViridis(0.15 + 0.85 * share) : d3.interpolateYlGnBu(0.22 + 0.78 * share);
}

function logScale(values) {
  let [low, high] = [Infinity, 1];
  for (const value of values) {
    if (value > 0) low = Math.min(low, value);
    high = Math.max(high, value);
  }
  low = Math.min(low, high);
  const span = Math.log(high / low) || 1;
  const scale = value => (value > 0 ? (high === low ? 1 : Math.log(value / low) / span) : 0);
  return {scale, low, high};
}

function matrixSide(width) {
  return Math.max(200, Math.min(width - MATRIX_BOX.left - MATRIX_BOX.right, 560));
}

function matrixScales(size, width, state) {
  const side = matrixSide(width);
  const x = state.transform.rescaleX(d3.scaleLinear([0, size], [MATRIX_BOX.left, MATRIX_BOX.left + side]));
  const y = state.transform.rescaleY(d3.scaleLinear([0, size], [MATRIX_BOX.top, MATRIX_BOX.top + side]));
  return {x, y, side};
}

function drawMatrixCells(context, width, state, matrix, what, title) {
  const {x, y, side} = matrixScales(matrix.size, width, state);
  const [left, top] = [MATRIX_BOX.left, MATRIX_BOX.top];
  context.save();
  context.beginPath();
  context.rect(left, top, side, side);
  context.clip();
  context.fillStyle = colour("--cold");
  context.fillRect(left, top, side, side);
  const each = x(1) - x(0);
  // Below a dot, cells are added up: none hides another.
  const together = Math.max(1, Math.ceil(1.5 / each));
  const shown = together === 1 ? matrix.cells
    : gathered(matrix.cells, cell => [Math.floor(cell.from / together), Math.floor(cell.to / together)]);
  const {scale, low, high} = logScale(shown.map(cell => cell[what]));
  matrix.range = {low, high};
  const wide = each * together;
  const gap = wide > 6 ? 1 : 0;
  let marks = 0;
  for (const cell of shown) {
    const [at, down] = [x(cell.to * together), y(cell.from * together)];
    if (at + wide < left || at > left + side || down + wide < top || down > top + side) continue;
    context.fillStyle = heat(scale(cell[what]));
    context.fillRect(at, down, Math.max(1, wide - gap), Math.max(1, wide - gap));
    ++marks;
  }
  if (state.picked) {
    context.strokeStyle = colour("--text");
    context.lineWidth = 1.5;
    context.strokeRect(x(state.picked.to), y(state.picked.from), Math.max(3, each), Math.max(3, each));
  }
  context.restore();
  const tick = scaleOf => scaleOf.ticks(6).filter(Number.isInteger).filter(value => value < matrix.size);
  axisLeft(context, tick(y).map(value => [y(value + 0.5), String(value * matrix.block)])
    .filter(([at]) => at > top && at < top + side), left, top, top + side, left, `from ${title}`);
  axisBelow(context, tick(x).map(value => [x(value + 0.5), String(value * matrix.block)])
    .filter(([at]) => at > left && at < left + side), top + side, left, left + side, `to ${title}`);
  return marks;
}

function drawScaleOf(holder, matrix, show) {
  const {low, high} = matrix.range || {low: 0, high: 0};
  const stops = d3.range(11).map(i => heat(i / 10)).join(", ");
  holder.replaceChildren(element("div", {class: "legend"}, show(low),
    element("span", {class: "bar", style: `background: linear-gradient(to right, ${stops})`}), show(high),
    " (logarithmic; empty: nothing)"));
}

function drawMatrix(report) {
  const title = "Who talks to whom";
  const messages = report.mpi_calls && report.mpi_calls.messages;
  if (!messages)
    return missing("matrix", title, "Who sends to whom is not in this report.", OPTIONS.calls);
  if (!messages.from.length)
    return section("matrix", title, hasCalls(report) ? "No rank sent a message to another by a call of its own: " +
      "what was sent came from collectives." : "No rank ended itself, so nothing is known of its messages.");
  let kind = "ranks";
  let what = "bytes";
  let matrix = cellsOf(report, kind);
  let found = null;
  const lookUp = () => {
    found = new Map(matrix.cells.map(cell => [cell.from * 65536 + cell.to, cell]));
  };
  lookUp();
  const scale = element("div");
  const range = i => (matrix.block > 1 ? `ranks ${i * matrix.block} to ${(i + 1) * matrix.block - 1}` : matrix.name(i));
  const picture = chart({
    name: "matrix", zoom: 64, height: width => matrixSide(width) + MATRIX_BOX.top + MATRIX_BOX.bottom,
    label: "Heat map of messages between ranks. Arrow keys choose a pair, + and - zoom.",
    draw: (context, width, height, state) => {
      const marks = drawMatrixCells(context, width, state, matrix, what, kind === "ranks" ? "rank" : "node");
      drawScaleOf(scale, matrix, what === "bytes" ? showBytes : showCount);
      return marks;
    },
    pick: (px, py, width, height, state) => {
      const {x, y, side} = matrixScales(matrix.size, width, state);
      const [to, from] = [Math.floor(x.invert(px)), Math.floor(y.invert(py))];
      const inside = px >= MATRIX_BOX.left && px < MATRIX_BOX.left + side && py >= MATRIX_BOX.top &&
        py < MATRIX_BOX.top + side;
      return inside && from >= 0 && to >= 0 && from < matrix.size && to < matrix.size ? {from, to} : undefined;
    },
    tell: ({from, to}) => {
      const cell = found.get(from * 65536 + to);
      return [`${range(from)} to ${range(to)}`, cell ? `${plural(cell.messages, "message")}, ${showBytes(cell.bytes)}`
        : "nothing"];
    },
    step: (at, dx, dy) => (at === null ? {from: matrix.cells[0].from, to: matrix.cells[0].to} : {
      from: Math.max(0, Math.min(matrix.size - 1, at.from + dy)),
      to: Math.max(0, Math.min(matrix.size - 1, at.to + dx))}),
  });
  const bytes = sum(messages.bytes);
  const count = sum(messages.messages);
  const top = indexOfMost(messages.bytes);
  const ranks = ranksOf(report);
  const place = i => (messages.block > 1 ? `ranks ${i * messages.block} to ${(i + 1) * messages.block - 1}`
    : `rank ${i}`);
  const pairs = ranks * Math.max(1, ranks - 1);
  const sentence = `${showCount(messages.pairs)} of ${showCount(pairs)} pairs of ranks exchange ` +
    `${plural(count, "message")} with ${showBytes(bytes)}; most go from ${place(messages.from[top])} to ` +
    `${messages.to[top] < 0 ? "ranks of other jobs" : place(messages.to[top])}: ${showBytes(messages.bytes[top])}, ` +
    `${showShare(messages.bytes[top], bytes)} of all. What collectives send is not in it.`;
  const order = d3.range(messages.from.length).sort((a, b) => messages.bytes[b] - messages.bytes[a]);
  const row = i => [place(messages.from[i]), messages.to[i] < 0 ? "other jobs" : place(messages.to[i]),
    messages.messages[i], messages.bytes[i]];
  const columns = [{title: "from", text: true}, {title: "to", text: true}, {title: "messages", show: showCount},
    {title: "bytes", show: showBytes}];
  const several = messages.block === 1 && new Set(report.ranks.host).size < ranks;
  return section("matrix", title, sentence, element("div", {class: "controls"},
    choice("Show", [["bytes", "bytes"], ["messages", "messages"]], value => { what = value; picture.redraw(); }),
    several ? choice("Of", [["ranks", "ranks"], ["nodes", "nodes"]], value => {
      kind = value;
      matrix = cellsOf(report, kind);
      lookUp();
      picture.redraw();
    }) : ""), scale, element("div", {class: "beside"}, picture,
    table("The pairs with most bytes", columns, order.slice(0, 16).map(row), 16)),
  tableBehind("All pairs as a table", "Pairs with most bytes", columns, () => order.map(row)));
}
