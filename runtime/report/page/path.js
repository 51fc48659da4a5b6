// SPDX-License-Identifier: LGPL-2.1-or-later
// The critical path: the chain of work and waiting that determines when the run ends.

const SEGMENT_COLOURS = {work: "--computing", message: "--network"};

function segmentColour(kind) {
  const known = Object.keys(SEGMENT_COLOURS).find(name => String(kind).startsWith(name));
  return known ? SEGMENT_COLOURS[known] : "--waiting";
}

function drawIfFree(report) {
  const all = report.critical_path.if_free || [];
  if (!all.length) return "";
  const sorted = [...all].sort((a, b) => a.simulated_ps - b.simulated_ps);
  return [heading("How much shorter the run would be"), table("If something were free", [{title: "if free were",
    text: true}, {title: "the run would take", show: showTime}, {title: "change"}, {title: "", text: true}],
  sorted.map(one => [one.what, one.simulated_ps, showChange(report.simulated_ps, one.simulated_ps),
    bar(one.simulated_ps / report.simulated_ps)]))];
}

// Ranks x time: where the path runs.
function drawSegments(report) {
  const segments = report.critical_path.segments || [];
  if (!segments.length) return "";
  const order = [...new Set(segments.map(one => one.rank))].sort((a, b) => a - b);
  const row = new Map(order.map((rank, i) => [rank, i]));
  const box = {left: 62, right: 24, top: 8, bottom: 44};
  const height = box.top + box.bottom + Math.max(60, Math.min(360, order.length * 16));
  const scales = (width, state) => ({
    x: state.transform.rescaleX(d3.scaleLinear([0, report.simulated_ps], [box.left, width - box.right])),
    y: d3.scaleLinear([0, order.length], [box.top, height - box.bottom])});
  return chart({
    name: "path", height, zoom: 200, label: "The critical path over time and ranks. Arrow keys choose a segment.",
    draw: (context, width, tall, state) => {
      const {x, y} = scales(width, state);
      const each = y(1) - y(0);
      context.save();
      context.beginPath();
      context.rect(box.left, 0, width - box.left - box.right, tall);
      context.clip();
      context.strokeStyle = colour("--line");
      context.beginPath();
      segments.forEach((one, i) => {
        const next = segments[i + 1];
        if (!next || next.rank === one.rank) return;
        context.moveTo(x(one.end_ps), y(row.get(one.rank) + 0.5));
        context.lineTo(x(next.begin_ps), y(row.get(next.rank) + 0.5));
      });
      context.stroke();
      const inks = new Map();
      segments.forEach((one, i) => {
        if (!inks.has(one.kind)) inks.set(one.kind, colour(segmentColour(one.kind)));
        context.fillStyle = inks.get(one.kind);
        const thick = Math.max(2, Math.min(each - 2, 14));
        context.fillRect(x(one.begin_ps), y(row.get(one.rank) + 0.5) - thick / 2,
          Math.max(1, x(one.end_ps) - x(one.begin_ps)), thick);
        if (state.picked === i) {
          context.strokeStyle = colour("--text");
          context.strokeRect(x(one.begin_ps), y(row.get(one.rank) + 0.5) - thick / 2 - 2,
            Math.max(2, x(one.end_ps) - x(one.begin_ps)), thick + 4);
        }
      });
      context.restore();
      const some = d3.range(order.length).filter(i => i % Math.ceil(order.length / 20) === 0);
      axisLeft(context, some.map(i => [y(i + 0.5), String(order[i])]), box.left, box.top, tall - box.bottom, box.left,
        "rank");
      axisBelow(context, timeTicks(x, 8).filter(([at]) => at >= box.left - 1), tall - box.bottom, box.left,
        width - box.right, "simulated time");
      return segments.length;
    },
    pick: (px, py, width, tall, state) => {
      const {x, y} = scales(width, state);
      const time = x.invert(px);
      const slack = x.invert(px + 2) - time;
      const at = segments.findIndex(one => one.begin_ps - slack <= time && time <= one.end_ps + slack &&
        Math.abs(y(row.get(one.rank) + 0.5) - py) < 12);
      return at >= 0 ? at : undefined;
    },
    tell: i => [`rank ${segments[i].rank}: ${segments[i].kind}`, segments[i].what || "",
      `${showTime(segments[i].begin_ps)} to ${showTime(segments[i].end_ps)} ` +
      `(${showTime(segments[i].end_ps - segments[i].begin_ps)})`],
    step: (at, dx) => Math.max(0, Math.min(segments.length - 1, at === null ? 0 : at + dx)),
  });
}

function drawPath(report) {
  const title = "Critical path";
  const path = report.critical_path;
  if (!path || !path.kinds)
    return missing("path", title, "What determines the end of the run is not in this report.", OPTIONS.path);
  const kinds = Object.keys(PATH_KINDS).filter(key => path.kinds[key] > 0);
  const parts = kinds.map(key => ({name: PATH_KINDS[key][0], colour: PATH_KINDS[key][1], ps: path.kinds[key]}));
  const ranks = [...(path.ranks || [])].sort((a, b) => b.ps - a.ps);
  const top = parts.length ? parts.reduce((a, b) => (b.ps > a.ps ? b : a)) : null;
  const segments = path.segments || [];
  const sentence = `The chain that determines the end is ${showTime(path.length_ps)} long` +
    (top ? `: ${showShare(top.ps, path.length_ps)} of it is ${top.name}` : "") +
    (ranks.length ? `; it runs on ${plural(ranks.length, "rank")}, longest on rank ${ranks[0].rank} ` +
      `(${showTime(ranks[0].ps)}).` : ".");
  return section("path", title, sentence, stackOf({all: path.length_ps, parts}), drawSegments(report),
    path.segments_in_all ? element("p", {class: "hint"}, `The ${showCount(segments.length)} longest of ` +
      `${showCount(path.segments_in_all)} segments.`) : "",
    path.segments_left_out ? element("p", {class: "hint"},
      `${plural(path.segments_left_out, "shorter segment")} left out.`) : "",
    path.known_since_ps ? element("p", {class: "hint"}, `Before ${showTime(path.known_since_ps)} it is not known: it ` +
      "has too many parts.") : "",
    drawIfFree(report),
    ranks.length ? tableBehind("Ranks of the path", "Time of the path by rank", [{title: "rank"},
      {title: "time", show: showTime}, {title: "share"}], ranks.map(one => [one.rank, one.ps,
      showShare(one.ps, path.length_ps)])) : "",
    segments.length ? tableBehind("Segments as a table", "Segments", [{title: "rank"}, {title: "kind", text: true},
      {title: "what", text: true}, {title: "begins", show: showTime}, {title: "takes", show: showTime}],
    segments.map(one => [one.rank, one.kind, one.what, one.begin_ps, one.end_ps - one.begin_ps])) : "");
}
