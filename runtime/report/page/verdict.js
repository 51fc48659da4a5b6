// SPDX-License-Identifier: LGPL-2.1-or-later
// What bounds the run, and what that rests on.

const PATH_KINDS = {
  computing_ps: ["computing", "--computing"], software_ps: ["CPU time for MPI and NIC", "--communicating"],
  nic_ps: ["latency of NICs and PCI", "--rest"], latency_ps: ["latency of links", "--network"],
  bandwidth_ps: ["bandwidth", "--edges"], contention_ps: ["contention", "--late"],
  other_ps: ["sleeps and timers", "--waiting"],
};

const SAYS = {
  outside: () => "The program itself bounds this run",
  computing: () => "Computation bounds this run",
  communicating: () => "CPU time for NICs and events bounds this run",
  waiting: () => "Ranks mostly wait in this run",
  late: report => `Ranks that are late bound this run: others wait for ${lateMost(report)}`,
  network: () => "The network bounds this run",
  library: () => "CPU time of the MPI library bounds this run",
  rest: () => "Most of this run passes before ranks begin",
};

function lateMost(report) {
  const late = (report.mpi_calls || {}).late_ps || {};
  const keys = Object.keys(LATE_NAMES).filter(key => key !== "other" && late[key] > 0);
  keys.sort((a, b) => late[b] - late[a]);
  return keys.length ? LATE_NAMES[keys[0]] : "others";
}

const PATH_SAYS = {
  computing_ps: "Computation bounds this run", software_ps: "CPU time for messages bounds this run",
  nic_ps: "Latency of NICs bounds this run", latency_ps: "Latency of links bounds this run",
  bandwidth_ps: "Bandwidth bounds this run", contention_ps: "Contention in the network bounds this run",
  other_ps: "Sleeps and timers bound this run, those of the MPI library's start and end among them",
};

// {headline, why}: one sentence, and the figures behind it.
function verdictOf(report) {
  const {all, parts} = sharesOf(report);
  if (!(all > 0)) return {headline: "No time passed in this run.", why: []};
  // Start and end of MPI are the same however long a program runs: what bounds the rest is told.
  const inner = parts.filter(part => part.key !== "edges" && part.key !== "ended");
  const most = inner.reduce((a, b) => (b.ps > a.ps ? b : a));
  const why = [];
  const edges = parts.find(part => part.key === "edges");
  if (edges && edges.ps > 0.25 * all)
    why.push(`MPI_Init and MPI_Finalize take ${showShare(edges.ps, all)}: a longer run tells more.`);
  const hot = busiestLink(report);
  const hotText = hot && `${hot.link.name} carries ${showShare(hot.load, 1)} of what it could` +
    (hot.peak === null ? "" : `, ${showShare(hot.peak, 1)} at its peak`);
  const imbalance = ranksOf(report) > 1 ? imbalanceOf(report) : null;
  let headline = SAYS[most.key](report);
  const path = report.critical_path;
  if (path && path.kinds && path.length_ps > 0) {
    const kinds = Object.keys(PATH_SAYS).filter(key => path.kinds[key] > 0);
    kinds.sort((a, b) => path.kinds[b] - path.kinds[a]);
    if (kinds.length) {
      headline = PATH_SAYS[kinds[0]];
      why.push(`Of the path that determines the end, ${kinds.map(key =>
        `${showShare(path.kinds[key], path.length_ps)} is ${PATH_KINDS[key][0]}`).join(", ")}.`);
      const late = parts.find(part => part.key === "late");
      if (kinds[0] === "computing_ps" && late && late.ps > 0.2 * all)
        headline = "Imbalance bounds this run: some ranks compute while others wait";
    }
  }
  if (/^(The program itself|Computation)/.test(headline) && imbalance && imbalance.ratio > 1.25)
    headline = `Computation of rank ${imbalance.rank} bounds this run: it takes ${imbalance.ratio.toFixed(2)} times ` +
      "the mean";
  const contended = hot && (hot.load >= 0.5 || (hot.peak >= 0.8 && /network|Contention|Bandwidth/.test(headline)));
  if (contended) headline = `Contention at link ${hot.link.name} bounds this run`;
  const others = parts.filter(part => part !== most && part.ps >= 0.01 * all);
  why.push(`${showShare(most.ps, all)} of the ranks' time is ${most.name}; ` +
    `${others.map(part => `${showShare(part.ps, all)} ${part.name}`).join(", ") || "nothing else matters"}.`);
  if (most.key === "waiting" && !report.mpi_calls) why.push("For whom and for what: --mpi-calls tells.");
  if (imbalance && imbalance.mean > 0)
    why.push(`Rank ${imbalance.rank} computes most: ${showTime(imbalance.most)}, ${imbalance.ratio.toFixed(2)} times ` +
      `the mean of ${showTime(imbalance.mean)}.`);
  if (hotText) why.push(`The busiest link: ${hotText}.`);
  const free = path && path.if_free && path.if_free.length &&
    path.if_free.reduce((a, b) => (b.simulated_ps < a.simulated_ps ? b : a));
  if (free) why.push(`Were ${free.what} free, the run would take ${showTime(free.simulated_ps)} ` +
    `(${showChange(report.simulated_ps, free.simulated_ps)}).`);
  if (edges && edges.ps > 0.5 * all && !contended)
    headline = `Between start and end of MPI: ${headline[0].toLowerCase()}${headline.slice(1)}`;
  return {headline: headline + ".", why};
}

// What the figures rest on, as sentences.
function basisOf(report) {
  const basis = [];
  const ranks = report.ranks || {};
  const computing = sum(ranks.compute_ps);
  const learned = sum(ranks.learned_ps);
  const cpu = report.cpu || "?";
  if (cpu === "measured" || cpu.startsWith("measured")) {
    const share = computing > 0 ? Math.min(1, learned / computing) : 0;
    basis.push(`Computation: measured on this machine (--cpu ${cpu})` + (learned > 0
      ? `; ${showShare(share, 1)} of it known by instructions, which vary by ` +
        `${showShare(sum(ranks.doubt_ps), learned)}.`
      : "."));
  } else if (cpu === "none") {
    basis.push("Computation: takes no time (--cpu none), so what is shown is communication alone.");
  } else {
    basis.push(`Computation: --cpu ${cpu}.`);
  }
  basis.push(`Network: modelled (${report.model}, platform ${report.platform}).`);
  for (const one of report.collectives || [])
    basis.push(`${one.name}: modelled (${one.model}), ${plural(one.calls, "call")}, not the library's algorithm.`);
  for (const one of (report.kernels || []).filter(kernel => kernel.action !== "watch" && kernel.calls > 0))
    basis.push(`${one.name}: ${one.action}, ${showCount(one.sampled)} of ${plural(one.calls, "call")} measured, ` +
      `${showCount(one.skipped)} not run.`);
  if (report.results_are_those_of_the_program === false)
    basis.push("Results are not those of the program: some calls were not run, or memory was forgotten.");
  if (report.factors)
    basis.push(`What if: ${report.factors.map(one => `${one.of} x ${one.factor}` +
      (one.links ? ` of '${one.links}'` : "")).join(", ")}.`);
  if (report.faults)
    basis.push(`Links failed: ${plural(report.faults.rerouted, "message")} rerouted, ` +
      `${showCount(report.faults.delayed)} delayed, ${showCount(report.faults.resent)} sent again, ` +
      `${showCount(report.faults.failed)} failed.`);
  const spread = report.repetitions;
  if (spread && spread.simulated_ps && spread.repetitions > 1)
    basis.push(`Spread: ${plural(spread.repetitions, "run")}, median ${showTime(spread.simulated_ps.median)}, ` +
      `between ${showTime(spread.simulated_ps.low)} and ${showTime(spread.simulated_ps.high)} ` +
      `(${showShare(spread.confidence, 1)} confidence); figures below are those of run ${spread.shown + 1}.`);
  else if (cpu === "none" || cpu.startsWith("fixed"))
    basis.push("Spread: none, two runs are the same to the bit.");
  else
    basis.push("Spread: not known from one run; --repeat 5 tells.");
  return basis;
}

function disturbedBy(report) {
  const host = report.host;
  if (!host || !host.wall_seconds) return "";
  const wanted = (host.cpu_seconds || 0) + (host.waited_seconds || 0);
  const share = Math.max(wanted > 0 ? host.waited_seconds / wanted : 0, host.stolen_share || 0);
  return report.cpu === "measured" && share >= 0.05
    ? `This machine was busy: others had the processor for ${showShare(share, 1)} of the time that the run ` +
      "wanted it. What was measured may be too long." : "";
}

// A piece of a stack, with its share where there is room.
function pieceOf(part, all) {
  const ink = /--(rest|waiting)/.test(part.colour) ? "pale"
    : /--(library|communicating)/.test(part.colour) ? "amber" : undefined;
  return element("span", {class: ink, style: `width: ${100 * part.ps / all}%; background: var(${part.colour})`,
    title: `${part.name}: ${showShare(part.ps, all)}`}, part.ps > 0.06 * all ? showShare(part.ps, all) : "");
}

function stackOf(shares) {
  const {all, parts} = shares;
  const shown = parts.filter(part => part.ps > 0);
  return element("div", {}, element("div", {class: "stack", "data-chart": "shares", "data-marks": shown.length,
    role: "img", "aria-label": shown.map(part => `${part.name}: ${showShare(part.ps, all)}`).join(", ")},
  shown.map(part => pieceOf(part, all))),
  legend(shown.map(part => ({...part, name: `${part.name} ${showShare(part.ps, all)}`}))));
}

function card(name, value, small) {
  return element("div", {}, element("dt", {}, name), element("dd", {"data-card": name}, value,
    small ? element("small", {}, small) : ""));
}

// What stands out (findings.h), as umwelt explain says it.
function whatToTry(report) {
  const most = 5;
  const found = (report.findings || []).slice(0, most);
  return found.length ? [heading("What stands out, and what to try"), element("ol", {class: "findings"},
    found.map(one => element("li", {}, element("p", {}, one.what),
      one.details.length ? element("ul", {class: "plain"}, one.details.map(line => element("li", {}, line))) : "",
      one.next ? element("p", {class: "next"}, one.next) : "")))] : "";
}

function drawVerdict(report) {
  const ranks = ranksOf(report);
  const {headline, why} = verdictOf(report);
  const totals = report.totals || {};
  const host = report.host || {};
  const well = report.ending === "completed";
  const trouble = well ? null : alarmOf(report);
  const disturbed = disturbedBy(report);
  const cards = element("dl", {class: "cards"},
    card("Simulated time", showTime(report.simulated_ps), `${showCount(report.simulated_ps)} ps`),
    card("Slowdown", host.slowdown ? digits(host.slowdown) : "–",
      host.wall_seconds ? `wall clock ${showSeconds(host.wall_seconds)}` : "not in a reproducible report"),
    card("Ranks", showCount(ranks), `on ${plural(report.nodes, "node")} of ${report.platform}`),
    card("Messages", showCount(totals.messages), showBytes(totals.bytes)),
    totals.segments ? card("TCP and UDP", showCount(totals.segments), showBytes(totals.segment_bytes)) : "",
    card("Events", showCount(report.timeline_events), "of the simulation"));
  const sentence = well
    ? `${plural(ranks, "rank")} ran for ${showTime(report.simulated_ps)} of simulated time.`
    : `The run came to ${showTime(report.simulated_ps)} of simulated time and did not complete: ${report.ending}.`;
  return section("verdict", "Verdict", sentence, trouble, well ? element("p", {class: "headline"}, headline) : "",
    why.length && well ? element("ul", {class: "plain"}, why.map(line => element("li", {}, line))) : "",
    well ? whatToTry(report) : "",
    cards, sharesOf(report).all > 0 ? [heading("Where the ranks' time went"), stackOf(sharesOf(report))] : "",
    tableBehind("The same as a table", "Time of all ranks", [{title: "part", text: true},
      {title: "time", show: showTime}, {title: "share"}], () => sharesOf(report).parts.map(part =>
      [part.name, part.ps, showShare(part.ps, sharesOf(report).all)])),
    heading("What this rests on"),
    disturbed ? element("div", {class: "warn"}, element("p", {}, disturbed)) : "",
    element("ul", {class: "plain"}, basisOf(report).map(line => element("li", {}, line))));
}
