// SPDX-License-Identifier: LGPL-2.1-or-later
// Time of each rank, as a stack per rank; where ranks are thinner than a dot, the mean of those that share it.

// Views: [name, parts]; a part has a name, a colour and the time of each rank.
function viewsOf(report) {
  const ranks = report.ranks;
  const count = ranksOf(report);
  const rest = parts => {
    const left = new Array(count);
    for (let i = 0; i < count; ++i) {
      let used = 0;
      for (const part of parts) used += part.of[i];
      left[i] = Math.max(0, ranks.finished_ps[i] - used);
    }
    return left;
  };
  const basic = [
    {name: "computing", colour: "--computing", of: ranks.compute_ps},
    {name: "CPU time for NIC and events", colour: "--communicating", of: ranks.communication_ps},
    {name: "waiting", colour: "--waiting", of: ranks.waiting_ps}];
  basic.push({name: "other: start, waits that had not ended", colour: "--edges", of: rest(basic)});
  const views = [["basic", "Computing and waiting", basic]];
  const calls = hasCalls(report) && report.mpi_calls.ranks;
  if (calls) {
    // MPI_Init and MPI_Finalize are counted over all ranks: each has the mean of them.
    const edges = edgesOf(report);
    const inner = (values, ofEdges) => values.map(value => Math.max(0, value - ofEdges / count));
    const late = inner(calls.late_ps, edges.late);
    const network = inner(calls.waited_ps.map((value, i) => value - calls.late_ps[i]), edges.waited - edges.late);
    const library = inner(calls.time_ps.map((value, i) => value - calls.waited_ps[i]), edges.time - edges.waited);
    const start = calls.time_ps.map((value, i) => Math.max(0, value - late[i] - network[i] - library[i]));
    const mpi = [{name: "in MPI: CPU time", colour: "--library", of: library},
      {name: "in MPI: waiting for NICs and network", colour: "--network", of: network},
      {name: "in MPI: waiting for ranks that are late", colour: "--late", of: late},
      {name: "start and end of MPI (mean of ranks)", colour: "--edges", of: start}];
    views.unshift(["mpi", "MPI", [{name: "outside MPI", colour: "--outside", of: rest(mpi)}, ...mpi]]);
  }
  if (calls && calls.classes_ps && calls.classes_ps.some(Boolean)) {
    const names = [...new Set(calls.classes_ps.flatMap(one => Object.keys(one || {})))];
    const colours = ["--library", "--network", "--late", "--edges", "--waiting", "--communicating"];
    const classes = names.map((name, i) => ({name: `MPI: ${name}`, colour: colours[i],
      of: calls.classes_ps.map(one => (one || {})[name] || 0)}));
    views.splice(1, 0, ["classes", "MPI by class", [{name: "outside MPI", colour: "--outside", of: rest(classes)},
      ...classes]]);
  }
  return views;
}

function rankName(report, rank) {
  const ranks = report.ranks;
  return ranks.job && ranks.job[rank] !== 1 ? `rank ${rank} (job ${ranks.job[rank]} rank ${ranks.rank_of_job[rank]})`
    : `rank ${rank}`;
}

function rankOrder(report, parts, by) {
  const order = d3.range(ranksOf(report));
  if (by === "rank") return order;
  const part = by === "end" ? report.ranks.finished_ps : (parts.find(one => one.name === by) || parts[0]).of;
  return order.sort((a, b) => part[b] - part[a]);
}

const RANK_BOX = {left: 74, right: 24, top: 10, bottom: 44};

function rankScales(report, width, height, state) {
  const x = state.transform.rescaleX(d3.scaleLinear([0, ranksOf(report)], [RANK_BOX.left, width - RANK_BOX.right]));
  const y = d3.scaleLinear([0, d3.max(report.ranks.finished_ps) || 1], [height - RANK_BOX.bottom, RANK_BOX.top]);
  return {x, y};
}

function drawRankBars(context, width, height, state, report, parts, order) {
  const {x, y} = rankScales(report, width, height, state);
  const bottom = height - RANK_BOX.bottom;
  axisLeft(context, timeTicks(y, 5), RANK_BOX.left, RANK_BOX.top, bottom, width - RANK_BOX.right, "simulated time");
  context.save();
  context.beginPath();
  context.rect(RANK_BOX.left, 0, width - RANK_BOX.left - RANK_BOX.right, height);
  context.clip();
  const colours = parts.map(part => colour(part.colour));
  const each = x(1) - x(0);
  const step = Math.max(1, Math.ceil(1 / each)); // ranks of a bar
  const first = Math.max(0, Math.floor(x.invert(RANK_BOX.left) / step) * step);
  let marks = 0;
  for (let i = first; i < order.length && x(i) < width; i += step) {
    const members = order.slice(i, i + step);
    let top = bottom;
    const gap = each > 5 ? 1 : 0;
    parts.forEach((part, p) => {
      let value = 0;
      for (const rank of members) value += part.of[rank];
      const high = bottom - y(value / members.length);
      context.fillStyle = colours[p];
      if (high > 0) {
        context.fillRect(x(i), top - high, Math.max(each * members.length - gap, 0.75), high);
        ++marks;
      }
      top -= high;
    });
  }
  if (state.picked !== null) {
    context.strokeStyle = colour("--text");
    context.lineWidth = 1.5;
    context.strokeRect(x(state.picked), RANK_BOX.top, Math.max(each, 2), bottom - RANK_BOX.top);
  }
  context.restore();
  const sorted = order.some((rank, i) => rank !== i);
  const ticks = sorted ? [] : rankTicks(x, Math.min(12, width / 60)).filter(([at]) => at >= RANK_BOX.left);
  axisBelow(context, ticks, bottom, RANK_BOX.left, width - RANK_BOX.right, sorted ? "ranks, most first" : "rank");
  return marks;
}

function drawRanks(report) {
  const ranks = report.ranks;
  const count = ranksOf(report);
  if (!count || !ranks.compute_ps || !ranks.finished_ps)
    return missing("ranks", "Time of each rank", "This report has no figures of ranks.", "--report FILE");
  const views = viewsOf(report);
  let [, , parts] = views[0];
  let by = "rank";
  let order = rankOrder(report, parts, by);
  const name = rank => `${rankName(report, rank)} on ${ranks.host[rank]}`;
  const picture = chart({
    name: "ranks", height: 300, zoom: Math.max(1, count / 8),
    label: `Bars of ${count} ranks: time by kind. Arrow keys choose a rank, + and - zoom.`,
    draw: (context, width, height, state) => drawRankBars(context, width, height, state, report, parts, order),
    pick: (x, y, width, height, state) => {
      const at = Math.floor(rankScales(report, width, height, state).x.invert(x));
      return x >= RANK_BOX.left && at >= 0 && at < count ? at : undefined;
    },
    tell: at => [name(order[at]), ...parts.map(part => `${part.name} ${showTime(part.of[order[at]])}`),
      `ends at ${showTime(ranks.finished_ps[order[at]])}`],
    step: (at, dx) => Math.max(0, Math.min(count - 1, at === null ? 0 : at + dx)),
  });
  const keys = element("div");
  const orders = element("div");
  const again = () => {
    order = rankOrder(report, parts, by);
    keys.replaceChildren(legend(parts));
    picture.redraw();
  };
  const ordered = () => parts.filter(part => part.colour === "--late" || part.colour === "--waiting")
    .map(part => [part.name, `by ${part.name.replace("in MPI: ", "")}`]);
  const newOrders = () => {
    by = "rank";
    orders.replaceChildren(choice("Order", [["rank", "by rank"], [parts[0].name, `by ${parts[0].name}`],
      ...ordered(), ["end", "by end"]], value => {
      by = value;
      again();
    }));
  };
  newOrders();
  again();
  const controls = element("div", {class: "controls"}, views.length > 1 ? choice("Show",
    views.map(([key, title]) => [key, title]), value => {
      [, , parts] = views.find(([key]) => key === value);
      newOrders();
      again();
    }) : "", orders);
  const most = indexOfMost(ranks.compute_ps);
  const least = indexOfMost(ranks.compute_ps.map(value => -value));
  const last = indexOfMost(ranks.finished_ps);
  const sentence = count === 1 ? `The only rank computes for ${showTime(ranks.compute_ps[0])} of ` +
    `${showTime(ranks.finished_ps[0])}.`
    : `Ranks compute${hasCalls(report) ? ", in MPI and outside," : ""} between ${showTime(ranks.compute_ps[least])} ` +
    `(rank ${least}) and ${showTime(ranks.compute_ps[most])} (rank ${most}), and wait for ` +
    `${showTime(sum(ranks.waiting_ps) / count)} in the mean; rank ${last} ends last, at ` +
    `${showTime(ranks.finished_ps[last])}.` + (hasCalls(report) ? ""
      : ` ${report.mpi_calls ? "No rank ended itself, so calls of MPI are not known." : ""}`);
  const part = section("ranks", "Time of each rank", sentence, controls, keys, picture,
    tableBehind("All ranks as a table", "Time of each rank", [{title: "rank"}, {title: "node", text: true},
      {title: "computing", show: showTime}, {title: "NIC and events", show: showTime},
      {title: "waiting", show: showTime}, {title: "in MPI", show: showTime}, {title: "ends", show: showTime},
      {title: "messages sent", show: showCount}, {title: "bytes sent", show: showBytes}],
    () => d3.range(count).map(i => [i, ranks.host[i], ranks.compute_ps[i], ranks.communication_ps[i],
      ranks.waiting_ps[i], hasCalls(report) ? report.mpi_calls.ranks.time_ps[i] : null, ranks.finished_ps[i],
      ranks.messages_sent[i], ranks.bytes_sent[i]]), 1024));
  if (!report.mpi_calls)
    part.append(element("p", {class: "hint"}, "Time in MPI, and whom ranks wait for: run with ",
      element("code", {}, "--mpi-calls"), "."));
  return part;
}
