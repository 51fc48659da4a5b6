// SPDX-License-Identifier: LGPL-2.1-or-later
// A run that did not complete: why, before everything else.

// "rank 0 waits for 1, which waits for 0"
function cycleText(cycle, waits) {
  const call = rank => (waits.find(one => one.rank === rank) || {}).call;
  return cycle.map((rank, i) => `rank ${rank} waits for rank ${cycle[(i + 1) % cycle.length]}` +
    (call(rank) ? ` (${call(rank).split(/[ ,]/)[0]})` : "")).join(", ");
}

// Ranks that wait for each other, as a ring.
function drawCycle(cycle, waits) {
  const most = 12;
  const shown = cycle.slice(0, most);
  const width = 640;
  const height = shown.length === 2 ? 130 : 300;
  const svg = d3.create("svg").attr("viewBox", `0 0 ${width} ${height}`).attr("role", "img")
    .attr("aria-label", `Ranks that wait for each other: ${cycleText(cycle, waits)}`)
    .attr("data-chart", "cycle").attr("data-marks", shown.length);
  svg.append("defs").append("marker").attr("id", "arrow").attr("viewBox", "0 0 10 10").attr("refX", 9).attr("refY", 5)
    .attr("markerWidth", 8).attr("markerHeight", 8).attr("orient", "auto").append("path").attr("d", "M0,0L10,5L0,10z")
    .style("fill", "var(--alarm)");
  const places = shown.map((rank, i) => {
    const angle = 2 * Math.PI * i / shown.length + Math.PI;
    return [width / 2 + (shown.length === 2 ? 190 : 210) * Math.cos(angle),
      height / 2 + (height / 2 - 40) * Math.sin(angle)];
  });
  places.forEach(([x, y], i) => {
    const [toX, toY] = places[(i + 1) % places.length];
    const length = Math.hypot(toX - x, toY - y) || 1;
    const [ux, uy] = [(toX - x) / length, (toY - y) / length];
    const bend = shown.length === 2 ? 30 : 12;
    svg.append("path").attr("d", `M${x + 46 * ux - 12 * uy},${y + 26 * uy + 12 * ux}Q${(x + toX) / 2 - bend * uy},` +
      `${(y + toY) / 2 + bend * ux} ${toX - 46 * ux - 12 * uy},${toY - 26 * uy + 12 * ux}`)
      .attr("marker-end", "url(#arrow)").style("fill", "none").style("stroke", "var(--alarm)")
      .style("stroke-width", 2.5);
    const wait = waits.find(one => one.rank === shown[i]);
    if (wait && shown.length === 2)
      svg.append("text").attr("x", (x + toX) / 2 - bend * 1.1 * uy).attr("y", (y + toY) / 2 + bend * 1.35 * ux + 4)
        .attr("text-anchor", "middle").text(wait.call.split(",")[0]);
  });
  places.forEach(([x, y], i) => {
    svg.append("rect").attr("x", x - 42).attr("y", y - 18).attr("width", 84).attr("height", 36).attr("rx", 8)
      .style("fill", "var(--card)").style("stroke", "var(--alarm)").style("stroke-width", 2);
    svg.append("text").attr("x", x).attr("y", y + 5).attr("text-anchor", "middle").style("fill", "var(--text)")
      .style("font-weight", 600).text(`rank ${shown[i]}`);
  });
  return element("figure", {class: "chart"}, svg.node(), cycle.length > most
    ? element("figcaption", {}, `The first ${most} of ${cycle.length} ranks of the cycle.`) : "");
}

function waitsTable(waits) {
  return table("Who waits for whom", [{title: "rank"}, {title: "node", text: true}, {title: "waits in", text: true},
    {title: "at", text: true}, {title: "since", show: showTime}, {title: "for ranks", text: true}],
  waits.map(one => [one.rank, one.host, one.call, one.place || "–", one.since_ps, (one.for || []).join(", ")]), 100);
}

function alarmOf(report) {
  const deadlock = report.deadlock || {};
  const waits = deadlock.waits || [];
  const cycle = deadlock.cycle || [];
  if (report.ending !== "deadlock")
    return element("div", {class: "alarm", role: "alert"}, element("p", {class: "headline"},
      `This run did not complete: ${report.ending}`), failedRanks(report));
  const at = `Deadlock at ${showTime(report.simulated_ps)}`;
  return element("div", {class: "alarm", role: "alert"},
    element("p", {class: "headline"}, cycle.length ? `${at}: ${cycleText(cycle.slice(0, 4), waits)}` +
      (cycle.length > 4 ? ", ..." : "") : `${at}: no rank can go on`),
    element("p", {}, "Nothing is under way that could let any rank go on."),
    cycle.length ? drawCycle(cycle, waits) : "",
    waits.length ? waitsTable(waits) : element("p", {}, report.mpi_calls
      ? stuckText(report)
      : ["Which call each rank waits in: run again with ", element("code", {}, "--mpi-calls"), "."]),
    deadlock.next_step ? element("p", {}, `Next step: ${deadlock.next_step}`) : "", triesOf(report));
}

// The first finding is the deadlock itself.
function triesOf(report) {
  const [first] = report.findings || [];
  return first && first.next ? element("p", {}, `Try: ${first.next}`) : "";
}

function stuckText(report) {
  const ranks = report.ranks || {};
  const left = (ranks.exit_status || []).length;
  return `${plural(left, "rank")} never ended. The message of the run on standard error names the call that each ` +
    "waits in, and where.";
}

function failedRanks(report) {
  const ranks = report.ranks || {};
  const bad = [];
  for (let i = 0; i < ranksOf(report); ++i)
    if (ranks.signal[i] || ranks.exit_status[i])
      bad.push([i, ranks.host[i], ranks.exit_status[i], ranks.signal[i]]);
  return bad.length ? table("Ranks that ended badly", [{title: "rank"}, {title: "node", text: true},
    {title: "exit status"}, {title: "signal"}], bad, 50) : "";
}
