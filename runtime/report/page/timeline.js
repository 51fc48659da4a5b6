// SPDX-License-Identifier: LGPL-2.1-or-later
// Ranks x time in outline: how much of each stretch of time a rank computed, communicated and waited.

const STATE_COLOURS = {computing: "--computing", communicating: "--communicating", waiting: "--waiting"};

// condensed_timeline.h says how shares are written.
function shareOf(text, column) {
  const code = text.charCodeAt(column);
  return ((code > 92 ? code - 1 : code) - 35) / 90;
}

function rgbOf(name) {
  const parsed = d3.rgb(colour(name));
  return [parsed.r, parsed.g, parsed.b];
}

function drawTimeline(report) {
  const title = "Timeline";
  const timeline = report.timeline;
  if (!timeline || !Array.isArray(timeline.rows) || !timeline.rows.length)
    return missing("timeline", title, "What each rank did when is not in this report.", OPTIONS.timeline);
  const {rows, states, together, bin_ps: bin} = timeline;
  const columns = d3.max(rows, row => d3.max(row, text => text.length)) || 0;
  const ranks = ranksOf(report);
  const end = bin * columns;
  const box = {left: 62, right: 24, top: 8, bottom: 44};
  const height = box.top + box.bottom + Math.max(110, Math.min(440, rows.length * 14));
  const scales = (width, state) => ({
    x: state.transform.rescaleX(d3.scaleLinear([0, end], [box.left, width - box.right])),
    y: d3.scaleLinear([0, rows.length], [box.top, height - box.bottom])});
  const colours = states.map(state => STATE_COLOURS[state] || "--edges");
  const stateTime = states.map((state, s) => sum(rows.map(row => {
    let all = 0;
    for (let i = 0; i < row[s].length; ++i) all += shareOf(row[s], i);
    return all * bin;
  })) * together);
  // The whole picture once, a dot for each cell, then stretched: thousands of ranks cost no more than hundreds.
  const paint = () => {
    const image = new ImageData(Math.max(1, columns), rows.length);
    const inks = colours.map(rgbOf);
    const paper = rgbOf("--rest");
    rows.forEach((row, r) => {
      for (let i = 0; i < columns; ++i) {
        let used = 0;
        const at = 4 * (r * columns + i);
        for (let c = 0; c < 3; ++c) image.data[at + c] = 0;
        states.forEach((state, s) => {
          const share = Math.min(shareOf(row[s], i) || 0, 1 - used);
          used += share;
          for (let c = 0; c < 3; ++c) image.data[at + c] += inks[s][c] * share;
        });
        for (let c = 0; c < 3; ++c) image.data[at + c] += paper[c] * (1 - used);
        image.data[at + 3] = 255;
      }
    });
    const canvas = element("canvas", {width: image.width, height: image.height});
    canvas.getContext("2d").putImageData(image, 0, 0);
    return canvas;
  };
  const rowName = r => (together === 1 ? `rank ${r}`
    : `ranks ${r * together} to ${Math.min(ranks, (r + 1) * together) - 1}`);
  const picture = chart({
    name: "timeline", height, zoom: Math.max(4, columns / 8),
    label: "Heat map: what ranks did over time. Arrow keys choose a rank and a time, + and - zoom.",
    draw: (context, width, tall, state) => {
      const {x, y} = scales(width, state);
      context.save();
      context.beginPath();
      context.rect(box.left, box.top, width - box.left - box.right, tall - box.top - box.bottom);
      context.clip();
      context.imageSmoothingEnabled = false;
      context.drawImage(paint(), x(0), y(0), x(end) - x(0), y(rows.length) - y(0));
      if (y(1) - y(0) > 8) {
        context.fillStyle = colour("--card");
        for (let r = 1; r < rows.length; ++r) context.fillRect(box.left, y(r) - 0.5, width, 1);
      }
      if (state.picked) {
        context.strokeStyle = colour("--text");
        context.strokeRect(x(state.picked.i * bin), y(state.picked.r), Math.max(2, x(bin) - x(0)), y(1) - y(0));
      }
      context.restore();
      const marks = y.ticks(Math.min(rows.length, 8)).filter(Number.isInteger).filter(r => r < rows.length);
      axisLeft(context, marks.map(r => [y(r + 0.5), String(r * together)]), box.left, box.top, tall - box.bottom,
        box.left, "rank");
      axisBelow(context, timeTicks(x, 8).filter(([at]) => at >= box.left - 1 && at <= width - box.right + 1),
        tall - box.bottom, box.left, width - box.right, "simulated time");
      return rows.length * columns;
    },
    pick: (px, py, width, tall, state) => {
      const {x, y} = scales(width, state);
      const [i, r] = [Math.floor(x.invert(px) / bin), Math.floor(y.invert(py))];
      return px >= box.left && i >= 0 && i < columns && r >= 0 && r < rows.length ? {i, r} : undefined;
    },
    tell: ({i, r}) => [rowName(r), `${showTime(i * bin)} to ${showTime((i + 1) * bin)}`,
      ...states.map((state, s) => `${state} ${showShare(shareOf(rows[r][s], i) || 0, 1)}`)],
    step: (at, dx, dy) => (at === null ? {i: 0, r: 0} : {i: Math.max(0, Math.min(columns - 1, at.i + dx)),
      r: Math.max(0, Math.min(rows.length - 1, at.r + dy))}),
  });
  const all = report.simulated_ps * ranks;
  const shares = states.map((state, s) => `${state} for ${showShare(stateTime[s], all)}`).join(", ");
  return section("timeline", title, `${plural(rows.length, "row")} of ${together === 1 ? "a rank each"
    : `${together} ranks each, in the mean`}, ${plural(columns, "stretch", "stretches")} of ${showTime(bin)}: ` +
    `in all, ranks are ${shares} of the run.`,
  legend([...states.map((state, s) => ({name: state, colour: colours[s]})), {name: "not there", colour: "--rest"}]),
  picture,
  element("p", {class: "hint"}, "All of it, event by event: ", element("code", {}, "--trace run.pftrace"),
    ", to be opened in ui.perfetto.dev."),
  tableBehind("Rows as a table", "Shares of time by row", [{title: "ranks", text: true},
    ...states.map(state => ({title: state}))], () => rows.map((row, r) => [rowName(r), ...row.map(text => {
    let share = 0;
    for (let i = 0; i < text.length; ++i) share += shareOf(text, i);
    return showShare(share / columns, 1);
  })]), 512));
}
