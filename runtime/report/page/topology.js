// SPDX-License-Identifier: LGPL-2.1-or-later
// A picture of the part of the network that carried something: nodes below, switches above by their distance from
// nodes (trees), or on a ring (where switches are all alike); lines are as thick and warm as links are busy.

const MOST_DRAWN = 1200; // lines; the busiest

function byName(a, b) {
  return a.name.localeCompare(b.name, "en", {numeric: true});
}

// Nodes with `level`: 0 for hosts, else how far they are from one.
function levelsOf(nodes, links) {
  const near = nodes.map(() => []);
  for (const link of links) {
    if (!nodes[link.from] || !nodes[link.to]) continue;
    near[link.from].push(link.to);
    near[link.to].push(link.from);
  }
  const level = nodes.map(node => (node.kind === "host" ? 0 : -1));
  let front = d3.range(nodes.length).filter(i => level[i] === 0);
  while (front.length) {
    const next = [];
    for (const i of front)
      for (const other of near[i])
        if (level[other] < 0) {
          level[other] = level[i] + 1;
          next.push(other);
        }
    front = next;
  }
  return {level, near};
}

// Places in a box of 900 x height, by index; null: not drawn.
function layoutOf(nodes, links) {
  const {level, near} = levelsOf(nodes, links);
  const top = d3.max(level) || 0;
  const width = 900;
  const places = nodes.map(() => null);
  if (top >= 2 || nodes.every((node, i) => level[i] <= 0 || near[i].every(other => level[other] === 0))) {
    const height = 120 + 110 * top;
    for (let l = top; l >= 0; --l) {
      const members = d3.range(nodes.length).filter(i => level[i] === l && near[i].length);
      // Under what they are connected to, so that few lines cross.
      const key = i => d3.mean(near[i].filter(other => places[other] && level[other] === l + 1),
        other => places[other].x);
      members.sort((a, b) => byName(nodes[a], nodes[b]));
      if (l < top) members.sort((a, b) => (level[a] === 0 ? (key(a) ?? 0) - (key(b) ?? 0) : 0));
      members.forEach((i, m) => {
        places[i] = {x: 24 + (width - 48) * (m + 0.5) / members.length, y: 30 + (height - 90) * (top - l) / (top || 1),
          angle: null};
      });
    }
    return {places, width, height};
  }
  const switches = d3.range(nodes.length).filter(i => level[i] === 1).sort((a, b) => byName(nodes[a], nodes[b]));
  const size = 620;
  switches.forEach((i, s) => {
    const angle = 2 * Math.PI * s / switches.length - Math.PI / 2;
    places[i] = {x: width / 2 + 210 * Math.cos(angle), y: size / 2 + 210 * Math.sin(angle), angle};
    const hosts = near[i].filter(other => level[other] === 0);
    const unique = [...new Set(hosts)].sort((a, b) => byName(nodes[a], nodes[b]));
    unique.forEach((host, h) => {
      const own = angle + (unique.length > 1 ? (h / (unique.length - 1) - 0.5) * 5.2 / switches.length : 0);
      places[host] = {x: width / 2 + 285 * Math.cos(own), y: size / 2 + 285 * Math.sin(own), angle: own};
    });
  });
  return {places, width, height: size};
}

function drawTopology(report) {
  const {nodes, links} = report.links;
  if (!Array.isArray(nodes) || !nodes.length) return "";
  const drawn = links.filter(link => nodes[link.from] && nodes[link.to] && link.from !== link.to).slice(0, MOST_DRAWN);
  if (!drawn.length) return "";
  const {places, width, height} = layoutOf(nodes, drawn);
  const loads = drawn.map(link => loadOf(report, link));
  const most = d3.max(loads) || 1;
  const svg = d3.create("svg").attr("viewBox", `0 0 ${width} ${height}`).attr("role", "img")
    .attr("aria-label", "The network, links coloured by load: the table of links has the figures")
    .attr("data-chart", "topology").attr("data-marks", drawn.length);
  const thick = Math.max(0.7, Math.min(4, 240 / drawn.length));
  const order = d3.range(drawn.length).sort((a, b) => loads[a] - loads[b]);
  svg.append("g").selectAll("path").data(order).join("path").attr("d", i => {
    const [a, b] = [places[drawn[i].from], places[drawn[i].to]];
    if (!a || !b) return "";
    // The two directions of a cable lie beside each other.
    const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    const [ox, oy] = [2 * (b.y - a.y) / length, -2 * (b.x - a.x) / length];
    return `M${(a.x + ox).toFixed(1)},${(a.y + oy).toFixed(1)}L${(b.x + ox).toFixed(1)},${(b.y + oy).toFixed(1)}`;
  }).style("fill", "none").style("stroke", i => `var(${loads[i] >= 0.5 ? "--late" : loads[i] >= 0.5 * most
    ? "--communicating" : loads[i] >= 0.1 * most ? "--computing" : "--waiting"})`)
    .style("stroke-width", i => (loads[i] >= 0.5 ? Math.max(3.5, thick)
      : 0.5 + thick * Math.sqrt(loads[i] / most)).toFixed(2))
    .style("stroke-opacity", i => (loads[i] >= 0.5 * most ? 1 : 0.6))
    .on("mousemove", i => showTip([drawn[i].name, `${nodes[drawn[i].from].name} to ${nodes[drawn[i].to].name}`,
      `${showShare(loads[i], 1)} of capacity, ${showBytes(drawn[i].bytes)}, ${plural(drawn[i].messages, "message")}`],
    d3.event.clientX, d3.event.clientY)).on("mouseleave", hideTip);
  const shown = d3.range(nodes.length).filter(i => places[i]);
  const few = shown.length <= 80;
  const marks = svg.append("g").selectAll("g").data(shown).join("g")
    .attr("transform", i => `translate(${places[i].x.toFixed(1)},${places[i].y.toFixed(1)})`)
    .on("mousemove", i => showTip([nodes[i].name, nodes[i].kind], d3.event.clientX, d3.event.clientY))
    .on("mouseleave", hideTip);
  const host = i => nodes[i].kind === "host";
  marks.filter(host).append("circle").attr("r", few ? 5 : 2).style("fill", "var(--card)")
    .style("stroke", "var(--text)");
  marks.filter(i => !host(i)).append("rect").attr("x", few ? -8 : -3).attr("y", few ? -5 : -3)
    .attr("width", few ? 16 : 6).attr("height", few ? 10 : 6).attr("rx", 2).style("fill", "var(--text)");
  // Names where there is room, turned where nodes are close.
  if (few)
    marks.append("text").style("font-size", "10px").text(i => nodes[i].name).attr("text-anchor", i =>
      (places[i].angle === null ? (host(i) ? "end" : "middle") : Math.cos(places[i].angle) < 0 ? "end" : "start"))
      .attr("transform", i => (places[i].angle === null
        ? (host(i) ? "translate(3,12) rotate(-50)" : "translate(0,-9)")
        : `translate(${9 * Math.cos(places[i].angle)},${9 * Math.sin(places[i].angle) + 4})`));
  const caption = drawn.length < (report.links.links_in_all || links.length)
    ? `The ${showCount(drawn.length)} busiest of ${showCount(report.links.links_in_all)} links.`
    : "All links that carried something.";
  return [heading("The network, by load"), legend([{name: "half of its capacity or more", colour: "--late"},
    {name: `at least half as busy as the busiest (${showShare(most, 1)})`, colour: "--communicating"},
    {name: "at least a tenth of it", colour: "--computing"}, {name: "less", colour: "--waiting"}]),
  element("figure", {class: "chart"}, svg.node(), element("figcaption", {class: "hint"}, caption))];
}
