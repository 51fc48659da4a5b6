// SPDX-License-Identifier: LGPL-2.1-or-later
// Several runs side by side: what changed against the first, and where.

const SETTINGS = [["Programs", report => (report.programs || []).join(" : ")], ["Umwelt", report => report.umwelt],
  ["Platform", report => (report.run || {}).platform || report.platform], ["Nodes", report => report.nodes],
  ["Ranks", ranksOf], ["Model", report => report.model], ["--cpu", report => report.cpu],
  ["Seed", report => report.seed], ["Command", commandOf], ["What if", report => JSON.stringify(report.factors || "")],
  ["Faults", report => JSON.stringify(((report.faults || {}).links) || "")], ["Ended", report => report.ending]];

// Figures of a run: [name, value, show, whether less is better]
function figuresOf(report) {
  const ranks = report.ranks || {};
  const count = Math.max(1, ranksOf(report));
  const calls = report.mpi_calls || {};
  const totals = report.totals || {};
  const figures = [["simulated time", report.simulated_ps, showTime, true],
    ["computing, mean of ranks", sum(ranks.compute_ps) / count, showTime, true],
    ["computing, most of a rank", d3.max(ranks.compute_ps || [0]), showTime, true],
    ["NIC and events, mean", sum(ranks.communication_ps) / count, showTime, true],
    ["waiting, mean", sum(ranks.waiting_ps) / count, showTime, true]];
  if (hasCalls(report))
    figures.push(["in MPI, mean", sum(calls.ranks.time_ps) / count, showTime, true],
      ["waiting in MPI, mean", sum(calls.ranks.waited_ps) / count, showTime, true],
      ["for ranks that are late, mean", sum(calls.ranks.late_ps) / count, showTime, true],
      ["calls of MPI", sum(calls.functions.map(one => one.calls)), showCount]);
  figures.push(["messages", totals.messages, showCount], ["bytes", totals.bytes, showBytes]);
  if (totals.segments) figures.push(["segments (TCP, UDP)", totals.segments, showCount]);
  const energy = report.energy || {};
  if (energy.joules !== undefined) figures.push(["energy", energy.joules, showJoules, true],
    ["average power", energy.average_watts, showWatts, true], ["peak power", energy.peak_watts, showWatts, true]);
  if (energy.cost !== undefined) figures.push(["cost", energy.cost, digits, true]);
  const hot = busiestLink(report);
  if (hot) figures.push([`load of the busiest link`, hot.load * 1e6, value => showShare(value, 1e6), true]);
  if (report.critical_path) figures.push(["critical path: computing",
    (report.critical_path.kinds || {}).computing_ps, showTime, true]);
  if ((report.host || {}).wall_seconds) figures.push(["wall clock", report.host.wall_seconds, showSeconds]);
  return figures;
}

function changeCell(before, after, less) {
  const text = showChange(before, after);
  const kind = less && before !== after && Math.abs(after - before) > 0.005 * before
    ? (after < before ? "better" : "worse") : undefined;
  return element("span", {class: kind}, text);
}

// A row for each thing, for each run its value and (but for the first) the change.
function sideBySide(caption, first, runs, rows) {
  const columns = [{title: first, text: true}];
  runs.forEach((run, i) => {
    columns.push({title: run.name});
    if (i) columns.push({title: "change"});
  });
  return table(caption, columns, rows.map(({name, values, show, less}) => [name, ...values.flatMap((value, i) => {
    const shown = value === undefined ? "–" : show(value);
    return i ? [shown, value === undefined || values[0] === undefined ? "–" : changeCell(values[0], value, less)]
      : [shown];
  })]), 400);
}

function figureRows(runs) {
  const all = runs.map(run => figuresOf(run.report));
  const names = [...new Set(all.flatMap(figures => figures.map(([name]) => name)))];
  return names.map(name => {
    const found = all.map(figures => figures.find(figure => figure[0] === name));
    const one = found.find(Boolean);
    return {name, values: found.map(figure => figure && figure[1]), show: one[2], less: one[3]};
  });
}

// Time per rank by `key` of the parts of reports, those that changed most first.
function changesOf(runs, partsOf) {
  const all = runs.map(run => new Map(partsOf(run.report)));
  const names = [...new Set(all.flatMap(parts => [...parts.keys()]))];
  const rows = names.map(name => ({name, show: showTime, less: true, values: all.map(parts => parts.get(name) || 0)}));
  const size = row => Math.max(...row.values.map(value => Math.abs(value - row.values[0])));
  return rows.sort((a, b) => size(b) - size(a));
}

function partsPerRank(report) {
  const count = Math.max(1, ranksOf(report));
  return sharesOf(report).parts.map(part => [part.name, part.ps / count]);
}

function functionsPerRank(report) {
  const count = Math.max(1, ranksOf(report));
  return ((report.mpi_calls || {}).functions || []).map(one => [one.name, one.time_ps / count]);
}

function placesPerRank(report) {
  const count = Math.max(1, ranksOf(report));
  return ((report.mpi_calls || {}).sites || []).map(one => [`${one.place}: ${one.name}`, one.time_ps / count]);
}

// "+3 ms waiting for ranks that are late"
function signed(ps) {
  return `${ps < 0 ? "−" : "+"}${showTime(Math.abs(ps))}`;
}

function changeSentence(runs) {
  const [first, ...others] = runs;
  return others.map(run => {
    const [before, after] = [first.report.simulated_ps, run.report.simulated_ps];
    if (before === after) return `${run.name} takes as long as ${first.name}.`;
    const pair = [first, run];
    const [part] = changesOf(pair, partsPerRank);
    const comparable = hasCalls(first.report) === hasCalls(run.report);
    const where = comparable && part && part.values[1] !== part.values[0]
      ? `; of what changed for a rank, most is ${part.name} (${signed(part.values[1] - part.values[0])})` : "";
    const [call] = changesOf(pair, functionsPerRank);
    const which = comparable && call && call.values[1] !== call.values[0]
      ? `, of calls ${call.name} (${signed(call.values[1] - call.values[0])})` : "";
    return `${run.name} takes ${showTime(after)}, ${showChange(before, after)} against ${first.name}${where}${which}.`;
  }).join(" ");
}

function drawRunStacks(runs) {
  const all = runs.map(run => ({run, shares: sharesOf(run.report)}));
  const longest = Math.max(1, ...runs.map(run => run.report.simulated_ps));
  const names = new Map();
  for (const {shares} of all)
    for (const part of shares.parts) if (part.ps > 0) names.set(part.name, part);
  return [legend([...names.values()]), ...all.map(({run, shares}) => element("div", {class: "run"},
    element("h3", {}, `${run.name}: ${showTime(run.report.simulated_ps)}`),
    element("div", {class: "stack", "data-chart": "run-shares",
      "data-marks": shares.parts.filter(part => part.ps > 0).length, role: "img",
      style: `width: ${(100 * run.report.simulated_ps / longest).toFixed(3)}%`,
      "aria-label": shares.parts.map(part => `${part.name}: ${showShare(part.ps, shares.all)}`).join(", ")},
    shares.parts.filter(part => part.ps > 0).map(part => pieceOf(part, shares.all)))))];
}

// Difference of each rank of run `other` to the same rank of the first.
function drawRankChanges(first, other) {
  const count = ranksOf(first.report);
  const of = (run, key) => run.report.ranks[key] || [];
  const keys = [["compute_ps", "computing", "--computing"], ["waiting_ps", "waiting", "--waiting"]];
  const values = keys.map(([key]) => d3.range(count).map(i => of(other, key)[i] - of(first, key)[i]));
  const most = Math.max(1, ...values.flatMap(list => [d3.max(list, Math.abs)]));
  const box = {left: 74, right: 24, top: 10, bottom: 44};
  const scaleX = (width, state) => state.transform.rescaleX(d3.scaleLinear([0, count], [box.left, width - box.right]));
  const picture = chart({
    name: "rank-changes", height: 230, zoom: Math.max(1, count / 8),
    label: `Change of each rank, ${other.name} against ${first.name}. Arrow keys choose a rank.`,
    draw: (context, width, height, state) => {
      const x = scaleX(width, state);
      const y = d3.scaleLinear([-most, most], [height - box.bottom, box.top]);
      axisLeft(context, y.ticks(5).map(value => [y(value), value ? signed(value) : "0"]), box.left, box.top,
        height - box.bottom, width - box.right);
      const each = x(1) - x(0);
      const step = Math.max(1, Math.ceil(1 / each));
      let marks = 0;
      context.save();
      context.beginPath();
      context.rect(box.left, 0, width - box.left - box.right, height);
      context.clip();
      keys.forEach(([, , name], k) => {
        context.fillStyle = colour(name);
        for (let i = 0; i < count; i += step) {
          const members = values[k].slice(i, i + step);
          const mean = sum(members) / members.length;
          const wide = Math.max(1, each * members.length * 0.42);
          context.fillRect(x(i) + k * wide + each * 0.08, Math.min(y(0), y(mean)), wide, Math.abs(y(mean) - y(0)));
          ++marks;
        }
      });
      context.restore();
      axisBelow(context, rankTicks(x, Math.min(12, width / 60)), height - box.bottom, box.left, width - box.right,
        "rank");
      return marks;
    },
    pick: (px, py, width, height, state) => {
      const at = Math.floor(scaleX(width, state).invert(px));
      return px >= box.left && at >= 0 && at < count ? at : undefined;
    },
    tell: at => [`rank ${at}`, ...keys.map(([, name], k) => `${name} ${signed(values[k][at])}`)],
    step: (at, dx) => Math.max(0, Math.min(count - 1, at === null ? 0 : at + dx)),
  });
  return [heading(`Ranks: ${other.name} against ${first.name}`), legend(keys.map(([, name, hue]) => ({name,
    colour: hue}))), picture];
}

function drawSettings(runs) {
  const rows = SETTINGS.map(([name, value]) => [name, ...runs.map(run => String(value(run.report) ?? ""))]);
  const differ = rows.filter(([, ...values]) => values.some(value => value !== values[0]));
  return section("settings", "What was different", differ.length
    ? `${plural(differ.length, "thing")} ${differ.length === 1 ? "differs" : "differ"}: ` +
      `${differ.map(([name]) => name.toLowerCase()).join(", ")}.`
    : "Nothing that the reports tell differs: what changed is the program's own, or chance.",
  differ.length ? table("What differs", [{title: "", text: true}, ...runs.map(run => ({title: run.name, text: true}))],
    differ) : "");
}

function drawComparison(runs) {
  sectionNumber = 0;
  section("changes", "What changed", changeSentence(runs), drawRunStacks(runs),
    heading("Figures"), sideBySide("Figures of the runs", "figure", runs, figureRows(runs)));
  drawSettings(runs);
  const parts = changesOf(runs, partsPerRank).filter(row => row.values.some(value => value > 0));
  const [most] = parts;
  const calls = changesOf(runs, functionsPerRank);
  const places = changesOf(runs, placesPerRank);
  const same = runs.slice(1).filter(run => ranksOf(run.report) === ranksOf(runs[0].report) && ranksOf(run.report) > 1);
  section("where", "Where it changed", most ? `For a rank in the mean, "${most.name}" changed most: ` +
    `${most.values.map(showTime).join(", ")}.` : "No part of the ranks' time changed.",
  sideBySide("Time of a rank, mean", "part", runs, parts),
  same.flatMap(run => drawRankChanges(runs[0], run)),
  calls.length ? [heading("Functions of MPI"), sideBySide("Time in a function, mean of ranks", "function", runs,
    calls.slice(0, 15))] : element("p", {class: "missing"}, "Functions of MPI: run with ",
    element("code", {}, "--mpi-calls"), "."),
  places.length ? [heading("Places that call"), sideBySide("Time in calls from a place, mean of ranks", "place", runs,
    places.slice(0, 15))] : "");
  const redrawsBefore = redraws.length;
  const numberBefore = sectionNumber;
  const select = element("select", {id: "run", onchange: () => show(Number(select.value))},
    runs.map((run, i) => element("option", {value: i}, run.name)));
  section("each", "Each run", "", element("label", {}, "Below is all of ", select));
  const before = document.querySelectorAll("main section").length;
  const show = index => {
    [...document.querySelectorAll("main section")].slice(before).forEach(part => part.remove());
    redraws.length = redrawsBefore;
    sectionNumber = numberBefore + 1;
    drawRun(runs[index].report);
  };
  show(0);
}
