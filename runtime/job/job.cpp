// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/job.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <numeric>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net_models/catalogue.h"
#include "runtime/base/exit_codes.h"
#include "runtime/base/parameters.h"
#include "runtime/base/usage_error.h"
#include "runtime/diagnose/backtrace.h"
#include "runtime/diagnose/fatal.h"
#include "runtime/diagnose/symbols.h"
#include "runtime/job/channel.h"
#include "runtime/job/environment.h"
#include "runtime/job/hints.h"
#include "runtime/job/pmi_socket.h"
#include "runtime/job/standard_output.h"
#include "runtime/plan/machine_limits.h"
#include "runtime/portals/fabric/process.h"
#include "runtime/rank_host/cross.h"
#include "runtime/worker/worker_process.h"

namespace umwelt::job
{

namespace
{

constexpr int first_pid = 1000;                     // of the simulated machine
constexpr int launcher_pid = 900;                   // parent of a node's ranks
constexpr std::size_t stand_in_stack = 256UL << 10; // of the actor for a thread in a worker process; bytes

// A generator's first step (splitmix64) on seed and rank; never 0.
std::uint64_t rank_seed(std::uint64_t seed, int rank)
{
  std::uint64_t z = seed + 0x9e3779b97f4a7c15ULL * (static_cast<std::uint64_t>(rank) + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return (z ^ (z >> 31)) | 1;
}

Parameters nic_parameters(const plan::RunOptions& options)
{
  Parameters parameters;
  for (const auto& [key, value] : options.nic) {
    if (key.starts_with('@'))
      parameters.add_file(key.substr(1));
    else
      parameters.set(key, value, "--nic");
  }
  return parameters;
}

net::NodeParameters node_parameters(const plan::RunOptions& options)
{
  Parameters parameters;
  for (const auto& [key, value] : options.node) {
    if (key.starts_with('@'))
      parameters.add_file(key.substr(1));
    else
      parameters.set(key, value, "--node");
  }
  if (!options.shm_size.empty())
    parameters.set("shm", options.shm_size, "--shm-size");
  return net::read_node_parameters(parameters);
}

} // namespace

namespace
{

std::vector<std::size_t> members_of(const JobFacts& facts)
{
  std::vector<std::size_t> members(facts.space->size);
  std::iota(members.begin(), members.end(), facts.space->first);
  return members;
}

} // namespace

std::string kvs_of(const std::string& job)
{
  return std::string(bootstrap::kvs_prefix) + job;
}

Job::Job(const plan::Plan& plan, const Server& server, loader::PrivateDirectory& directory)
    : plan_(plan), server_(server), directory_(directory), cores_(scheduler_, plan_.platform->node_count()),
      cpu_(plan_.options.cpu, plan_.options.cpu_threshold, plan_.options.cpu_first_touch),
      own_process_(*this, scheduler_, cpu_),
      fabric_(timeline_, host_, static_cast<net::NodeIndex>(plan_.platform->node_count())),
      sockets_(timeline_, socket_host_, static_cast<net::NodeIndex>(plan_.platform->node_count())),
      shared_memory_(*this, node_parameters(plan_.options)), progress_(stderr), output_(progress_, !cpu_.measured()),
      counter_(ranks_), files_(*plan_.platform, plan_.placement.hostnames, directory.path()),
      keys_(plan_.placement.ranks.size()), spaces_(plan_.placement.ranks.size()), room_(plan_.options, plan_.placement)
{
  const Parameters parameters = nic_parameters(plan_.options);
  model_ = net::make_model(plan_.options.model, {timeline_, *plan_.platform, &fabric_, plan_.trace.get()}, parameters);
  fabric_.set_model(*model_);
  sockets_.set_model(*model_);
  fabric_.set_observer(&counter_);
  scheduler_.on_stall = [this] { return stalled(); };
  if (model_->has_external()) {
    scheduler_.external_pending = [this] { return model_->external_pending(); };
    scheduler_.advance_external = [this](SimTime limit) { return model_->advance_external(limit); };
  }
  scheduler_.await_absent = [this](SimTime next) { return await_absent(next); };
  scheduler_.on_beat = [this] { output_.show_progress(timeline_.now(), timeline_.fired()); };
  make_ranks();
}

Job::~Job()
{
  processes_.clear(); // before the fabric
  if (workers_)
    return;
  for (const umw_gate& gate : gates_) // who reads what ranks have written waits for the end of it
    for (const int fd : gate.standard_fds)
      if (fd > 2)
        close(fd);
}

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
    plan_.trace->add_rank(rank.node);
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
  rank.hosted.speed = node.speed;
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
  gate.shm_bytes = net::shm_size(shared_memory_.parameters());
  gate.line_ps = shared_memory_.parameters().line;
  gate.copy_ps_per_byte = 1e12 / shared_memory_.parameters().copy_bandwidth;
  gate.random_seed = cpu_.measured() ? 0 : rank_seed(plan_.options.seed, rank.index);
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
  rank.hosted.shim = plan_.shim;
  rank.hosted.linked_at = program.program.linked_at;
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
          own_process_.live(*main.here);
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

// --- worker processes ------------------------------------------------------------------------------------------------

void Job::plan_workers()
{
  const auto ranks = static_cast<unsigned>(plan_.placement.ranks.size());
  if (plan_.workers.empty())
    return;
  const auto count = static_cast<unsigned>(plan_.workers.size());
  workers_ = std::make_unique<worker::Workers>(count, ranks, plan_.options.jobs);
  channels_.resize(count, std::vector<Channel*>(worker::slots_per_worker));
  not_switching_.resize(count);
}

void Job::start_workers()
{
  std::vector<std::vector<worker::WorkerProcess::Seat>> seats(plan_.workers.size());
  for (const auto& rank : ranks_)
    seats[rank->worker].push_back({&rank->hosted, rank->main_slot = *workers_->take_slot(rank->worker)});
  const bool same_addresses = std::any_of(plan_.programs.begin(), plan_.programs.end(),
                                          [](const plan::ProgramPlan& p) { return p.same_addresses; });
  workers_->start(
      [this, &seats](unsigned index) {
        for (const auto& rank : ranks_) {
          rank->pmi->keep(rank->worker == index ? PmiSocket::End::of_rank : PmiSocket::End::none);
          if (rank->worker != index)
            for (const int fd : rank->gate.standard_fds)
              close(fd);
        }
        worker::WorkerProcess process(*workers_, index, cpu_);
        process.run(seats[index], plan_.options.quantum);
      },
      !same_addresses);
  check_access_to_workers();
  for (const auto& rank : ranks_)
    keep_ends_of_runtime(*rank);
}

// Container runtimes and security modules may forbid it.
void Job::check_access_to_workers()
{
  std::uint32_t version = 0;
  if (!portals::Memory(workers_->pid(0)).read(&version, &plan_, sizeof version))
    throw loader::Refusal(loader::Refusal::Kind::not_runnable,
                          fmt::format("ranks in worker processes: expected to reach their memory with "
                                      "process_vm_readv(2), got: {}. Next step: run with "
                                      "the capability SYS_PTRACE (docker run --cap-add SYS_PTRACE), or with "
                                      "--workers 0",
                                      std::strerror(errno)));
}

void Job::keep_ends_of_runtime(const Rank& rank)
{
  rank.pmi->keep(PmiSocket::End::of_runtime);
  for (const int fd : rank.gate.standard_fds)
    close(fd);
}

void Job::connect(Channel& channel)
{
  channels_[channel.worker()][channel.slot()] = &channel;
}

void Job::disconnect(const Channel& channel)
{
  Channel*& entry = channels_[channel.worker()][channel.slot()];
  if (entry == &channel)
    entry = nullptr;
}

void Job::begin_absence(Channel& channel)
{
  absent_.push_back(&channel);
  ++scheduler_.absent;
}

void Job::end_absence(Channel& channel)
{
  std::erase(absent_, &channel);
  --scheduler_.absent;
}

bool Job::hear_from_workers(std::int64_t nanoseconds)
{
  const auto arrived = [this](unsigned worker, unsigned slot) {
    if (Channel* channel = channels_[worker][slot])
      channel->arrive();
  };
  bool any = workers_->collect(arrived);
  if (!any && nanoseconds > 0) {
    workers_->wait(nanoseconds);
    any = workers_->collect(arrived);
  }
  if (const auto death = workers_->death()) {
    worker_died(*death);
    return true;
  }
  return any;
}

// Time may go on to `next` if no burst that is under way can end before.
bool Job::await_absent(SimTime next)
{
  constexpr std::int64_t longest = 100'000'000; // ns; a request of the user may have come in between
  constexpr std::int64_t shortest = 20'000;
  constexpr std::int64_t enough = 4'000'000;
  if (hear_from_workers(0))
    return true;
  SimTime first = sim::never;
  Channel* behind = nullptr;
  for (Channel* channel : absent_)
    if (const SimTime earliest = channel->earliest(next); earliest < first) {
      first = earliest;
      behind = channel;
    }
  if (next != sim::never && first >= next)
    return false;
  const std::int64_t left = next == sim::never ? longest : (next - first) / sim::nanosecond;
  using Progress = worker::Workers::Progress;
  const Progress progress =
      behind != nullptr ? workers_->progress(behind->worker(), behind->slot()) : Progress::held_back;
  if (progress == Progress::computes)
    hear_from_workers(std::clamp(left, shortest, longest));
  else if (progress == Progress::held_back)
    hear_from_workers(longest); // somebody of another worker process comes first
  else if (!hear_from_workers(std::clamp(left / 4, shortest, enough)))
    workers_->hurry(behind->worker(), behind->slot());
  return true;
}

void Job::worker_died(const worker::Workers::Death& death)
{
  const bool killed = WIFSIGNALED(death.status);
  const int number = killed ? WTERMSIG(death.status) : WEXITSTATUS(death.status);
  const std::string how = killed ? fmt::format("was killed by signal {} ({})", number, strsignal(number))
                                 : fmt::format("ended with exit code {}", number);
  std::string text;
  std::string first;
  std::size_t carried = 0;
  for (const auto& each : ranks_) {
    Rank& rank = *each;
    carried += rank.worker == death.worker;
    if (rank.worker != death.worker || rank.phase == Rank::Phase::ended)
      continue;
    rank.end.signal = killed ? number : 0;
    rank.end.status = killed ? 0 : number;
    if (first.empty())
      first = rank.title();
    text += fmt::format("  {}, pid {}: {}last heard of in {}\n", rank.title(), rank.gate.pid,
                        rank.phase == Rank::Phase::loading ? "starting, " : "", rank.main().last_call);
  }
  const std::string next_step =
      killed && number == SIGKILL
          ? "Next step: if nobody killed it, it was short of memory (`dmesg | grep -i oom`): fewer ranks, or a machine "
            "with more"
          : "Next step: look at what it printed last";
  fail(killed ? exit_code::signalled + number : exit_code::failure, fmt::format("the process of {} {}", first, how),
       fmt::format("worker process {} with {} rank{} {} at {}; the job is ended\n{}{}", death.worker,
                   carried, carried == 1 ? "" : "s", how, simulated_now(), text, next_step));
}

// Backtraces of threads in worker processes, by worker process and slot.
std::vector<std::vector<std::string>> Job::reports_of_workers()
{
  std::vector<std::vector<std::string>> reports;
  for (unsigned index = 0; workers_ && index < workers_->count(); ++index) {
    interruption_.moves();
    std::vector<std::string>& texts = reports.emplace_back(worker::slots_per_worker);
    std::istringstream report(workers_->report(index));
    std::size_t slot = 0;
    for (std::string line; std::getline(report, line);)
      if (!line.starts_with(' '))
        slot = std::min<std::size_t>(std::strtoul(line.c_str(), nullptr, 10), worker::slots_per_worker - 1);
      else
        texts[slot] += line + '\n';
  }
  return reports;
}

// --- life of a rank --------------------------------------------------------------------------------------------------

void Job::not_loaded(Rank& rank, const char* message, bool gave_up)
{
  fail(gave_up ? exit_code::not_found : exit_code::refused, "a program could not be loaded",
       fmt::format("{}: {} cannot be loaded: {}. Next step: `ldd {}`; if the libraries are there, `umwelt doctor`",
                   rank.title(), rank.hosted.argv.front(), message, rank.hosted.program_path));
  abandon();
}

void Job::started(Rank& rank)
{
  rank.phase = Rank::Phase::running;
  rank.gate.running = 1;
}

void Job::finish(Rank& rank)
{
  rank.phase = Rank::Phase::ended;
  rank.finished = timeline_.now();
  rank.portals->detach();
  rank.pmi->close();
  shared_memory_.forget(rank);
  sysv_.forget(rank);
  file_locks_.forget(rank);
  sockets_.close_all(static_cast<std::uint32_t>(rank.index));
  rank.timers.stop();
  rank.output->pass_on(true);
  procfs::NodeFiles::ended(rank.session_directory, rank.gate.pid);
  wake_peers(rank); // its descriptors are closed
  --running_;
  --rank.facts->alive;
  room_.give(rank.facts->places[static_cast<std::size_t>(rank.number)]);
  if (rank.facts->parent != nullptr)
    timeline_.schedule_in(retire_, 0); // whoever carries it: runs are alike to the last event
  polling_.progress();
}

void Job::wake_peers(const Rank& rank)
{
  for (const auto& other : ranks_)
    if (other->node == rank.node && other.get() != &rank) {
      ++other->gate.wakes;
      other->memory_changed();
      Polling::changed(*other);
      other->notify_all();
    }
}

// The rank's other threads end where they are, and the calling one for good.
void Job::end_threads(Rank& rank)
{
  for (const auto& thread : rank.threads)
    if (thread->actor != scheduler_.current())
      end_elsewhere(rank, *thread);
  scheduler_.end_current();
}

void Job::exited(Rank& rank, int status)
{
  rank.end.status = status;
  finish(rank);
  const bool wrapper_goes_on = rank.in_wrapper && !rank.joined;
  if (status != 0 && !wrapper_goes_on)
    fail(status, fmt::format("{} ended with exit code {}", rank.title(), status),
         fmt::format("{} ended with exit code {} at {}{}", rank.title(), status, simulated_now(),
                     running_ > 0 ? "; the job is ended" : ""));
  else if (rank.joined)
    fail(1, fmt::format("{} ended without MPI_Finalize", rank.title()),
         fmt::format(
             "{} ended with exit code 0 at {}, expected {} to call MPI_Finalize (PMIx_Finalize) first. Next step: {}",
             rank.title(), simulated_now(), rank.joined_before ? "the program that has executed this one" : "it",
             rank.joined_before ? "call it before exec" : "call it on every path out of main"));
  else if (rank.pmi->unfinished())
    warn(rank, "ended with exit code 0, expected cmd=finalize on PMI_FD first. Next step: call PMI_Finalize (what the "
               "program's "
               "library has for it) on every path out of main");
  end_threads(rank);
}

void Job::died(Rank& rank, int signal, const char* report)
{
  rank.end.signal = signal;
  const std::string_view text = report;
  const std::size_t end = text.find('\n');
  const std::string ending = fmt::format("{}, pid {}, died of signal {} ({}){}", rank.title(), rank.gate.pid, signal,
                                         strsignal(signal), text.substr(0, end));
  std::string what = fmt::format("{}, {}, {}{}", ending,
                                 rank.phase == Rank::Phase::loading ? "in a constructor, before main" : "running",
                                 simulated_now(), text.substr(end));
  what.pop_back();
  finish(rank);
  fail(exit_code::signalled + signal, ending, what);
  end_threads(rank);
}

void Job::aborted(Rank& rank, int status, const char* call, const char* message)
{
  const int code = status & 0xff; // 0 as well, as mpirun
  rank.end.status = code;
  finish(rank);
  fail(code, fmt::format("{} called {}", rank.title(), call),
       fmt::format("{} called {} with code {} at {}; the job is ended{}{}", rank.title(), call, status, simulated_now(),
                   message != nullptr && *message != '\0' ? ": " : "", message != nullptr ? message : ""));
  end_threads(rank);
}

void Job::fail(int exit_code, const std::string& ending, const std::string& text)
{
  if (over_)
    return;
  over_ = true;
  outcome_ = {exit_code, ending};
  say(text);
  scheduler_.stop();
}

void Job::abandon()
{
  scheduler_.end_current();
}

Rank* Job::current() const
{
  const engine::Actor* actor = scheduler_.current();
  return actor != nullptr ? &static_cast<Thread*>(actor->owner)->rank : nullptr;
}

// --- services --------------------------------------------------------------------------------------------------------

void Job::fence(Rank& rank)
{
  meet(rank, members_of(*rank.facts));
}

void Job::arrive_at_fence(Rank& rank)
{
  arrive(rank, members_of(*rank.facts));
}

void Job::meet(Rank& rank, const std::vector<std::size_t>& members)
{
  const std::shared_ptr<bootstrap::Meeting> meeting = arrive(rank, members);
  while (!meeting->over) {
    rank.wait(sim::never);
    rank.act_on_signals();
  }
}

std::shared_ptr<bootstrap::Meeting> Job::arrive(Rank& rank, const std::vector<std::size_t>& members)
{
  keys_.commit(static_cast<std::size_t>(rank.index));
  std::shared_ptr<bootstrap::Meeting> meeting = meetings_.arrive(static_cast<std::size_t>(rank.index), members);
  if (!bootstrap::Meetings::complete(*meeting))
    return meeting;
  auto event = std::find_if(meetings_over_.begin(), meetings_over_.end(),
                            [](const MeetingOver& each) { return !each.pending(); });
  if (event == meetings_over_.end()) {
    meetings_over_.emplace_back(*this);
    event = meetings_over_.end() - 1;
  }
  event->meeting = meeting;
  std::set<std::uint32_t> nodes;
  for (const std::size_t member : members)
    nodes.insert(ranks_[member]->node);
  timeline_.schedule_in(*event, bootstrap::fence_time(nodes.size()));
  return meeting;
}

void Job::meeting_over(bootstrap::Meeting& meeting)
{
  polling_.progress();
  meeting.over = true;
  const bootstrap::Namespace& space = namespaces_.of(meeting.members.front());
  const bool whole_job = meeting.members.size() == space.size && meeting.members.front() == space.first &&
                         meeting.members.back() == space.first + space.size - 1;
  for (const std::size_t member : meeting.members) {
    Rank& rank = *ranks_[member];
    if (whole_job)
      rank.pmi->fence_over();
    rank.notify_all();
  }
}

Thread& Job::add_thread(Rank& rank, const std::vector<unsigned>& allowed)
{
  auto thread = std::make_unique<Thread>(rank, rank.threads_made++);
  thread->place.allowed = allowed;
  // The core with the fewest living threads of the rank.
  std::vector<unsigned> users(plan_.platform->node(rank.node).cores);
  for (const auto& other : rank.threads)
    users[other->place.core] += !other->ended();
  thread->place.core = *std::min_element(allowed.begin(), allowed.end(),
                                         [&users](unsigned a, unsigned b) { return users[a] < users[b]; });
  if (workers_) {
    const auto slot = rank.threads.empty() ? std::optional(rank.main_slot) : workers_->take_slot(rank.worker);
    if (!slot)
      throw std::system_error(EAGAIN, std::generic_category(), "slot of a thread");
    thread->channel = std::make_unique<Channel>(*thread, rank.worker, *slot);
  } else {
    thread->here = &own_process_.add_thread(rank.hosted);
  }
  rank.threads.push_back(std::move(thread));
  rank.awake.push_back(rank.threads.back().get());
  return *rank.threads.back();
}

// Of threads that have ended nothing is kept: a rank may make any number of them, one after another.
void Job::clear_away_ended(Rank& rank)
{
  std::erase_if(rank.threads, [this](const auto& thread) {
    if (thread->number == 0 || !thread->ended())
      return false;
    if (thread->here != nullptr)
      own_process_.remove_thread(*thread->here);
    scheduler_.release(*thread->actor);
    return true;
  });
}

int Job::create_thread(Rank& rank, umw_thread_start start, void* argument, std::size_t bytes,
                       std::uint64_t thread_pointer, std::int32_t kernel_id)
{
  const std::vector<unsigned> allowed = rank.running().place.allowed; // inherited, pthread_create(3)
  clear_away_ended(rank);
  const unsigned number = rank.threads_made;
  try {
    Thread& thread = add_thread(rank, allowed);
    thread.tid = UMW_FIRST_THREAD_ID + thread_ids_++;
    thread.blocked = rank.running().blocked; // pthread_create(3)
    const std::string name = fmt::format("{} thread {}", rank.title(), thread.number);
    if (thread.here != nullptr) {
      thread.here->thread_pointer = thread_pointer;
      thread.here->kernel_id = kernel_id;
      thread.actor = thread.here->fiber = &scheduler_.spawn(
          name,
          [this, &thread, start, argument] {
            thread.rank.leave();
            own_process_.live(*thread.here, start, argument);
          },
          std::max(bytes, rank_host::smallest_stack));
    } else { // the worker process is to know the slot
      rank.running().channel->tell_slot(thread.channel->slot());
      thread.actor = &scheduler_.spawn(
          name, [&thread] { thread.channel->live(); }, stand_in_stack);
    }
    thread.id = thread_pointer;
    thread.actor->owner = &thread;
  } catch (const std::exception&) {
    std::erase_if(rank.awake, [number](const Thread* thread) { return thread->number == number; });
    if (const auto& last = rank.threads.back(); last->number == number) {
      if (last->here != nullptr)
        own_process_.remove_thread(*last->here);
      rank.threads.pop_back();
    }
    return -EAGAIN;
  }
  return rank.threads.back()->tid;
}

void Job::end_thread(Rank& rank)
{
  ++rank.gate.wakes;
  rank.notify_all();
  if (const auto& channel = rank.running().channel)
    workers_->give_slot(channel->worker(), channel->slot());
  rank.falls_asleep(rank.running());
  scheduler_.end_current();
}

bool Job::join_thread(Rank& rank, std::uint64_t id, bool wait)
{
  const auto lives = [&rank, id] {
    return std::any_of(rank.threads.begin(), rank.threads.end(),
                       [id](const auto& thread) { return thread->number > 0 && thread->id == id && !thread->ended(); });
  };
  while (lives()) {
    if (!wait)
      return false;
    rank.wait(sim::never);
  }
  return true;
}

int Job::get_affinity(Rank& rank, std::int32_t tid, unsigned char* bits, std::size_t bytes)
{
  const Thread* thread = find_thread(rank, tid);
  if (thread == nullptr)
    return -ESRCH;
  const std::size_t needed = (plan_.platform->node(rank.node).cores + 63) / 64 * 8; // whole words, sched_setaffinity(2)
  if (bytes < needed)
    return -EINVAL;
  std::memset(bits, 0, needed);
  for (const unsigned core : thread->place.allowed)
    bits[core / 8] = static_cast<unsigned char>(bits[core / 8] | 1U << core % 8);
  return static_cast<int>(needed);
}

int Job::set_affinity(Rank& rank, std::int32_t tid, const unsigned char* bits, std::size_t bytes)
{
  Thread* thread = find_thread(rank, tid);
  if (thread == nullptr)
    return -ESRCH;
  std::vector<unsigned> cores;
  for (unsigned core = 0; core < plan_.platform->node(rank.node).cores && core / 8 < bytes; ++core)
    if ((bits[core / 8] >> core % 8 & 1) != 0)
      cores.push_back(core);
  if (cores.empty())
    return -EINVAL;
  thread->place.allowed = std::move(cores);
  if (thread == &rank.running()) // others move with their next burst
    thread->choose_core();
  return 0;
}

Thread* Job::find_thread(Rank& rank, std::int32_t tid)
{
  if (tid == 0)
    return &rank.running();
  for (const auto& thread : rank.threads)
    if (thread->tid == tid && !thread->ended())
      return thread.get();
  return nullptr;
}

// One of its own: the program may close what it has.
int Job::descriptor_of(const Rank& rank, int fd)
{
  if (workers_)
    return workers_->descriptor_of(rank.worker, fd);
  const int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  if (own >= 0 && own < UMW_DESCRIPTORS)
    rank_host::descriptor_owners()[own] = UMW_OWN_DESCRIPTOR;
  return own < 0 ? -errno : own;
}

void Job::warn(const Rank& rank, const std::string& text)
{
  if (plan_.options.verbosity >= 0 && warned_.insert(text).second)
    say(fmt::format("{}: {}", rank.title(), text));
}

void Job::trace_call(const Rank& rank, const char* name)
{
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin_;
  output_.write(2, fmt::format("umwelt: wall {:.6f} simulated {:.9f} {} rank {}{} {}\n", wall.count(),
                               sim::to_seconds(timeline_.now()), rank.gate.host_name, rank.index,
                               rank.running().number == 0 ? "" : " (thread)", name));
}

// --- the whole -------------------------------------------------------------------------------------------------------

std::string Job::simulated_now() const
{
  return fmt::format("simulated time {:.6f} s", sim::to_seconds(end_of_time()));
}

void Job::say(const std::string& text)
{
  output_.pass_on();
  for (const auto& rank : ranks_)
    rank->output->pass_on(false);
  output_.write(2, fmt::format("umwelt: {}\n", text));
}

rank_host::Thread* OwnProcess::running() const
{
  const engine::Actor* actor = job_.scheduler().current();
  return actor != nullptr ? static_cast<Thread*>(actor->owner)->here : nullptr;
}

void OwnProcess::request(rank_host::Thread& thread, std::uint32_t operation, void* arguments)
{
  const SimTime measured = end_burst(thread);
  Rank& rank = *job_.current();
  // At the end of a run a rank whose calls take no time would not come to where that is seen.
  if (job_.server().serve(rank, operation, arguments, measured) || job_.scheduler().stopping())
    job_.scheduler().yield();
  rank.leave();
}

void OwnProcess::on_request(int signal, const ucontext_t* context)
{
  job_.interrupt(signal, context);
  alarm(1); // to see whether it gets there
  if (context != nullptr)
    job_.abandon();
}

void OwnProcess::on_own_fault(int signal, const siginfo_t& information, const ucontext_t& context)
{
  job_.failed(signal, information, context);
}

// The runtime's state can no longer be trusted, so only a message and the way out. What is left on disk the janitor
// removes.
void Job::failed(int signal, const siginfo_t& information, const ucontext_t& context)
{
  if (signal == SIGPIPE)
    _exit(exit_code::signalled + SIGPIPE);
  output_.rescue();
  const Rank* rank = current();
  std::array<char, 1024> text;
  const char* description = sigdescr_np(signal);
  const auto end =
      rank != nullptr && (signal == SIGSEGV || signal == SIGBUS)
          ? fmt::format_to_n(
                text.begin(), text.size(),
                "umwelt: rank {} ({}) died of signal {} ({}) while the simulated NIC or runtime worked on its memory "
                "in {}: address {} is not accessible. Next step: check the buffers passed to that call; if they are "
                "right, this is a bug of Umwelt\n",
                rank->index, &rank->gate.host_name[0], signal, description, rank->last_call(), information.si_addr)
          : fmt::format_to_n(text.begin(), text.size(),
                             "umwelt: the simulation itself failed with signal {} ({}): a bug of Umwelt\n", signal,
                             description);
  diagnose::write_raw({text.data(), static_cast<std::size_t>(end.out - text.begin())});
  diagnose::end_with_backtrace(context, rank != nullptr && signal == SIGSEGV ? exit_code::signalled + signal
                                                                             : exit_code::failure);
}

void Job::interrupt(int signal, const ucontext_t* context)
{
  const Thread* running = context != nullptr ? static_cast<Thread*>(scheduler_.current()->owner) : nullptr;
  if (interruption_.ask(signal, running, context))
    scheduler_.stop();
}

// One paragraph per rank: what it is in, since when, and how it got there.
std::string Job::where_everyone_is()
{
  std::string text;
  const std::vector<std::vector<std::string>> reports = reports_of_workers();
  for (const auto& rank : ranks_) {
    if (rank->phase == Rank::Phase::ended) {
      text += fmt::format("  {}: ended at {:.6f} s\n", rank->title(), sim::to_seconds(rank->finished));
      continue;
    }
    for (const auto& thread : rank->threads) {
      interruption_.moves();
      if (thread.get() == interruption_.interrupted())
        text += fmt::format("  {}{}: running\n{}", rank->title(),
                            thread->number > 0 ? fmt::format(" thread {}", thread->number) : "",
                            diagnose::backtrace_of(interruption_.context()));
      if (thread->ended())
        continue;
      const PollState& poll = thread->poll;
      const SimTime since = std::min(poll.parked ? poll.since : thread->actor->blocked_since(), end_of_time());
      text += fmt::format("  {}{}: in {} since {:.6f} s{}\n", rank->title(),
                          thread->number > 0 ? fmt::format(" thread {}", thread->number) : "", thread->last_call,
                          sim::to_seconds(since), poll.parked ? ", polling" : "");
      if (thread->channel)
        text += reports[thread->channel->worker()][thread->channel->slot()];
      else
        scheduler_.visit(*thread->actor, [&text] { text += diagnose::backtrace_here(); });
    }
  }
  return text;
}

// Nothing is ready and nothing is due, but for helper threads that look at a pipe now and then. Before this is a
// deadlock, the ranks that poll are let round many times, then time is moved on to the helper threads.
bool Job::stalled()
{
  if (polling_.another_round())
    return true;
  if (!idleness_.stalled() && scheduler_.wake_background([](const engine::Actor& actor) {
        return !static_cast<const Thread*>(actor.owner)->poll.parked; // those see nothing new until somebody else runs
      }))
    return true;
  if (running_ > 0)
    deadlocked();
  return false;
}

void Job::timed_out(Thread& thread)
{
  if (!idleness_.timed_out(thread))
    return;
  deadlocked();
  scheduler_.block();
}

// The report is of the moment when it all began.
void Job::deadlocked()
{
  ended_at_ = idleness_.since();
  const std::vector<observe::RankStatistics> figures = idleness_.statistics();
  for (std::size_t i = 0; i < figures.size(); ++i)
    ranks_[i]->statistics = figures[i];
  std::vector<WaitingThread> waiting;
  for (const auto& rank : ranks_)
    for (const auto& thread : rank->threads)
      if (!thread->ended())
        waiting.push_back({rank->index, thread->number == 0, thread->last_call,
                           thread->actor->has_deadline() && !thread->poll.parked});
  fail(exit_code::deadlock, "deadlock",
       fmt::format("deadlock at {}: no rank can go on, and nothing is under way that could change that\n{}{}",
                   simulated_now(), where_everyone_is(), next_steps(waiting)));
}

Outcome Job::run()
{
  if (!workers_)
    own_process_.begin(plan_.options.quantum);
  scheduler_.run();
  if (!workers_)
    own_process_.end();
  interruption_.moves();
  if (!over_ && interruption_.asked()) {
    over_ = true;
    const int signal = interruption_.signal();
    if (interruption_.is_timeout()) {
      outcome_ = {interruption_.exit_code(), "--timeout ran out"};
      say(fmt::format(
          "--timeout of {} s ran out at {}; the job is ended\n{}Next step: a larger --timeout, or look where "
          "the ranks are",
          *plan_.options.timeout, simulated_now(), where_everyone_is()));
    } else {
      outcome_ = {interruption_.exit_code(), fmt::format("stopped by {}", strsignal(signal))};
      say(fmt::format("stopped by signal {} ({}) at {}", signal, strsignal(signal), simulated_now()));
    }
  }
  for (const auto& rank : ranks_)
    if (rank->phase != Rank::Phase::ended && rank->main().actor->state() == engine::Actor::State::blocked)
      rank->tell_trace(observe::RankState::waiting,
                       std::max(rank->main().actor->blocked_since(), rank->main().ahead_until), end_of_time());
  if (workers_)
    workers_->stop();
  output_.pass_on();
  for (const auto& rank : ranks_)
    rank->output->pass_on(true);
  output_.erase_progress();
  return outcome_;
}

bool Job::finish_output()
{
  bool whole = true;
  for (const auto& rank : ranks_) {
    try {
      rank->output->finish();
    } catch (const std::runtime_error& error) {
      fmt::print(stderr, "umwelt run: {}\n", error.what());
      whole = false;
    }
  }
  return whole;
}

observe::JobRecord Job::record(const Outcome& outcome, double wall_seconds) const
{
  observe::JobRecord record;
  record.version = UMWELT_VERSION;
  for (const std::vector<std::string>& command : commands_)
    record.programs.push_back(fmt::format("{}", fmt::join(command, " ")));
  record.platform = plan_.platform->name();
  record.nodes = plan_.platform->node_count();
  record.model = plan_.options.model;
  const engine::CpuPolicy& cpu = plan_.options.cpu;
  using Kind = engine::CpuPolicy::Kind;
  record.cpu_policy = cpu.kind == Kind::measured ? "measured"
                      : cpu.kind == Kind::none   ? "none"
                      : cpu.kind == Kind::fixed  ? fmt::format("fixed={}", cpu.fixed / sim::nanosecond)
                                                 : fmt::format("scale={}", cpu.scale);
  record.seed = plan_.options.seed;
  record.exit_code = outcome.exit_code;
  record.ending = outcome.ending;
  record.timeline_events = timeline_.fired();
  for (const auto& rank : ranks_) {
    observe::RankRecord entry;
    entry.host = rank->gate.host_name;
    entry.program = rank->program;
    entry.job = rank->facts->space->number;
    entry.number = static_cast<unsigned>(rank->number);
    entry.finished = rank->phase == Rank::Phase::ended ? rank->finished : end_of_time();
    entry.exit_status = rank->end.status;
    entry.signal = rank->end.signal;
    entry.statistics = rank->statistics;
    record.simulated = std::max(record.simulated, entry.finished);
    record.ranks.push_back(std::move(entry));
  }
  record.host.wall_seconds = wall_seconds;
  rusage own{};
  getrusage(RUSAGE_SELF, &own);
  for (const rusage& usage : {own, workers_ ? workers_->usage() : rusage{}}) {
    record.host.cpu_seconds += static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                               1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    record.host.peak_resident_bytes += static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  }
  return record;
}

} // namespace umwelt::job
