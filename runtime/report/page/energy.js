// SPDX-License-Identifier: LGPL-2.1-or-later
// What the simulated machine drew, for what, and what that costs: of runs whose machine's power is known (--power).

const JOULE_UNITS = [["nJ", 1e-9], ["µJ", 1e-6], ["mJ", 1e-3], ["J", 1], ["kJ", 1e3], ["MJ", 1e6], ["GJ", 1e9]];
const WATT_UNITS = JOULE_UNITS.map(([name, factor]) => [name.replace("J", "W"), factor]);

function showAmount(value, units) {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return `0 ${units[3][0]}`;
  const [number, unit] = scaled(value, units);
  return `${digits(number)} ${unit}`;
}

const showJoules = joules => showAmount(joules, JOULE_UNITS);
const showWatts = watts => showAmount(watts, WATT_UNITS);

function partsOfEnergy(energy) {
  const parts = Object.entries(energy.activities || {}).map(([name, joules]) => ({name, joules}));
  for (const name of ["links", "switches", "nics"])
    if (energy[`${name}_joules`] > 0)
      parts.push({name: name === "nics" ? "NICs" : name, joules: energy[`${name}_joules`]});
  return parts.filter(part => part.joules > 0);
}

function moneyOf(energy) {
  return energy.cost === undefined ? ""
    : ` It would cost ${digits(energy.cost)} ${energy.currency} (${digits(energy.node_hours)} node hours).`;
}

function drawEnergy(report) {
  const {energy} = report;
  if (!energy) return null; // nobody knows what the machine draws
  const title = energy.joules === undefined ? "Cost" : "Energy and cost";
  if (energy.joules === undefined) return section("energy", title, moneyOf(energy).trim());
  const parts = partsOfEnergy(energy);
  const most = parts.length ? parts.reduce((a, b) => (b.joules > a.joules ? b : a)) : {name: "nothing", joules: 0};
  const nodes = energy.nodes || {};
  const ranks = energy.ranks || {};
  const perRank = Object.keys(ranks);
  const links = energy.links || [];
  const phases = Object.entries(energy.phases || {});
  const asTable = (list, column) => [[{title: column, text: true}, {title: "energy", show: showJoules},
    {title: "share"}], list.map(([name, joules]) => [name, joules, showShare(joules, energy.joules)])];
  return section("energy", title,
    `The ${energy.nodes ? "machine" : "network"} would draw ${showJoules(energy.joules)}, ` +
    `${showShare(most.joules, energy.joules)} of it ` +
    `${most.name}; on average ${showWatts(energy.average_watts)}, at most ` +
    `${showWatts(energy.peak_watts)} (at ${showTime(energy.peak_ps)}).${moneyOf(energy)}`,
    element("div", {class: "narrow"}, drawBars("energy", "Energy by what it was drawn for", parts.map(part => ({
      name: part.name, value: part.joules, lines: [part.name, showJoules(part.joules),
        showShare(part.joules, energy.joules)]})), "", "joules")),
    tableBehind("Energy as a table", "Energy by what it was drawn for",
      ...asTable(parts.map(part => [part.name, part.joules]), "for")),
    phases.length > 1 ? tableBehind("By phase", "Energy by the level of MPI_Pcontrol",
      ...asTable(phases, "level")) : "",
    nodes.joules ? tableBehind("By node", "Energy of nodes", [{title: "node", text: true}, {title: "energy",
      show: showJoules}, {title: "at most", show: showWatts}, {title: "DVFS state", text: true}],
    () => nodes.name.map((name, i) => [name, nodes.joules[i], nodes.peak_watts[i], nodes.state[i]])) : "",
    ranks.joules ? tableBehind("By rank", "Energy of ranks", [{title: "rank", text: true},
      ...perRank.map(key => ({title: key === "joules" ? "all" : key, show: showJoules}))],
    () => ranks.joules.map((joules, i) => [`rank ${i}`, ...perRank.map(key => ranks[key][i])])) : "",
    links.length ? tableBehind("By link", "Energy of links that carried something", [{title: "link", text: true},
      {title: "energy", show: showJoules}], links.map(link => [link.name, link.joules])) : "");
}
