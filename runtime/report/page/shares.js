// SPDX-License-Identifier: LGPL-2.1-or-later
// Where the ranks' time went: parts that add up to (number of ranks) x (simulated time).

const EDGES = /^P?MPI_(Init|Init_thread|Finalize|Session_init|Session_finalize)$/; // of MPI in a program

function ranksOf(report) {
  return report.rank_count || 0;
}

// Calls of MPI were followed, and ranks have ended themselves.
function hasCalls(report) {
  return Boolean(report.mpi_calls && (report.mpi_calls.functions || []).length);
}

function edgesOf(report) {
  const functions = (report.mpi_calls.functions || []).filter(one => EDGES.test(one.name));
  const of = key => sum(functions.map(one => one[key] || 0));
  return {time: of("time_ps"), waited: of("waited_ps"), late: of("late_ps")};
}

const LATE_NAMES = {
  sends: "receivers", receives: "senders", completion: "the other side, in MPI_Wait and the like",
  barriers: "the last one, in barriers", collectives: "the last one, in collectives", other: "others, in other calls",
};

// {all, parts: [{key, name, ps, colour, says}...]}, the largest part not first but in an order that stays.
function sharesOf(report) {
  const ranks = report.ranks || {};
  const all = report.simulated_ps * ranksOf(report);
  const lived = sum(ranks.finished_ps);
  const ended = {key: "ended", name: "ended earlier than the last", ps: Math.max(0, all - lived), colour: "--rest"};
  if (!hasCalls(report)) {
    const computing = sum(ranks.compute_ps);
    const communicating = sum(ranks.communication_ps);
    const waiting = sum(ranks.waiting_ps);
    return {all, parts: [
      {key: "computing", name: "computing", ps: computing, colour: "--computing"},
      {key: "communicating", name: "CPU time for NIC and events", ps: communicating, colour: "--communicating"},
      {key: "waiting", name: "waiting", ps: waiting, colour: "--waiting"},
      {key: "rest", name: "other: start, waits that had not ended",
        ps: Math.max(0, lived - computing - communicating - waiting), colour: "--edges"},
      ended]};
  }
  const calls = report.mpi_calls;
  const time = sum(calls.ranks.time_ps);
  const waited = sum(calls.ranks.waited_ps);
  const late = sum(calls.ranks.late_ps);
  const edges = edgesOf(report);
  return {all, parts: [
    {key: "outside", name: "outside MPI: the program itself", ps: Math.max(0, lived - time), colour: "--outside"},
    {key: "late", name: "waiting in MPI for ranks that are late", ps: Math.max(0, late - edges.late), colour: "--late"},
    {key: "network", name: "waiting in MPI for NICs and network",
      ps: Math.max(0, waited - late - edges.waited + edges.late), colour: "--network"},
    {key: "library", name: "CPU time of the MPI library",
      ps: Math.max(0, time - waited - edges.time + edges.waited), colour: "--library"},
    {key: "edges", name: "start and end of MPI", ps: edges.time, colour: "--edges"},
    ended]};
}

// Computation of ranks: how far the one with most is from the mean.
function imbalanceOf(report) {
  const values = (report.ranks || {}).compute_ps || [];
  if (!values.length) return null;
  const most = indexOfMost(values);
  const mean = sum(values) / values.length;
  return {rank: most, most: values[most], mean, ratio: mean > 0 ? values[most] / mean : 1};
}

// The busiest link of a run that has any: share of its capacity over the whole run, and in its busiest bin.
function busiestLink(report) {
  const links = (report.links || {}).links || [];
  let best = null;
  for (const link of links) {
    const load = loadOf(report, link);
    if (!best || load > best.load) best = {link, load, peak: peakOf(report, link)};
  }
  return best;
}

function loadOf(report, link) {
  const capacity = link.bandwidth_Bps * report.simulated_ps / 1e12;
  return capacity > 0 ? link.bytes / capacity : 0;
}

function peakOf(report, link) {
  const capacity = link.bandwidth_Bps * report.links.bin_ps / 1e12;
  return capacity > 0 && link.bytes_per_bin ? Math.max(0, ...link.bytes_per_bin) / capacity : null;
}
