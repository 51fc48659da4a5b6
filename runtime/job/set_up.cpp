// SPDX-License-Identifier: LGPL-2.1-or-later
// From the plan to ranks that are ready to run: jobs, what each rank is told (its gate, its variables), its streams,
// its threads' stand-ins and its network interface. Ranks that others start (spawn.cpp) are made by the same functions.
#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "runtime/base/mix.h"
#include "runtime/base/usage_error.h"
#include "runtime/job/channel.h"
#include "runtime/job/environment.h"
#include "runtime/job/job.h"
#include "runtime/job/pmi_socket.h"
#include "runtime/job/standard_output.h"
#include "runtime/plan/machine_limits.h"
#include "runtime/portals/fabric/process.h"
#include "runtime/rank_host/cross.h"

namespace umwelt::job
{

namespace
{

constexpr int first_pid = 1000;   // of the simulated machine
constexpr int launcher_pid = 900; // parent of a node's ranks

// A generator's first step (splitmix64) on seed and rank; never 0.
std::uint64_t rank_seed(std::uint64_t seed, int rank)
{
  return sim::splitmix(seed + sim::golden_ratio * static_cast<std::uint64_t>(rank)) | 1;
}

} // namespace

void Job::make_ranks()
{
  null_fd_ = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (std::size_t i = 0; i < plan_.programs.size(); ++i) {
    const std::string& directory = plan_.programs[i].directory;
    directories_.push_back(
        std::make_shared<rank_host::Directory>(open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)));
    if (directories_.back()->fd() < 0)
      throw UsageError("-wdir " + directory, "a directory", std::strerror(errno), "create it or name another");
  }
  plan_workers();
  share_descriptors();
  for (const plan::AppContext& program : plan_.options.programs)
    commands_.push_back(program.argv);
  JobFacts& facts = add_job(job_name, plan_.placement.ranks, nullptr);
  facts.node_list = node_list(plan_.placement);
  std::vector<unsigned> workers(plan_.placement.ranks.size());
  for (std::size_t i = 0; i < plan_.workers.size(); ++i)
    for (const unsigned rank : plan_.workers[i])
      workers[rank] = static_cast<unsigned>(i);
  for (std::size_t i = 0; i < plan_.placement.ranks.size(); ++i) {
    const unsigned program = plan_.program_of_rank[i];
    add_rank(facts, static_cast<int>(i),
             {&plan_.programs[program], directories_[program], plan_.placement.ranks[i].program, plan_.in_wrapper[i],
              workers[i]});
  }
  if (workers_)
    start_workers();
  output_.start();
  for (const auto& rank : ranks_) {
    rank->output->begin();
    seat(*rank);
  }
}

JobFacts& Job::add_job(const std::string& name, std::vector<plan::RankPlace> places, const Rank* parent)
{
  std::vector<std::uint32_t> nodes;
  std::vector<std::string> names;
  for (const plan::RankPlace& place : places) {
    if (std::find(nodes.begin(), nodes.end(), place.node) == nodes.end())
      names.push_back(plan_.placement.hostnames[place.node]);
    nodes.push_back(place.node);
  }
  JobFacts& facts = jobs_.emplace_back();
  facts.space = &namespaces_.add(name, places.size());
  facts.node_list = fmt::format("{}", fmt::join(names, ","));
  facts.alive = places.size();
  facts.places = std::move(places);
  facts.parent = parent;
  keys_.grow(namespaces_.ranks());
  spaces_.grow(namespaces_.ranks());
  spaces_[kvs_of(name)].add("PMI_process_mapping", bootstrap::process_mapping(nodes));
  return facts;
}

Rank& Job::add_rank(JobFacts& facts, int number, const Start& start)
{
  const std::size_t index = ranks_.size();
  umw_gate& gate = workers_ ? workers_->board().gate(static_cast<unsigned>(index)) : gates_.emplace_back();
  Rank& rank = *ranks_.emplace_back(std::make_unique<Rank>(*this, static_cast<int>(index), gate));
  rank.facts = &facts;
  rank.number = number;
  rank.worker = start.worker;
  make_rank(rank, start);
  if (plan_.trace && facts.parent != nullptr) // it knows those of the start
    plan_.trace->add_rank(rank.node, static_cast<std::uint32_t>(rank.index - rank.number));
  ++running_;
  return rank;
}

// Each rank may open as many as a program may, if this process, or a worker process, can have as many for all of its
// ranks.
void Job::share_descriptors()
{
  std::uint64_t ranks = plan_.placement.ranks.size();
  if (workers_) {
    ranks = 0;
    for (const auto& worker : plan_.workers)
      ranks = std::max<std::uint64_t>(ranks, worker.size());
  }
  constexpr std::uint64_t most = 1UL << 20; // the kernel's own bound, fs.nr_open
  const std::uint64_t limit =
      plan::extend_descriptor_limit(std::min(most, plan_.own_descriptors + ranks * std::min(plan_.descriptors, most)));
  descriptors_per_rank_ = (limit - std::min(limit, plan_.own_descriptors)) / ranks;
}

void Job::make_rank(Rank& rank, const Start& start)
{
  const auto index = static_cast<std::size_t>(rank.index);
  const JobFacts& facts = *rank.facts;
  const plan::RankPlace& place = facts.places[static_cast<std::size_t>(rank.number)];
  const plan::ProgramPlan& program = *start.program;
  const platform::Node& node = plan_.platform->node(place.node);
  rank.program = start.context;
  rank.in_wrapper = start.wrapper.is;
  rank.first_directory = program.directory;
  rank.began = timeline_.now();
  rank.node = place.node;
  rank.hosted.argv = program.program.argv;
  rank.hosted.program_path = program.program.path;
  rank.session_directory = files_.session(place.node);
  std::size_t app_ranks = 0;
  std::int32_t local_ranks = 0;
  std::set<std::uint32_t> nodes;
  for (std::size_t other = 0; other < facts.places.size(); ++other) {
    app_ranks += facts.places[other].program == place.program;
    if (rank.number == 0) // the others have it from this one
      nodes.insert(facts.places[other].node);
    if (facts.places[other].node == place.node) {
      rank.local_peers += fmt::format("{}{}", rank.local_peers.empty() ? "" : ",", other);
      ++local_ranks;
    }
  }

  umw_gate& gate = rank.gate;
  gate.version = UMW_GATE_VERSION;
  gate.size = sizeof gate;
  gate.cross = rank_host::umwelt_cross;
  gate.most_quick_polls = UMW_QUICK_POLLS;
  cpu_.set_up(gate.clock);
  computing_.begins(rank, timeline_.now());
  if (energy_)
    energy_->rank_begins(rank);
  gate.rank = rank.number;
  gate.owner = static_cast<std::uint32_t>(rank.index) + 1;
  gate.ranks = static_cast<std::int32_t>(facts.places.size());
  gate.local_rank = static_cast<std::int32_t>(place.local_rank);
  gate.local_ranks = local_ranks;
  gate.node = static_cast<std::int32_t>(place.node);
  gate.nodes = rank.number == 0 ? static_cast<std::int32_t>(nodes.size()) : ranks_[facts.space->first]->gate.nodes;
  gate.universe = static_cast<std::int32_t>(room_.universe());
  if (facts.parent != nullptr) {
    gate.parent_job = facts.parent->gate.job_name;
    gate.parent_rank = facts.parent->gate.rank;
  }
  gate.core = static_cast<std::int32_t>(place.core);
  gate.cores = static_cast<std::int32_t>(node.cores);
  gate.sockets = static_cast<std::int32_t>(node.sockets);
  gate.memory = node.memory;
  gate.pid = first_pid + rank.index;
  gate.parent_pid = launcher_pid;
  const std::string& host = plan_.placement.hostnames[place.node];
  host.copy(gate.host_name, UMW_HOST_NAME_MAX);
  std::snprintf(gate.job_name, sizeof gate.job_name, "%s", facts.space->name.c_str());
  gate.program = rank.hosted.program_path.c_str();
  gate.argv0 = rank.hosted.argv.front().c_str();
  gate.local_peers = rank.local_peers.c_str();
  gate.node_list = facts.node_list.c_str();
  gate.session_directory = rank.session_directory.c_str();
  gate.machine_directory = files_.machine(place.node).directory().c_str();
  gate.app = static_cast<std::int32_t>(place.program);
  gate.app_ranks = static_cast<std::int32_t>(app_ranks);
  gate.address = sockets::host_of(place.node);
  gate.descriptors_soft = std::min(plan_.descriptors, descriptors_per_rank_);
  gate.descriptors_hard = std::min(plan_.most_descriptors, descriptors_per_rank_);
  gate.same_addresses = program.same_addresses ? 1 : 0;
  gate.fault_tolerant = plan_.options.fault_tolerant ? 1 : 0;
  const net::NodeParameters& memory = shared_memory_.parameters();
  gate.shm_bytes = net::shm_size(memory);
  gate.line_ps = memory.line;
  gate.copy_ps_per_byte = 1e12 / memory.copy_bandwidth;
  gate.fold_least = plan_.folding ? plan_.folding->least() : 0;
  gate.copy_levels[0] = {memory.core_cache / 2,
                         1e12 / memory.cached_bandwidth}; // where it comes from and where it goes
  gate.copy_levels[1] = {std::max(memory.core_cache, memory.shared_cache) / 2, 1e12 / memory.shared_bandwidth};
  gate.copy_levels[2] = {UINT64_MAX, gate.copy_ps_per_byte};
  gate.random_seed = cpu_.measured() ? 0 : rank_seed(plan_.options.seed, rank.index);
  gate.traced = plan_.trace && plan_.trace->events() ? 1 : 0;
  for (const NodeRegions* const one : regions_)
    one->watch(gate.mpi_watched);
  if (energy_)
    energy_->watch(gate.mpi_watched);
  breaks_.watch(static_cast<std::size_t>(rank.index), gate.mpi_watched);
  gate.collectives = plan_.collectives ? plan_.collectives->modelled() : 0;
  gate.runtime = &rank;

  rank.output = std::make_unique<StandardOutput>(plan_.options, output_, facts.space->number, rank.number, gate.ranks);
  // Descriptors of its own, since programs close theirs (all of coreutils do, at exit).
  std::array<int, 3> lead_to = {rank.index == 0 ? 0 : null_fd_, rank.output->descriptor(1), rank.output->descriptor(2)};
  (void)output_.end(rank.worker, 1); // keeps_lines() is asked with every call, also if the rank prints elsewhere
  for (const int stream : {1, 2})
    for (int& fd : lead_to)
      if (fd == stream)
        fd = output_.end(rank.worker, stream);
  for (std::size_t i = 0; i < lead_to.size(); ++i)
    if (const int redirected = start.wrapper.streams[i]; redirected >= 0)
      lead_to[i] = redirected;
  for (std::size_t i = 0; i < lead_to.size(); ++i)
    gate.standard_fds[i] = fcntl(lead_to[i], F_DUPFD_CLOEXEC, 3);

  rank.pmi = std::make_unique<PmiSocket>(
      rank, bootstrap::PmiFacts{kvs_of(facts.space->name), facts.places.size(), gate.app}, spaces_);
  rank.hosted.directory = start.directory;
  rank.hosted.interpreter = program.program.interpreter;
  rank.hosted.preloaded = plan_.preloaded;
  if (!program.portals_library.empty())
    rank.hosted.preloaded.insert(rank.hosted.preloaded.begin(), program.portals_library);
  rank.hosted.linked_at = program.program.linked_at;
  rank.hosted.loading_directory = directory_.path();
  for (const loader::Library& library : program.program.libraries)
    rank.hosted.libraries.push_back(library.path);
  gate.loader = plan_.loader == plan::Loader::dlmopen ? UMW_LOADER_NAMESPACE : UMW_LOADER_LINKER;
  rank.hosted.environment = program.environment;
  add_launcher_variables(rank.hosted.environment,
                         {facts.space->name, room_.universe(), static_cast<std::size_t>(rank.number),
                          facts.places.size(), place.local_rank, static_cast<unsigned>(local_ranks), host,
                          facts.node_list, gate.pmi_fd});
  add_topology_variables(rank.hosted.environment, files_.machine(place.node).topology());
  if (program.directory != std::filesystem::current_path())
    set_variable(rank.hosted.environment, "PWD", program.directory);

  const std::array<std::pair<const char*, std::string>, 4> texts = {
      {{"umwelt.host", host},
       {"umwelt.node", fmt::format("{}", gate.node)},
       {"umwelt.local_rank", fmt::format("{}", gate.local_rank)},
       {"umwelt.app", fmt::format("{}", gate.app)}}};
  for (const auto& [key, value] : texts)
    keys_.tell(index, key, value);
}

// After the worker processes have been forked: what follows is the runtime's alone.
void Job::seat(Rank& rank)
{
  const plan::RankPlace& place = rank.facts->places[static_cast<std::size_t>(rank.number)];
  give_interface(rank);
  std::vector<unsigned> cores;
  for (unsigned core = 0; core < plan_.platform->node(place.node).cores; ++core)
    if (!plan_.options.bound || (core >= place.core && core < place.core + place.cores))
      cores.push_back(core);
  Thread& main = add_thread(rank, cores);
  main.tid = rank.gate.pid;
  main.place.core = place.core;
  if (main.here != nullptr)
    main.actor = main.here->fiber = &scheduler_.spawn(
        rank.title(),
        [this, &main] {
          main.rank.leave();
          if (!server_.program)
            own_process_.live(*main.here);
          server_.program(main.rank);
          exited(main.rank, 0);
        },
        rank_host::main_stack());
  else
    main.actor = &scheduler_.spawn(
        rank.title(), [&main] { main.channel->live(); }, stand_in_stack);
  main.actor->owner = &main;
}

void Job::give_interface(Rank& rank)
{
  processes_.push_back(std::make_unique<portals::Process>(
      fabric_, rank.node, static_cast<std::uint32_t>(rank.index), static_cast<ptl_uid_t>(getuid()),
      workers_ ? portals::Memory(workers_->pid(rank.worker), rank.gate.shared) : portals::Memory()));
  rank.portals = processes_.back().get();
}

} // namespace umwelt::job
