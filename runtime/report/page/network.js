// SPDX-License-Identifier: LGPL-2.1-or-later
// Links: how busy they are, over time, and which; NICs.

// Lines of shares of capacity over time. lines: {name, values (0 to 1), colour}
function drawLoadLines(report, lines) {
  const width = 900;
  const height = 250;
  const box = {left: 56, right: 24, top: 10, bottom: 42};
  const bins = d3.max(lines, one => one.values.length) || 1;
  const end = bins * report.links.bin_ps;
  const x = d3.scaleLinear([0, end], [box.left, width - box.right]);
  const most = Math.min(1.05, Math.max(0.01, d3.max(lines, one => d3.max(one.values)) || 0) * 1.1);
  const y = d3.scaleLinear([0, most], [height - box.bottom, box.top]);
  const svg = d3.create("svg").attr("viewBox", `0 0 ${width} ${height}`).attr("role", "img")
    .attr("aria-label", "Load of links over time").attr("data-chart", "load").attr("data-marks", lines.length);
  svg.append("g").attr("transform", `translate(${box.left},0)`).call(d3.axisLeft(y).ticks(5, "~%"))
    .call(g => g.selectAll(".tick line").clone().attr("x2", width - box.left - box.right)
      .style("stroke", "var(--grid)"));
  const below = svg.append("g").attr("transform", `translate(0,${height - box.bottom})`);
  below.append("line").attr("x1", box.left).attr("x2", width - box.right).style("stroke", "var(--line)");
  for (const [at, text] of timeTicks(x, 8))
    below.append("text").attr("x", at).attr("y", 16).attr("text-anchor", "middle").text(text);
  below.append("text").attr("x", width / 2).attr("y", 36).attr("text-anchor", "middle").text("simulated time");
  svg.append("text").attr("transform", `translate(11,${(height - box.bottom) / 2}) rotate(-90)`)
    .attr("text-anchor", "middle").text("of capacity");
  const path = d3.line().x((value, i) => x((i + 0.5) * report.links.bin_ps)).y(value => y(Math.min(value, most)))
    .curve(d3.curveStepAfter);
  for (const one of [...lines].reverse())
    svg.append("path").attr("d", path(one.values)).style("fill", "none").style("stroke", `var(${one.colour})`)
      .style("stroke-width", one === lines[0] ? 2.2 : 1.5).style("stroke-dasharray", one.dash || null);
  return element("figure", {class: "chart"}, svg.node());
}

function loadLines(report) {
  const {links, classes, bin_ps: bin} = report.links;
  const shares = (bytes, bandwidth) => (bytes || []).map(value => value / (bandwidth * bin / 1e12));
  const lines = [];
  if (links[0] && links[0].bytes_per_bin)
    lines.push({name: `busiest link: ${links[0].name}`, colour: "--late",
      values: shares(links[0].bytes_per_bin, links[0].bandwidth_Bps)});
  const colours = ["--computing", "--network", "--edges", "--communicating"];
  classes.slice(0, 4).forEach((one, i) => one.bandwidth_Bps > 0 && lines.push({
    name: `mean of ${showCount(one.links)} links that carried something${one.name ? `: ${one.name}` : ""}`,
    colour: colours[i], values: shares(one.bytes_per_bin, one.bandwidth_Bps), dash: i ? "6 3" : null}));
  return lines.filter(line => line.values.length);
}

// Colours of loads: 0 to 1.
function warmth() {
  return d3.scaleLinear([0, 0.5, 1], [colour("--cold"), colour("--communicating"), colour("--late")]).clamp(true);
}

function warmthKey() {
  return element("div", {class: "legend"}, "0 %", element("span", {class: "bar", style:
    "background: linear-gradient(to right, var(--cold), var(--communicating), var(--late))"}), "100 % of capacity");
}

// Rows of links, columns of time: when each of the busiest was busy.
function drawLoadMap(report) {
  const shown = report.links.links.filter(link => link.bytes_per_bin).slice(0, 20);
  const bins = d3.max(shown, link => link.bytes_per_bin.length) || 0;
  if (!bins) return "";
  const box = {left: 190, right: 24, top: 4, bottom: 26};
  const row = 17;
  const share = (link, i) => (link.bytes_per_bin[i] || 0) / (link.bandwidth_Bps * report.links.bin_ps / 1e12);
  const scaleX = width => d3.scaleLinear([0, bins * report.links.bin_ps], [box.left, width - box.right]);
  return chart({
    name: "links", height: shown.length * row + box.top + box.bottom,
    label: "Heat map: load of the busiest links over time. Arrow keys choose a link and a time.",
    draw: (context, width, height, state) => {
      const x = scaleX(width);
      const each = (width - box.left - box.right) / bins;
      let marks = 0;
      const ink = warmth();
      context.fillStyle = colour("--cold");
      context.fillRect(box.left, box.top, width - box.left - box.right, shown.length * row);
      shown.forEach((link, r) => {
        for (let i = 0; i < bins; ++i) {
          const load = Math.min(1, share(link, i));
          if (load <= 0) continue;
          context.fillStyle = ink(load);
          context.fillRect(box.left + i * each, box.top + r * row, each + 0.5, row - 2);
          ++marks;
        }
        context.fillStyle = colour("--quiet");
        context.textAlign = "right";
        const name = link.name.length > 27 ? `${link.name.slice(0, 26)}…` : link.name;
        context.fillText(name, box.left - 8, box.top + r * row + row / 2);
      });
      if (state.picked) {
        context.strokeStyle = colour("--text");
        context.strokeRect(box.left + state.picked.i * each, box.top + state.picked.r * row, Math.max(2, each),
          row - 2);
      }
      axisBelow(context, timeTicks(x, 8), box.top + shown.length * row, box.left, width - box.right);
      return marks;
    },
    pick: (px, py, width) => {
      const i = Math.floor((px - box.left) / (width - box.left - box.right) * bins);
      const r = Math.floor((py - box.top) / row);
      return r >= 0 && r < shown.length && i >= 0 && i < bins ? {i, r} : undefined;
    },
    tell: ({i, r}) => [shown[r].name,
      `${showTime(i * report.links.bin_ps)} to ${showTime((i + 1) * report.links.bin_ps)}`,
      `${showBytes(shown[r].bytes_per_bin[i] || 0)}, ${showShare(share(shown[r], i), 1)} of capacity`],
    step: (at, dx, dy) => (at === null ? {i: 0, r: 0} : {i: Math.max(0, Math.min(bins - 1, at.i + dx)),
      r: Math.max(0, Math.min(shown.length - 1, at.r + dy))}),
  });
}

function nodeName(report, index) {
  const node = (report.links.nodes || [])[index];
  return node ? node.name : String(index ?? "–");
}

function linkRows(report, links) {
  return links.map(link => [link.name, link.class, nodeName(report, link.from), nodeName(report, link.to),
    showShare(loadOf(report, link), 1), peakOf(report, link) === null ? "–" : showShare(peakOf(report, link), 1),
    link.bytes, link.messages, link.bandwidth_Bps]);
}

const LINK_COLUMNS = [{title: "link", text: true}, {title: "kind", text: true}, {title: "from", text: true},
  {title: "to", text: true}, {title: "load, mean"}, {title: "peak"}, {title: "bytes", show: showBytes},
  {title: "messages", show: showCount}, {title: "bandwidth", show: showRate}];

function nicTable(report) {
  const {nics} = report.links;
  if (!Array.isArray(nics) || !nics.length) return "";
  const keys = [...new Set(nics.flatMap(Object.keys))].filter(key => typeof nics[0][key] !== "object");
  const show = key => (key.endsWith("_ps") ? showTime : key.includes("bytes") ? showBytes
    : key.startsWith("queue") ? digits : showCount);
  const fullest = nics.reduce((a, b) => ((b.queue_fullest || 0) > (a.queue_fullest || 0) ? b : a));
  const most = report.links.nics_in_all > nics.length
    ? `The ${nics.length} of ${report.links.nics_in_all} that sent most. ` : "";
  return [heading("NICs"), element("p", {}, most + (fullest.queue_fullest === undefined
    ? `Model ${report.model} knows messages alone; bxi has queues, PCI and events, too.`
    : `The command queues of ${fullest.node} were fullest: ${digits(fullest.queue_fullest)} commands at the worst ` +
      `time, ${digits(fullest.queue_mean)} in the mean; over PCI it read ${showBytes(fullest.pci_read_bytes)}, wrote ` +
      `${showBytes(fullest.pci_written_bytes)} and ${plural(fullest.events, "event")}.`)),
  tableBehind("NICs as a table", "NICs", keys.map(key => ({title: key.replace(/_ps$/, "").replace(/_/g, " "),
    text: typeof nics[0][key] === "string", show: show(key)})), nics.map(nic => keys.map(key => nic[key] ?? "–")))];
}

function drawNetwork(report) {
  const title = "Network";
  if (!report.links || !Array.isArray(report.links.links))
    return missing("network", title, "How busy each link was is not in this report.", OPTIONS.links);
  const {links} = report.links;
  if (!links.length) return section("network", title, "No link carried anything.");
  const busiest = busiestLink(report);
  const same = links.filter(link => loadOf(report, link) >= 0.5).length;
  const inAll = report.links.links_in_all || links.length;
  const sentence = `${plural(inAll, "link")} carried something; the busiest, ${busiest.link.name}, ` +
    `${showBytes(busiest.link.bytes)}: ${showShare(busiest.load, 1)} of what it could in the whole run` +
    (busiest.peak === null ? "" : `, ${showShare(busiest.peak, 1)} in its busiest ${showTime(report.links.bin_ps)}`) +
    `; ${same ? `${plural(same, "link")} ${same === 1 ? "is" : "are"} busy for half of it or more.`
      : "none is busy for half of it."}`;
  const lines = loadLines(report);
  return section("network", title, sentence,
    lines.length ? [heading("Load over time"), legend(lines), drawLoadLines(report, lines)] : "",
    heading("The twenty busiest links, over time"), warmthKey(), drawLoadMap(report),
    tableBehind("Links as a table", "Links, busiest first", LINK_COLUMNS, () => linkRows(report, links)),
    drawTopology(report), nicTable(report));
}
