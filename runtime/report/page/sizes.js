// SPDX-License-Identifier: LGPL-2.1-or-later
// Sizes of messages, and calls of MPI by function and by place.

// Upright bars; bars: {name, value, lines}.
function drawBars(name, label, bars, titleX, titleY) {
  const width = 560;
  const height = 230;
  const box = {left: 58, right: 8, top: 10, bottom: bars.length > 8 ? 78 : 46};
  const x = d3.scaleBand(bars.map(one => one.name), [box.left, width - box.right]).padding(0.15);
  const y = d3.scaleLinear([0, d3.max(bars, one => one.value) || 1], [height - box.bottom, box.top]).nice();
  const svg = d3.create("svg").attr("viewBox", `0 0 ${width} ${height}`).attr("role", "img").attr("aria-label", label)
    .attr("data-chart", name).attr("data-marks", bars.length);
  svg.append("g").attr("transform", `translate(${box.left},0)`).call(d3.axisLeft(y).ticks(5, "~s"))
    .call(g => g.selectAll(".tick line").clone().attr("x2", width - box.left - box.right)
      .style("stroke", "var(--grid)"));
  const below = svg.append("g").attr("transform", `translate(0,${height - box.bottom})`)
    .call(d3.axisBottom(x).tickSizeOuter(0));
  if (bars.length > 8) below.selectAll("text").attr("transform", "rotate(-38)").attr("text-anchor", "end")
    .attr("dx", "-.5em").attr("dy", ".3em");
  svg.selectAll("rect").data(bars).join("rect").attr("x", one => x(one.name)).attr("width", x.bandwidth())
    .attr("y", one => Math.min(y(one.value), y(0) - (one.value > 0 ? 1 : 0)))
    .attr("height", one => Math.max(y(0) - y(one.value), one.value > 0 ? 1 : 0)).style("fill", "var(--computing)")
    .attr("data-value", one => one.value)
    .on("mousemove", one => showTip(one.lines, d3.event.clientX, d3.event.clientY)).on("mouseleave", hideTip);
  svg.append("text").attr("x", (box.left + width) / 2).attr("y", height - 4).attr("text-anchor", "middle").text(titleX);
  svg.append("text").attr("transform", `translate(12,${(height - box.bottom) / 2}) rotate(-90)`)
    .attr("text-anchor", "middle").text(titleY);
  return element("figure", {class: "chart"}, svg.node());
}

function drawSizes(report) {
  const sizes = (report.totals || {}).sizes || [];
  if (!sizes.length)
    return section("sizes", "Sizes of messages", (report.totals || {}).segments
      ? "No Portals messages were sent; what was sent went through sockets." : "No messages were sent.");
  const messages = sum(sizes.map(one => one.messages));
  const top = sizes.reduce((a, b) => (b.messages > a.messages ? b : a));
  const bytes = (report.totals || {}).bytes;
  return section("sizes", "Sizes of messages",
    `Of ${plural(messages, "message")} on the network, ${showShare(top.messages, messages)} have ` +
    `${sizeRange(top.from_bytes, top.to_bytes)}; the mean has ${showBytes(bytes / messages)}.`,
    element("div", {class: "narrow"}, drawBars("sizes", "Number of messages by size", sizes.map(one => ({
      name: shortBytes(one.from_bytes), value: one.messages, lines: [sizeRange(one.from_bytes, one.to_bytes),
        plural(one.messages, "message"), showShare(one.messages, messages)]})), "size, from", "messages")),
    tableBehind("Sizes as a table", "Messages by size", [{title: "size", text: true}, {title: "messages",
      show: showCount}, {title: "share"}],
    sizes.map(one => [sizeRange(one.from_bytes, one.to_bytes), one.messages, showShare(one.messages, messages)])));
}

function drawFunctions(functions, all) {
  const most = 14;
  const shown = functions.slice(0, most);
  const top = d3.max(shown, one => one.time_ps) || 1;
  const line = 24;
  const box = {left: 150, right: 150};
  const width = 900;
  const x = d3.scaleLinear([0, top], [0, width - box.left - box.right]);
  const svg = d3.create("svg").attr("viewBox", `0 0 ${width} ${line * shown.length + 6}`).attr("role", "img")
    .attr("aria-label", "Time by function of MPI: the table has the figures").attr("data-chart", "functions")
    .attr("data-marks", shown.length);
  const rows = svg.selectAll("g").data(shown).join("g").attr("transform", (one, i) => `translate(0,${i * line + 3})`)
    .on("mousemove", one => showTip([one.name, `${plural(one.calls, "call")}, ${showTime(one.time_ps)} in all ranks`,
      `CPU time ${showTime(one.time_ps - one.waited_ps)}`,
      `waiting, nobody late ${showTime(one.waited_ps - one.late_ps)}`,
      `waiting for ranks that are late ${showTime(one.late_ps)}`], d3.event.clientX, d3.event.clientY))
    .on("mouseleave", hideTip);
  rows.append("text").attr("x", box.left - 8).attr("y", 16).attr("text-anchor", "end").text(one => one.name);
  const piece = (from, size, name) => rows.append("rect").attr("x", one => box.left + x(from(one))).attr("y", 2)
    .attr("height", line - 6).attr("width", one => x(Math.max(0, size(one)))).style("fill", `var(${name})`);
  piece(() => 0, one => one.time_ps - one.waited_ps, "--library");
  piece(one => one.time_ps - one.waited_ps, one => one.waited_ps - one.late_ps, "--network");
  piece(one => one.time_ps - one.late_ps, one => one.late_ps, "--late");
  rows.append("text").attr("x", one => box.left + x(one.time_ps) + 6).attr("y", 16)
    .text(one => `${showTime(one.time_ps)}, ${showShare(one.time_ps, all)}`);
  return element("figure", {class: "chart"}, svg.node());
}

function countColumns(first) {
  return [...first, {title: "calls", show: showCount}, {title: "time", show: showTime}, {title: "blocked",
    show: showTime}, {title: "for late ranks", show: showTime}, {title: "bytes", show: showBytes}];
}

function counts(one) {
  return [one.calls, one.time_ps, one.waited_ps, one.late_ps, one.bytes];
}

function drawCalls(report) {
  const title = "Calls of MPI";
  if (!report.mpi_calls) return missing("calls", title, "Calls of MPI were not followed.", OPTIONS.calls);
  const functions = report.mpi_calls.functions || [];
  if (!functions.length)
    return section("calls", title, report.ending === "completed" ? "The program called no function of MPI."
      : "Calls are counted of ranks that have ended themselves: none has.");
  const all = report.simulated_ps * ranksOf(report);
  const sites = report.mpi_calls.sites || [];
  const bySize = functions.flatMap(one => (one.sizes || []).map(size => [one.name,
    sizeRange(size.from_bytes, size.to_bytes), size.calls, size.bytes]));
  const calls = sum(functions.map(one => one.calls));
  const [first] = functions;
  const [site] = sites;
  const communicators = report.mpi_calls.communicators || [];
  return section("calls", title, `${plural(calls, "call")} of ${plural(functions.length, "function")}; ` +
    `${first.name} takes most: ${showTime(first.time_ps)} in ${plural(first.calls, "call")}, ` +
    `${showShare(first.time_ps, all)} of the ranks' time` + (site
    ? `; of all places, ${site.place} takes most (${site.name}, ${showTime(site.time_ps)}).` : "."),
  legend([{name: "CPU time", colour: "--library"},
    {name: "waiting for NICs, network, start of others", colour: "--network"},
    {name: "waiting for ranks that are late", colour: "--late"}]), drawFunctions(functions, all),
  tableBehind("Functions as a table", "Functions of MPI, in all ranks", countColumns([{title: "function", text: true}]),
    functions.map(one => [one.name, ...counts(one)])),
  bySize.length ? tableBehind("Sizes by function", "What calls hand over", [{title: "function", text: true},
    {title: "size", text: true}, {title: "calls", show: showCount}, {title: "bytes", show: showBytes}], bySize) : "",
  sites.length ? [heading("Places that call"), table("Places with most time", countColumns([{title: "called from",
    text: true}, {title: "function", text: true}]), sites.slice(0, 12).map(one => [one.place, one.name,
    ...counts(one)])),
  sites.length > 12 ? tableBehind(`All ${showCount(report.mpi_calls.sites_in_all || sites.length)} places`,
    "Places that call", countColumns([{title: "called from", text: true}, {title: "function", text: true}]),
    sites.map(one => [one.place, one.name, ...counts(one)])) : ""] : "",
  communicators.length ? tableBehind("By communicator", "Collectives by communicator",
    countColumns([{title: "communicator", text: true}, {title: "function", text: true}]),
    communicators.map(one => [one.communicator, one.name, ...counts(one)])) : "");
}
