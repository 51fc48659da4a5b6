// SPDX-License-Identifier: LGPL-2.1-or-later
// One table holds every option with its names, values, help and meaning; the parser, the help and the search for the
// nearest name read it (option_parser.cpp).
#include "runtime/cli/option_table.h"
#include "runtime/plan/worker_plan.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>
#include <string_view>

#include "runtime/base/usage_error.h"
#include "runtime/base/values.h"
#include "runtime/plan/collectives.h"
#include "runtime/plan/policies.h"
#include "runtime/plan/what_if.h"

namespace umwelt::cli
{
namespace
{

unsigned count_of(const Given& given, std::string_view what)
{
  return static_cast<unsigned>(read_count(given.option, given.value(), what, 1, most_ranks));
}

void export_variable(State& state, const Given& given)
{
  const std::string& text = given.value();
  if (text.find('=') != std::string::npos) {
    state.draft.app.exports.push_back(read_assignment(given.option, text));
    return;
  }
  if (text.empty())
    throw UsageError(given.option, "NAME or NAME=VALUE", "an empty word", "For example: -x OMP_NUM_THREADS=4");
  if (const auto value = state.environment(text))
    state.draft.app.exports.emplace_back(text, *value);
  else
    state.run.notes.push_back(
        fmt::format("{} {}: there is no such variable in the environment; nothing is exported", given.option, text));
}

void add_mca(std::vector<plan::Setting>& settings, const Given& given)
{
  const std::string& key = given.values[0];
  std::string value = given.values[1];
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') // mpirun takes such quotes off
    value = value.substr(1, value.size() - 2);
  if (key.empty())
    throw UsageError(given.option, "KEY VALUE", "an empty key", "For example: --mca pml cm");
  for (const plan::Setting& known : settings) {
    if (known.first == key)
      throw UsageError(fmt::format("{} {}", given.option, key), "each key once",
                       fmt::format("it twice ({} and {})", in_quotes(known.second), in_quotes(value)),
                       "Give the key once; several components are one value: --mca btl portals4,self");
  }
  settings.emplace_back(key, std::move(value));
}

void add_hosts(std::vector<plan::Host>& hosts, std::vector<plan::Host> more)
{
  for (plan::Host& host : more) {
    const auto known =
        std::find_if(hosts.begin(), hosts.end(), [&](const plan::Host& h) { return h.name == host.name; });
    if (known == hosts.end())
      hosts.push_back(std::move(host));
    else
      known->slots = known->slots == 0 || host.slots == 0 ? 0 : known->slots + host.slots;
  }
}

void apply_workers(State& state, const Given& given)
{
  if (given.value() == "auto")
    state.run.workers.workers.reset();
  else
    state.run.workers.workers = static_cast<unsigned>(
        read_count(given.option, given.value(), "auto, or a number of worker processes", 0, most_ranks));
}

void apply_loader(State& state, const Given& given)
{
  if (given.value() == "auto")
    state.run.loader = plan::Loader::automatic;
  else if (given.value() == "linker")
    state.run.loader = plan::Loader::linker;
  else if (given.value() == "dlmopen")
    state.run.loader = plan::Loader::dlmopen;
  else
    throw UsageError(std::string(given.option), "auto, linker or dlmopen", given.value(), "see `umwelt run --help`");
}

// The values of mpirun's option.
void apply_fault_tolerance(State& state, const Given& given)
{
  static constexpr std::array<std::string_view, 5> on{"ulfm", "mpi", "yes", "true", "1"};
  static constexpr std::array<std::string_view, 3> off{"no", "false", "0"};
  state.run.fault_tolerant = std::find(on.begin(), on.end(), given.value()) != on.end();
  if (!state.run.fault_tolerant && std::find(off.begin(), off.end(), given.value()) == off.end())
    throw UsageError(std::string(given.option), "ulfm (or mpi, yes, true, 1), or no (false, 0)",
                     in_quotes(given.value()), "For example: --with-ft ulfm");
}

void no_effect(State& state, const Given& given, std::string_view why)
{
  state.run.notes.push_back(fmt::format("{} has no effect: {}", given.option, why));
}

plan::WatchWishes& watching(State& state, const Given& given)
{
  if (!state.run.watch)
    throw UsageError(given.option, "umwelt kernels in front of it", "umwelt run, which writes no kernels file",
                     "For example: umwelt kernels -np 1 PROGRAM");
  return *state.run.watch;
}

void apply_least(State& state, const Given& given)
{
  constexpr double most = 100;
  const std::string& text = given.value();
  const double percent = read_factor(given.option, text.ends_with('%') ? text.substr(0, text.size() - 1) : text);
  if (percent > most)
    throw UsageError(given.option, "a percentage up to 100", in_quotes(text), "For example: --least 5");
  watching(state, given).least = percent / most;
}

void apply_functions(State& state, const Given& given)
{
  for (const std::string_view name : split(given.value(), ','))
    watching(state, given).functions.emplace_back(name);
}

using S = State&;
using G = const Given&;

// clang-format off
constexpr auto options = std::to_array<Option>({
  {Group::most_used, "np n c", "N", "number of ranks; default: the slots of the given hosts, without hosts 1 (or N of "
   "-N)",
   [](S s, G g) { s.draft.app.ranks = count_of(g, "a number of ranks"); }},
  {Group::most_used, "N npernode", "N", "ranks per node",
   [](S s, G g) { s.run.ranks_per_node = count_of(g, "a number of ranks"); }},
  {Group::most_used, "cpus-per-rank cpus-per-proc", "N", "cores a rank has for itself",
   [](S s, G g) { s.run.cores_per_rank = count_of(g, "a number of cores"); }},
  {Group::most_used, "x", "NAME[=VALUE]", "set a variable for the program's ranks, or hand on Umwelt's own",
   export_variable},
  {Group::most_used, "mca", "KEY VALUE", "Open MPI parameter of this program (of the first: of all)",
   [](S s, G g) { add_mca(s.draft.app.mca, g); }},
  {Group::most_used, "platform", "SPEC", "simulated machine: a name of `umwelt platforms` with parameters "
   "(bxi:leaf=24), or a "
   "SimGrid platform: an XML file, or a shared object (.so) with load_platform(); default bxi",
   [](S s, G g) { s.run.platform = g.value(); }},
  {Group::most_used, "cpu", "POLICY", "simulated time of computation: measured (default); none; fixed=NS (every "
   "burst, in ns or "
   "with a unit); scale=F (measured times F). All but measured and scale make runs bit-identical",
   [](S s, G g) { s.run.cpu = plan::parse_cpu(g.option, g.value()); }},
  {Group::most_used, "j jobs", "N", "ranks in different worker processes compute at the same time, so many at once, "
   "with the same outcome; 2 and more bring as many worker processes; default: the CPUs that umwelt may use, in the "
   "worker processes there are",
   [](S s, G g) {
     s.run.jobs = count_of(g, "a number of jobs");
     s.run.workers.parallel = s.run.jobs > 1;
   }},
  {Group::most_used, "report", "FILE", "write the summary as JSON", [](S s, G g) { s.run.report = g.value(); }},
  {Group::most_used, "trace", "FILE", "write when which message and PCI transfer went where: Perfetto's format "
   "(.pftrace, .perfetto-trace or .pb, for ui.perfetto.dev) or CSV (.csv); or calls of MPI and their messages: OTF2 "
   "(.otf2, for Vampir and Scalasca) or Paje's (.paje); or packets of TCP and UDP (.pcapng, for Wireshark)",
   [](S s, G g) { s.run.trace = g.value(); }},

  {Group::programs, "wdir wd", "DIR", "working directory of the program's ranks",
   [](S s, G g) { s.draft.app.directory = g.value(); }},
  {Group::programs, "portals-abi", "auto|4.3|4.2|bxi", "in which binary interface the program, or its MPI library, "
   "calls Portals: Umwelt's own and the reference's 4.3, the reference's 4.2, or that of BXI's library; default auto: "
   "as it tells of itself (`preload/portals/ABIS.md`)",
   [](S s, G g) { s.draft.app.portals_abi = plan::parse_portals_abi(g.option, g.value()); }},
  {Group::programs, "gmca", "KEY VALUE", "Open MPI parameter of all programs",
   [](S s, G g) { add_mca(s.run.global_mca, g); }},
  {Group::programs, "with-ft", "ulfm|no", "fault tolerance of Open MPI 5 (ULFM): a rank that dies of a signal, or ends "
   "without MPI_Finalize, does not end the job; the others are told, and MPI gives them MPIX_ERR_PROC_FAILED; default "
   "no",
   apply_fault_tolerance},
  {Group::programs, "timeout", "SECONDS", "end the job after so much wall-clock time (exit code 124); default: "
   "MPIEXEC_TIMEOUT, else never",
   [](S s, G g) { s.run.timeout = count_of(g, "a number of seconds"); }},
  {Group::programs, "universe", "N", "room for so many ranks at a time, with those that the program starts "
   "(MPI_Comm_spawn), on as many nodes as so many ranks have; "
   "MPI_UNIVERSE_SIZE; default: with hosts their slots; else the nodes' cores are the limit",
   [](S s, G g) { s.run.universe = count_of(g, "a number of ranks"); }},

  {Group::hosts, "H host", "LIST", "nodes to use with slots (a:2,b,c:*); one slot unless given, * for all cores",
   [](S s, G g) { add_hosts(s.draft.host_list, plan::parse_host_list(g.option, g.value())); }},
  {Group::hosts, "hostfile machinefile default-hostfile", "FILE", "the same from a file: one 'NAME slots=N "
   "max_slots=N' per line",
   [](S s, G g) { add_hosts(s.draft.hostfile, plan::read_hostfile(g.option, g.value())); }},
  {Group::hosts, "oversubscribe", "", "slots are no limit (max_slots and the cores of a node are)",
   [](S s, G) { s.run.oversubscribe = true; }},
  {Group::hosts, "nooversubscribe", "", "slots are a limit (the default)",
   [](S s, G) { s.run.oversubscribe = false; }},

  {Group::placement, "map-by", "POLICY", "slot or core: fill a node before the next; node: round robin; ppr:N:node: N "
   "per node; "
   "then :PE=N for N cores per rank, :OVERSUBSCRIBE. A simulated node has one socket: socket, numa, board and caches "
   "mean slot",
   [](S s, G g) { plan::apply_map_by(g.option, g.value(), s.run); }},
  {Group::placement, "rank-by", "POLICY", "slot: number ranks node after node; node: round robin; default: as mapped",
   [](S s, G g) { s.run.rank_by = plan::parse_rank_by(g.option, g.value()); }},
  {Group::placement, "placement", "in_order|round_robin|random[:SEED]|@FILE", "which nodes come first: as they are, a "
   "rank to each in turn, in an order drawn by SEED (default: --seed), or a node for each rank, one per line",
   [](S s, G g) { s.run.node_order = plan::parse_node_order(g.option, g.value()); }},
  {Group::placement, "pernode", "", "one rank per node", [](S s, G) { s.run.ranks_per_node = 1; }},
  {Group::placement, "byslot bycore", "", "as --map-by slot", [](S s, G) { s.run.map_by = plan::MapBy::slot; }},
  {Group::placement, "bynode", "", "as --map-by node", [](S s, G) { s.run.map_by = plan::MapBy::node; }},
  {Group::placement, "display-map", "", "show which rank runs where before the start",
   [](S s, G) { s.run.display_map = true; }},

  {Group::cores, "bind-to", "POLICY", "core, hwthread, l1cache, l2cache: a rank's threads share its own cores "
   "(default); none, socket, numa, "
   "l3cache, board: they may use all cores of the node, which has one socket",
   [](S s, G g) { s.run.bound = plan::parse_bind_to(g.option, g.value()); }},
  {Group::cores, "bind-to-core", "", "the same as --bind-to core", [](S s, G) { s.run.bound = true; }},
  {Group::cores, "bind-to-socket", "", "the same as --bind-to socket", [](S s, G) { s.run.bound = false; }},
  {Group::cores, "bind-to-none", "", "the same as --bind-to none", [](S s, G) { s.run.bound = false; }},

  {Group::output, "tag-output", "", "begin each line with [1,RANK]<stdout>: or <stderr>:",
   [](S s, G) { s.run.tag_output = true; }},
  {Group::output, "timestamp-output", "", "begin each line with the time",
   [](S s, G) { s.run.timestamp_output = true; }},
  {Group::output, "merge-stderr-to-stdout", "", "ranks' standard error goes to standard output",
   [](S s, G) { s.run.merge_stderr = true; }},
  {Group::output, "output-filename", "DIR[:nojobid][,nocopy]", "copy ranks' output to DIR/1/rank.N/stdout and stderr; "
   "nojobid leaves out the 1, nocopy prints nothing",
   [](S s, G g) { s.run.output = plan::parse_output_files(g.option, g.value()); }},

  {Group::results, "mpi-calls", "", "follow calls of MPI by name: how many, how long, how much, between whom; the "
   "report of a deadlock names them, too (`runtime/mpi/README.md`)",
   [](S s, G) { s.run.mpi_calls = true; }},
  {Group::results, "html", "FILE", "write the report as a page with pictures, for any browser; brings --report-details "
   "and --mpi-calls with it (`umwelt report` makes one of a report)",
   [](S s, G g) {
     s.run.html = g.value();
     s.run.report_details = s.run.mpi_calls = true;
   }},
  {Group::results, "report-details", "", "the report has also what its page shows "
   "(`umwelt report`): load of links, what ranks did over time, the critical path and what the run would take if "
   "something took no time, how the run was started",
   [](S s, G) { s.run.report_details = true; }},
  {Group::results, "q quiet", "", "no summary, no progress, no notes; errors remain",
   [](S s, G) { s.run.verbosity = -1; }},
  {Group::results, "v verbose", "", "tell more; again for still more",
   [](S s, G) { s.run.verbosity = std::max(s.run.verbosity, 0) + 1; }},
  {Group::results, "trace-format", "FORMAT", "csv, perfetto, otf2, pcapng or paje, whatever the name of the file",
   [](S s, G g) { s.run.trace_format = plan::parse_trace_format(g.option, g.value()); }},
  {Group::results, "trace-ranks", "LIST", "only what these ranks begin or are the target of: 0,4-7",
   [](S s, G g) { s.run.trace_ranks = plan::parse_rank_list(g.option, g.value(), most_ranks); }},
  {Group::results, "repeat", "N", "run it N times, one after the other, each with a seed of its own (--seed and up); "
   "then tell median and interval, and write all reports to the file of --report; the first run that fails is the last",
   [](S s, G g) { s.run.repeat = count_of(g, "a number of runs"); }},
  {Group::results, "keep-temps", "", "leave the files of the simulated nodes for inspection",
   [](S s, G) { s.run.keep_temps = true; }},

  {Group::network, "model", "NAME", "network model; default bxi", [](S s, G g) { s.run.model = g.value(); }},
  {Group::what_if, "nodes", "NODES=MODEL", "nodes that have another model, with parameters if any, or the rest: "
   "0-15=bxi, rest=loggp:L=2us; may come several times (`net_models/mixed/README.md`)",
   [](S s, G g) { s.run.node_models.push_back(plan::parse_node_model(g.option, g.value())); }},
  {Group::what_if, "model-at", "TIME:[NODES=]MODEL", "another model from that simulated time on, for all nodes or some",
   [](S s, G g) { s.run.timed_models.push_back(plan::parse_timed_model(g.option, g.value())); }},
  {Group::what_if, "model-region", "WHERE=[NODES=]MODEL", "another model for the node of a rank that has called "
   "MPI_Pcontrol(N) (WHERE: N), come back from the N-th call of a function (FUNCTION#N), or is between two of them "
   "(FROM..TO): functions of MPI, or of the program, by their symbols",
   [](S s, G g) { s.run.region_models.push_back(plan::parse_region_model(g.option, g.value())); }},
  {Group::what_if, "cpu-at", "TIME:[NODES=]POLICY", "another --cpu from that simulated time on, for all nodes or some",
   [](S s, G g) { s.run.timed_cpus.push_back(plan::parse_timed_cpu(g.option, g.value())); }},
  {Group::what_if, "cpu-region", "WHERE=[NODES=]POLICY", "another --cpu for the node of a rank that is there, as for "
   "--model-region", [](S s, G g) { s.run.region_cpus.push_back(plan::parse_region_cpu(g.option, g.value())); }},
  {Group::looking, "serve", "[ADDR:PORT]", "show the run as a page while it goes on, in any browser, with a button "
   "that ends it; brings --report-details and --mpi-calls with it; default: a free port of 127.0.0.1 "
   "(`runtime/serve/README.md`)",
   [](S s, G g) {
     s.run.serve = g.value();
     s.run.report_details = s.run.mpi_calls = true;
   }},
  {Group::looking, "trace-functions", "LIST", "functions of the program or its libraries, by their symbols, that a "
   "trace with calls is to show besides those of MPI; may come several times (`runtime/observe/TRACES.md`)",
   [](S s, G g) { plan::add_functions(g.option, g.value(), s.run.trace_functions); }},
  {Group::looking, "break", "rank=R:FUNCTION[:N]", "stand still before the N-th call that rank R makes of a function "
   "of MPI or of the program, by its symbol; goes on with `umwelt ctl PID continue`, in gdb with its "
   "continue; may come several times",
   [](S s, G g) { s.run.breaks.push_back(plan::parse_break(g.option, g.value())); }},
  {Group::looking, "ctl", "", "`umwelt ctl PID model=[NODES=]MODEL` or `cpu=[NODES=]POLICY` may change these while it "
   "runs",
   [](S s, G) { s.run.ctl = true; }},
  {Group::network, "fabric", "occupancy|flow|packet", "links and switches between the NICs of model bxi: when messages "
   "occupy links (default), flows in SimGrid's solver, or packet by packet, whose parameters are fabric_... of --nic "
   "(`net_models/packet/README.md`)", [](S s, G g) { s.run.nic.emplace_back("fabric", g.value()); }},
  {Group::network, "nic", "KEY=VALUE|@FILE", "parameter of the network model (`umwelt models` lists them), or a "
   "file of such lines; may come "
   "several times, the last of a key counts",
   [](S s, G g) { s.run.nic.push_back(g.value().starts_with('@') ? plan::Setting(g.value(), "")
     : read_assignment(g.option, g.value())); }},
  {Group::what_if, "latency-factor", "F|CLASS=F", "what if: latency of the network times F, or that of some links: a "
   "pattern of names ('leaf*'), or node, local, global; may come several times, the last that fits a link counts "
   "(`platforms/WHAT_IF.md`)",
   [](S s, G g) { s.run.link_factors.latency.push_back(plan::parse_link_factor(g.option, g.value())); }},
  {Group::what_if, "bandwidth-factor", "F|CLASS=F", "the same for bandwidth",
   [](S s, G g) { s.run.link_factors.bandwidth.push_back(plan::parse_link_factor(g.option, g.value())); }},
  {Group::what_if, "fault", "link=GLOB:at=TIME:for=TIME", "links that fail at a time and come back after another "
   "(without :for= never); messages take another way or wait; may come several times (`platforms/WHAT_IF.md`)",
   [](S s, G g) { s.run.faults.push_back(plan::parse_fault(g.option, g.value())); }},
  {Group::network, "node", "KEY=VALUE|@FILE", "parameter of the nodes: sockets, memory, what copies within a node "
   "take (`umwelt models` lists them); as --nic",
   [](S s, G g) { s.run.node.push_back(g.value().starts_with('@') ? plan::Setting(g.value(), "")
     : read_assignment(g.option, g.value())); }},
  {Group::network, "shm-size", "SIZE", "bytes that fit into /dev/shm of a node, 64MiB for example; default half of "
   "its memory",
   [](S s, G g) { s.run.shm_size = g.value(); }},
  {Group::network, "seed", "N", "seed of everything random; default 0",
   [](S s, G g) { s.run.seed = read_count(g.option, g.value(), "a number", 0,
     std::numeric_limits<std::uint64_t>::max()); }},

  {Group::power, "power", "FILE|none", "what nodes and the network draw, and what that costs (YAML, "
   "`runtime/energy/README.md`); default: the platform's wattage_per_state, if it has that; none: leave energy out",
   [](S s, G g) { s.run.power.source = g.value(); }},
  {Group::power, "dvfs", "STATE", "the DVFS state of nodes, by frequency (1.2GHz) or number; NODES=STATE: of some; "
   "TIME:STATE, TIME:NODES=STATE: from that simulated time on; may come several times",
   [](S s, G g) { s.run.power.dvfs.push_back(plan::parse_dvfs(g.option, g.value())); }},
  {Group::power, "power-cap", "WATTS", "what a node may draw at most: it is never in a faster state than one in which "
   "its ranks' cores cannot draw more; NODES=WATTS: some nodes; may come several times",
   [](S s, G g) { s.run.power.caps.push_back(plan::parse_power_cap(g.option, g.value())); }},
  {Group::power, "power-trace", "FILE", "what each node draws over time, and the network's parts, as CSV",
   [](S s, G g) { s.run.power.trace = g.value(); }},
  {Group::power, "power-phases", "", "energy by phases, which the program tells by MPI_Pcontrol(LEVEL)",
   [](S s, G) { s.run.power.phases = true; }},
  {Group::power, "node-hour", "PRICE", "what a node costs for an hour, 1.20EUR for example",
   [](S s, G g) { s.run.power.node_hour = plan::parse_node_hour(g.option, g.value()); }},

  {Group::time, "cpu-threshold", "DURATION", "shorter bursts of computation are dropped; default 0",
   [](S s, G g) { s.run.cpu_threshold = read_duration(g.option, g.value()); }},
  {Group::time, "cpu-first-touch", "DURATION", "what a rank's core waits for the first line of data that the "
   "NIC wrote to memory, with --cpu measured or scale; default 100 ns",
   [](S s, G g) { s.run.cpu_first_touch = read_duration(g.option, g.value()); }},
  {Group::time, "compute-factor", "F", "what if: nodes compute F times as fast, modelled kernels, too "
   "(`platforms/WHAT_IF.md`)",
   [](S s, G g) { s.run.compute_factor = plan::parse_compute_factor(g.option, g.value()); }},
  {Group::time, "kernels", "FILE", "functions of the program whose time is modelled, and which of them are not run; "
   "may come several times, what a later file says of a function counts (`runtime/kernels/README.md`)",
   [](S s, G g) { s.run.kernels_files.push_back(g.value()); }},
  {Group::network, "collectives", "MODEL|FUNCTION=MODEL,...", "collectives of MPI that a model stands for, all or by "
   "name (allreduce=tree): real (default), zero, tree, or a time with P, bytes, latency and bandwidth ('2us*log2(P) + "
   "bytes*0.1ns'); may come several times, what is said later counts (`runtime/mpi/COLLECTIVES.md`)",
   [](S s, G g) { s.run.collectives.push_back(plan::parse_collectives(g.option, g.value())); }},
  {Group::machine, "fold", "RULE|@FILE", "allocations whose contents may be lost, so that they need no memory here: "
   "at_least=SIZE,function=NAME,call=OBJECT+0xOFFSET,in=OBJECT,keep=BEGIN..END, or a file of such lines; may come "
   "several times, the first that fits counts (`runtime/fold/README.md`)",
   [](S s, G g) { s.run.fold_rules.push_back(g.value()); }},
  {Group::machine, "fold-budget", "SIZE", "memory of this machine that all such allocations together may take; "
   "default 4MiB for each rank, of more than 256 ranks 1GiB, and at least 1MiB for each",
   [](S s, G g) { s.run.fold_budget = read_size(g.option, g.value()); }},
  {Group::time, "quantum", "DURATION", "a thread that computes without any call is interrupted after so much "
   "wall-clock for others to run; default 10 ms",
   [](S s, G g) { s.run.quantum = read_duration(g.option, g.value()); }},

  {Group::machine, "workers", "N|auto|0", "processes that the ranks are spread over; 0: all in one; default "
   "auto: 0 if they fit, or as many as -j N says",
   apply_workers, "cells"},
  {Group::machine, "ranks-per-worker", "N", "at most so many ranks in a process; default: as many as fit "
   "(vm.max_map_count)",
   [](S s, G g) { s.run.workers.ranks_per_worker = static_cast<unsigned>(read_count(g.option, g.value(),
     "a number of ranks", 1, plan::most_ranks_of_worker)); },
   "ranks-per-cell"},
  {Group::machine, "loader", "auto|linker|dlmopen", "how ranks are loaded: with a dynamic linker for each, any number "
   "to a process, or into dlmopen namespaces, 15 to a process; default auto: linker where it is known to work "
   "(`loader/README.md`)",
   apply_loader},
  {Group::machine, "same-addresses", "", "variables and allocations of a program lie at the same addresses in all of "
   "its ranks, each in a process of its own; also where a wrapper asks for it (setarch -R)",
   [](S s, G) { s.run.same_addresses = true; }},

  {Group::information, "h help", "", "show this text", [](S s, G) { s.run.help = true; }},
  {Group::information, "V version", "", "show the version", [](S s, G) { s.run.version = true; }},

  {Group::accepted, "allow-run-as-root", "", "no ranks run elsewhere", [](S, G) {}},
  {Group::accepted, "report-bindings", "", "use --display-map", [](S s, G g) { no_effect(s, g, "use --display-map"); }},
  {Group::accepted, "use-hwthread-cpus", "", "simulated cores have one hardware thread",
   [](S s, G g) { no_effect(s, g, "simulated cores have one hardware thread"); }},
  {Group::accepted, "nolocal", "", "no node of the simulated machine is the local one", [](S, G) {}},
  {Group::accepted, "novm", "", "no daemons are started", [](S, G) {}},
  {Group::accepted, "leave-session-attached", "", "no daemons are started", [](S, G) {}},
  {Group::accepted, "launch-agent", "COMMAND", "no daemons are started", [](S, G) {}},
  {Group::accepted, "prefix", "DIR", "every rank uses the Open MPI it is linked to",
   [](S s, G g) { no_effect(s, g, "every rank uses the Open MPI it is linked to"); }},
  {Group::accepted, "noprefix", "", "the same", [](S, G) {}},

  {Group::watching, "o output", "FILE", "the kernels file that is written; default kernels.yaml",
   [](S s, G g) { watching(s, g).output = g.value(); }},
  {Group::watching, "force", "", "replace it if it is there", [](S s, G g) { watching(s, g).overwrite = true; }},
  {Group::watching, "least", "PERCENT", "of the time of computing, below which a function is not in the file; default "
   "1", apply_least},
  {Group::watching, "functions", "NAME,...", "symbols to watch besides the functions of BLAS, LAPACK and FFTW; may "
   "come several times",
   apply_functions},
});
// clang-format on

constexpr auto headings = std::to_array<Heading>({
    {Group::most_used, "Most used"},
    {Group::programs, "Programs of the job"},
    {Group::hosts, "Hosts (without: as many nodes as needed, one rank on each)"},
    {Group::placement, "Which rank runs where"},
    {Group::cores, "Cores of a rank"},
    {Group::output, "What the ranks print"},
    {Group::results, "What Umwelt tells and keeps"},
    {Group::network, "Simulated network and nodes"},
    {Group::what_if, "Models of some nodes or times, and what if"},
    {Group::power, "Energy and cost"},
    {Group::looking, "Looking into a run that goes on"},
    {Group::time, "Simulated time of computation"},
    {Group::machine, "Use of this machine"},
    {Group::information, "This text"},
    {Group::watching, "Of umwelt kernels alone"},
    {Group::accepted, "Accepted for mpirun's sake, without effect"},
});

} // namespace

std::span<const Option> option_table()
{
  return options;
}

std::span<const Heading> option_headings()
{
  return headings;
}

std::vector<std::string_view> split(std::string_view text, char separator)
{
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto end = text.find(separator);
    if (end != 0)
      parts.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return parts;
}

} // namespace umwelt::cli
