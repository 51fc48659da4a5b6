// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/job.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net_models/parameters.h"
#include "runtime/cell/cell_process.h"
#include "runtime/cli/machine_limits.h"
#include "runtime/cli/usage_error.h"
#include "runtime/diagnose/backtrace.h"
#include "runtime/diagnose/symbols.h"
#include "runtime/gate/dispatch.h"
#include "runtime/job/channel.h"
#include "runtime/job/environment.h"
#include "runtime/job/pmi_socket.h"
#include "runtime/job/standard_output.h"
#include "runtime/portals/process.h"

namespace umwelt::job
{

namespace
{

constexpr int first_pid = 1000;                     // of the simulated world
constexpr int launcher_pid = 900;                   // parent of a node's ranks
constexpr std::size_t stand_in_stack = 256UL << 10; // of the actor for a thread in a cell; bytes
constexpr unsigned most_background_rounds = 64;     // wake-ups of helper threads before a deadlock is called

// A generator's first step (splitmix64) on seed and rank; never 0.
std::uint64_t rank_seed(std::uint64_t seed, int rank)
{
  std::uint64_t z = seed + 0x9e3779b97f4a7c15ULL * (static_cast<std::uint64_t>(rank) + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return (z ^ (z >> 31)) | 1;
}

// The key-value space of PMI that every rank begins with.
std::string kvs_name()
{
  return std::string(bootstrap::kvs_prefix) + job_name;
}

net::Parameters nic_parameters(const cli::RunOptions& options)
{
  net::Parameters parameters;
  for (const auto& [key, value] : options.nic) {
    if (key.starts_with('@'))
      parameters.add_file(key.substr(1));
    else
      parameters.set(key, value, "--nic");
  }
  return parameters;
}

net::NodeParameters node_parameters(const cli::RunOptions& options)
{
  net::Parameters parameters;
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

Job::Job(const Plan& plan, loader::PrivateFolder& folder)
    : plan_(plan), folder_(folder), cores_(scheduler_, plan_.platform->node_count()),
      cpu_(plan_.options.cpu, plan_.options.cpu_threshold, plan_.options.cpu_first_touch),
      own_process_(*this, scheduler_, cpu_),
      fabric_(timeline_, host_, static_cast<net::NodeIndex>(plan_.platform->node_count())),
      sockets_(timeline_, socket_host_, static_cast<net::NodeIndex>(plan_.platform->node_count())),
      shared_memory_(*this, node_parameters(plan_.options)), counter_(ranks_), files_(*this, folder.path()),
      keys_(plan_.placement.ranks.size()), spaces_(plan_.placement.ranks.size()), fence_(plan_.placement.ranks.size()),
      progress_(stderr)
{
  const net::Parameters parameters = nic_parameters(plan_.options);
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
  scheduler_.on_beat = [this] { progress_.update(timeline_.now(), timeline_.fired()); };
  make_ranks();
}

Job::~Job()
{
  processes_.clear(); // before the fabric
  if (cells_)
    return;
  for (const umw_gate& gate : gates_) // who reads what ranks have written waits for the end of it
    for (const int fd : gate.standard_fds)
      if (fd > 2)
        close(fd);
}

void Job::make_ranks()
{
  null_fd_ = open("/dev/null", O_RDWR | O_CLOEXEC);
  node_list_ = node_list(plan_.placement);
  for (std::size_t i = 0; i < plan_.programs.size(); ++i) {
    const std::string& folder = plan_.programs[i].folder;
    folders_.push_back(std::make_shared<world::Folder>(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)));
    if (folders_.back()->fd() < 0)
      throw cli::UsageError("-wdir " + folder, "a folder", std::strerror(errno), "create it or name another");
  }
  plan_cells();
  share_descriptors();
  for (std::size_t i = 0; i < plan_.placement.ranks.size(); ++i) {
    umw_gate& gate = cells_ ? cells_->board().gate(static_cast<unsigned>(i)) : gates_[i];
    ranks_.push_back(std::make_unique<Rank>(*this, static_cast<int>(i), gate));
    make_rank(*ranks_.back());
  }
  for (std::size_t i = 0; i < plan_.cells.size(); ++i)
    for (const unsigned rank : plan_.cells[i])
      ranks_[rank]->carrier = static_cast<unsigned>(i);
  if (cells_)
    start_cells();
  for (const auto& rank : ranks_)
    seat(*rank);
  running_ = ranks_.size();
  std::vector<std::uint32_t> nodes;
  for (const auto& rank : ranks_)
    nodes.push_back(rank->node);
  spaces_[kvs_name()].add("PMI_process_mapping", bootstrap::process_mapping(nodes));
}

// Each rank may open as many as a program may, if this process, or a cell, can have as many for all of its ranks.
void Job::share_descriptors()
{
  std::uint64_t ranks = plan_.placement.ranks.size();
  if (cells_) {
    ranks = 0;
    for (const auto& cell : plan_.cells)
      ranks = std::max<std::uint64_t>(ranks, cell.size());
  }
  constexpr std::uint64_t most = 1UL << 20; // the kernel's own bound, fs.nr_open
  const std::uint64_t limit =
      cli::extend_descriptor_limit(std::min(most, plan_.own_descriptors + ranks * std::min(plan_.descriptors, most)));
  descriptors_per_rank_ = (limit - std::min(limit, plan_.own_descriptors)) / ranks;
}

void Job::make_rank(Rank& rank)
{
  const auto index = static_cast<std::size_t>(rank.index);
  const cli::RankPlace& place = plan_.placement.ranks[index];
  const unsigned own_program = plan_.program_of_rank[index];
  const ProgramPlan& program = plan_.programs[own_program];
  const platform::Node& node = plan_.platform->node(place.node);
  rank.program = place.program;
  rank.node = place.node;
  rank.world.speed = node.speed;
  rank.world.argv = program.program.argv;
  rank.world.program_path = program.program.path;
  rank.session_folder = files_.session(place.node);
  std::size_t app_ranks = 0;
  for (std::size_t other = 0; other < plan_.placement.ranks.size(); ++other) {
    app_ranks += plan_.placement.ranks[other].program == place.program;
    if (plan_.placement.ranks[other].node == place.node)
      rank.local_peers += fmt::format("{}{}", rank.local_peers.empty() ? "" : ",", other);
  }

  umw_gate& gate = rank.gate;
  gate.version = UMW_GATE_VERSION;
  gate.size = sizeof gate;
  gate.cross = gate::cross;
  cpu_.set_up(gate.clock);
  gate.rank = rank.index;
  gate.ranks = static_cast<std::int32_t>(plan_.placement.ranks.size());
  gate.local_rank = static_cast<std::int32_t>(place.local_rank);
  gate.local_ranks = static_cast<std::int32_t>(plan_.placement.local_sizes[place.node]);
  gate.node = static_cast<std::int32_t>(place.node);
  gate.nodes = static_cast<std::int32_t>(std::count_if(
      plan_.placement.local_sizes.begin(), plan_.placement.local_sizes.end(), [](unsigned n) { return n > 0; }));
  gate.core = static_cast<std::int32_t>(place.core);
  gate.cores = static_cast<std::int32_t>(node.cores);
  gate.sockets = static_cast<std::int32_t>(node.sockets);
  gate.memory = node.memory;
  gate.pid = first_pid + rank.index;
  gate.parent_pid = launcher_pid;
  const std::string& host = plan_.placement.hostnames[place.node];
  host.copy(gate.host_name, UMW_HOST_NAME_MAX);
  std::snprintf(gate.job_name, sizeof gate.job_name, "%s", job_name);
  gate.program = rank.world.program_path.c_str();
  gate.argv0 = rank.world.argv.front().c_str();
  gate.local_peers = rank.local_peers.c_str();
  gate.node_list = node_list_.c_str();
  gate.session_folder = rank.session_folder.c_str();
  gate.machine_folder = files_.machine(place.node).folder().c_str();
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

  rank.output = std::make_unique<StandardOutput>(plan_.options, rank.index, gate.ranks);
  // Descriptors of its own, since programs close theirs (all of coreutils do, at exit).
  std::array<int, 3> lead_to = {rank.index == 0 ? 0 : null_fd_, rank.output->descriptor(1), rank.output->descriptor(2)};
  for (std::size_t i = 0; i < lead_to.size(); ++i)
    if (const int redirected = plan_.in_wrapper[index].streams[i]; redirected >= 0)
      lead_to[i] = redirected;
  for (std::size_t i = 0; i < lead_to.size(); ++i)
    gate.standard_fds[i] = fcntl(lead_to[i], F_DUPFD_CLOEXEC, 3);

  rank.pmi = std::make_unique<PmiSocket>(rank, bootstrap::PmiFacts{kvs_name(), plan_.placement.ranks.size(), gate.app},
                                         spaces_);
  rank.world.folder = folders_[own_program];
  rank.world.interpreter = program.program.interpreter;
  rank.world.shim = plan_.shim;
  rank.world.linked_at = program.program.linked_at;
  rank.world.environment = program.environment;
  LauncherFacts launcher = launcher_facts(plan_.placement, index);
  launcher.pmi_fd = gate.pmi_fd;
  add_launcher_variables(rank.world.environment, launcher);
  add_topology_variables(rank.world.environment, files_.machine(place.node).topology());
  if (program.folder != std::filesystem::current_path())
    set_variable(rank.world.environment, "PWD", program.folder);

  const std::array<std::pair<const char*, std::string>, 4> facts = {
      {{"umwelt.host", host},
       {"umwelt.node", fmt::format("{}", gate.node)},
       {"umwelt.local_rank", fmt::format("{}", gate.local_rank)},
       {"umwelt.app", fmt::format("{}", gate.app)}}};
  for (const auto& [key, value] : facts)
    keys_.tell(index, key, value);
}

// After the cells have been forked: what follows is the runtime's alone.
void Job::seat(Rank& rank)
{
  const cli::RankPlace& place = plan_.placement.ranks[static_cast<std::size_t>(rank.index)];
  processes_.push_back(std::make_unique<portals::Process>(
      fabric_, place.node, static_cast<std::uint32_t>(rank.index), static_cast<ptl_uid_t>(getuid()),
      cells_ ? portals::Memory(cells_->pid(rank.carrier), rank.gate.shared) : portals::Memory()));
  rank.portals = processes_.back().get();
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
        world::main_stack());
  else
    main.actor = &scheduler_.spawn(
        rank.title(), [&main] { main.channel->live(); }, stand_in_stack);
  main.actor->owner = &main;
}

// --- cells -----------------------------------------------------------------------------------------------------------

void Job::plan_cells()
{
  const auto ranks = static_cast<unsigned>(plan_.placement.ranks.size());
  if (plan_.cells.empty()) {
    gates_.resize(ranks);
    return;
  }
  const auto count = static_cast<unsigned>(plan_.cells.size());
  cells_ = std::make_unique<cell::Cells>(count, ranks, plan_.options.jobs);
  channels_.resize(count, std::vector<Channel*>(cell::slots_per_cell));
  staying_.resize(count);
}

void Job::start_cells()
{
  std::vector<std::vector<cell::CellProcess::Seat>> seats(plan_.cells.size());
  for (const auto& rank : ranks_)
    seats[rank->carrier].push_back({&rank->world, *cells_->take_slot(rank->carrier)});
  const bool same_addresses =
      std::any_of(plan_.programs.begin(), plan_.programs.end(), [](const ProgramPlan& p) { return p.same_addresses; });
  cells_->start(
      [this, &seats](unsigned index) {
        for (const auto& rank : ranks_) {
          rank->pmi->keep(rank->carrier == index ? PmiSocket::End::of_rank : PmiSocket::End::none);
          if (rank->carrier != index)
            for (const int fd : rank->gate.standard_fds)
              close(fd);
        }
        cell::CellProcess process(*cells_, index, cpu_);
        process.run(seats[index], plan_.options.quantum);
      },
      !same_addresses);
  // Container runtimes and security modules may forbid it.
  std::uint32_t version = 0;
  if (!portals::Memory(cells_->pid(0)).read(&version, &plan_, sizeof version))
    throw loader::Refusal(
        loader::Refusal::Kind::not_runnable,
        fmt::format(
            "ranks in cells: expected to reach their memory with process_vm_readv(2), got: {}. Next step: run with "
            "the capability SYS_PTRACE (docker run --cap-add SYS_PTRACE), or with "
            "--cells 0",
            std::strerror(errno)));
  for (const auto& rank : ranks_) {
    rank->pmi->keep(PmiSocket::End::of_runtime);
    for (const int fd : rank->gate.standard_fds)
      close(fd);
  }
}

void Job::connect(Channel& channel)
{
  channels_[channel.cell()][channel.slot()] = &channel;
}

void Job::disconnect(const Channel& channel)
{
  Channel*& entry = channels_[channel.cell()][channel.slot()];
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

bool Job::hear_from_cells(std::int64_t nanoseconds)
{
  const auto arrived = [this](unsigned cell, unsigned slot) {
    if (Channel* channel = channels_[cell][slot])
      channel->arrive();
  };
  bool any = cells_->collect(arrived);
  if (!any && nanoseconds > 0) {
    cells_->wait(nanoseconds);
    any = cells_->collect(arrived);
  }
  if (const auto death = cells_->death()) {
    cell_died(*death);
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
  if (hear_from_cells(0))
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
  using Progress = cell::Cells::Progress;
  const Progress progress = behind != nullptr ? cells_->progress(behind->cell(), behind->slot()) : Progress::held_back;
  if (progress == Progress::computes)
    hear_from_cells(std::clamp(left, shortest, longest));
  else if (progress == Progress::held_back)
    hear_from_cells(longest); // somebody of another cell comes first
  else if (!hear_from_cells(std::clamp(left / 4, shortest, enough)))
    cells_->hurry(behind->cell(), behind->slot());
  return true;
}

void Job::cell_died(const cell::Cells::Death& death)
{
  const bool killed = WIFSIGNALED(death.status);
  const int number = killed ? WTERMSIG(death.status) : WEXITSTATUS(death.status);
  const std::string how = killed ? fmt::format("was killed by signal {} ({})", number, strsignal(number))
                                 : fmt::format("ended with exit code {}", number);
  std::string text;
  std::string first;
  for (const unsigned index : plan_.cells[death.cell]) {
    Rank& rank = *ranks_[index];
    if (rank.phase == Rank::Phase::ended)
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
  fail(killed ? cli::exit_code::signalled + number : cli::exit_code::failure,
       fmt::format("the process of {} {}", first, how),
       fmt::format("the process (cell {}) of {} rank{} {} at {}; the job is ended\n{}{}", death.cell,
                   plan_.cells[death.cell].size(), plan_.cells[death.cell].size() == 1 ? "" : "s", how, simulated_now(),
                   text, next_step));
}

// Backtraces of threads in cells, by cell and slot.
std::vector<std::vector<std::string>> Job::reports_of_cells()
{
  std::vector<std::vector<std::string>> reports;
  for (unsigned index = 0; cells_ && index < cells_->count(); ++index) {
    std::vector<std::string>& texts = reports.emplace_back(cell::slots_per_cell);
    std::istringstream report(cells_->report(index));
    std::size_t slot = 0;
    for (std::string line; std::getline(report, line);)
      if (!line.starts_with(' '))
        slot = std::min<std::size_t>(std::strtoul(line.c_str(), nullptr, 10), cell::slots_per_cell - 1);
      else
        texts[slot] += line + '\n';
  }
  return reports;
}

// --- life of a rank --------------------------------------------------------------------------------------------------

void Job::not_loaded(Rank& rank, const char* message, bool gave_up)
{
  fail(gave_up ? cli::exit_code::not_found : cli::exit_code::refused, "a program could not be loaded",
       fmt::format("{}: {} cannot be loaded: {}. Next step: `ldd {}`; if the libraries are there, `umwelt doctor`",
                   rank.title(), rank.world.argv.front(), message, rank.world.program_path));
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
  sockets_.close_all(static_cast<std::uint32_t>(rank.index));
  rank.timers.stop();
  rank.output->pass_on(true);
  files_.ended(rank);
  --running_;
  polling_.progress();
}

// The rank's other threads end where they are, and the calling one for good.
void Job::leave_world(Rank& rank)
{
  for (const auto& thread : rank.threads)
    if (thread->actor != scheduler_.current()) {
      cores_.at(rank.node, thread->place.core).forget(*thread->actor);
      futexes_.forget(*thread);
      shared_memory_.forget(*thread->actor);
      shared_objects_.forget(*thread);
      if (thread->channel)
        thread->channel->close();
      scheduler_.kill(*thread->actor);
    }
  scheduler_.end_current();
}

void Job::exited(Rank& rank, int status)
{
  rank.end.status = status;
  finish(rank);
  const bool wrapper_goes_on = plan_.in_wrapper[static_cast<std::size_t>(rank.index)].is && !rank.joined;
  if (status != 0 && !wrapper_goes_on)
    fail(status, fmt::format("{} ended with exit code {}", rank.title(), status),
         fmt::format("{} ended with exit code {} at {}{}", rank.title(), status, simulated_now(),
                     running_ > 0 ? "; the job is ended" : ""));
  else if (rank.joined)
    fail(1, fmt::format("{} ended without MPI_Finalize", rank.title()),
         fmt::format(
             "{} ended with exit code 0 at {}, expected it to call MPI_Finalize (PMIx_Finalize) first. Next step: "
             "call it on every path out of main",
             rank.title(), simulated_now()));
  else if (rank.pmi->unfinished())
    warn(rank, "ended with exit code 0, expected cmd=finalize on PMI_FD first. Next step: call PMI_Finalize (what the "
               "program's "
               "library has for it) on every path out of main");
  leave_world(rank);
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
  fail(cli::exit_code::signalled + signal, ending, what);
  leave_world(rank);
}

void Job::aborted(Rank& rank, int status, const char* call, const char* message)
{
  const int code = status & 0xff; // 0 as well, as mpirun
  rank.end.status = code;
  finish(rank);
  fail(code, fmt::format("{} called {}", rank.title(), call),
       fmt::format("{} called {} with code {} at {}; the job is ended{}{}", rank.title(), call, status, simulated_now(),
                   message != nullptr && *message != '\0' ? ": " : "", message != nullptr ? message : ""));
  leave_world(rank);
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
  rank.in_fence = true;
  arrive_at_fence(rank);
  while (rank.in_fence) {
    rank.wait(sim::never);
    rank.act_on_signals();
  }
}

void Job::arrive_at_fence(Rank& rank)
{
  keys_.commit(static_cast<std::size_t>(rank.index));
  if (fence_.arrive())
    timeline_.schedule_in(fence_over_, bootstrap::fence_time(static_cast<std::uint64_t>(rank.gate.nodes)));
}

void Job::fence_over()
{
  polling_.progress();
  for (const auto& rank : ranks_) {
    rank->in_fence = false;
    rank->pmi->fence_over();
    rank->notify_all();
  }
}

Thread& Job::add_thread(Rank& rank, const std::vector<unsigned>& allowed)
{
  auto thread = std::make_unique<Thread>(rank, static_cast<unsigned>(rank.threads.size()));
  thread->place.allowed = allowed;
  // The core with the fewest living threads of the rank.
  std::vector<unsigned> users(plan_.platform->node(rank.node).cores);
  for (const auto& other : rank.threads)
    users[other->place.core] += !other->ended();
  thread->place.core = *std::min_element(allowed.begin(), allowed.end(),
                                         [&users](unsigned a, unsigned b) { return users[a] < users[b]; });
  if (cells_) {
    const auto main_slot = static_cast<unsigned>(
        std::find(plan_.cells[rank.carrier].begin(), plan_.cells[rank.carrier].end(), rank.index) -
        plan_.cells[rank.carrier].begin());
    const auto slot = rank.threads.empty() ? main_slot : cells_->take_slot(rank.carrier);
    if (!slot)
      throw std::system_error(EAGAIN, std::generic_category(), "slot of a thread");
    thread->channel = std::make_unique<Channel>(*thread, rank.carrier, *slot);
  } else {
    thread->here = &own_process_.add_thread(rank.world);
  }
  rank.threads.push_back(std::move(thread));
  rank.awake.push_back(rank.threads.back().get());
  return *rank.threads.back();
}

int Job::create_thread(Rank& rank, umw_thread_start start, void* argument, std::size_t bytes,
                       std::uint64_t thread_pointer, std::int32_t kernel_id)
{
  const std::vector<unsigned> allowed = rank.running().place.allowed; // inherited, pthread_create(3)
  const std::size_t before = rank.threads.size();
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
          std::max(bytes, world::smallest_stack));
    } else { // the cell is to know the slot
      rank.running().channel->tell_slot(thread.channel->slot());
      thread.actor = &scheduler_.spawn(
          name, [&thread] { thread.channel->live(); }, stand_in_stack);
    }
    thread.id = thread_pointer;
    thread.actor->owner = &thread;
  } catch (const std::exception&) {
    std::erase_if(rank.awake, [before](const Thread* thread) { return thread->number >= before; });
    rank.threads.resize(before);
    return -EAGAIN;
  }
  return rank.threads.back()->tid;
}

void Job::end_thread(Rank& rank)
{
  ++rank.gate.wakes;
  rank.notify_all();
  if (const auto& channel = rank.running().channel)
    cells_->give_slot(channel->cell(), channel->slot());
  rank.falls_asleep(rank.running());
  scheduler_.end_current();
}

void Job::join_thread(Rank& rank, std::uint64_t id)
{
  for (std::size_t i = 0; i < rank.threads.size(); ++i)
    if (rank.threads[i]->number > 0 && rank.threads[i]->id == id)
      while (!rank.threads[i]->ended())
        rank.wait(sim::never);
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
  if (cells_)
    return cells_->descriptor_of(rank.carrier, fd);
  const int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
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
  fmt::print(stderr, "umwelt: wall {:.6f} simulated {:.9f} {} rank {}{} {}\n", wall.count(),
             sim::to_seconds(timeline_.now()), rank.gate.host_name, rank.index,
             rank.running().number == 0 ? "" : " (thread)", name);
}

// --- the whole -------------------------------------------------------------------------------------------------------

std::string Job::simulated_now() const
{
  return fmt::format("simulated time {:.6f} s", sim::to_seconds(end_of_time()));
}

void Job::say(const std::string& text)
{
  progress_.erase();
  for (const auto& rank : ranks_)
    rank->output->pass_on(false);
  fmt::print(stderr, "umwelt: {}\n", text);
}

world::Thread* OwnProcess::running() const
{
  const engine::Actor* actor = job_.scheduler().current();
  return actor != nullptr ? static_cast<Thread*>(actor->owner)->here : nullptr;
}

void OwnProcess::request(world::Thread& thread, std::uint32_t operation, void* arguments)
{
  const SimTime measured = end_burst(thread);
  Rank& rank = *job_.current();
  // At the end of a run a rank whose calls take no time would not come to where that is seen.
  if (gate::serve(rank, operation, arguments, measured) || job_.scheduler().stopping())
    job_.scheduler().yield();
  rank.leave();
}

void OwnProcess::on_request(int signal, const ucontext_t* context)
{
  if (job_.scheduler().stopping() && context == nullptr)
    _exit(cli::exit_code::signalled + signal); // asked twice: the runtime does not come round
  job_.interrupt(signal, context);
  alarm(1); // the second request, should the first not be heeded
  if (context != nullptr)
    job_.abandon();
}

void OwnProcess::on_own_fault(int signal, const siginfo_t& information, const ucontext_t& context)
{
  job_.failed(signal, information, context);
}

// The runtime's state can no longer be trusted, so only a message and the way out. What is left on disk the janitor removes.
void Job::failed(int signal, const siginfo_t& information, const ucontext_t& context)
{
  static bool reporting = false;
  if (std::exchange(reporting, true))
    _exit(cli::exit_code::failure);
  const Rank* rank = current();
  if (signal == SIGPIPE)
    _exit(cli::exit_code::signalled + SIGPIPE);
  if (rank != nullptr && (signal == SIGSEGV || signal == SIGBUS))
    fmt::print(
        stderr,
        "umwelt: {} died of signal {} ({}) while the simulated NIC or runtime worked on its memory in {}: address {} "
        "is not accessible. Next step: check the buffers passed to that call; if they are right, this is a bug of "
        "Umwelt\n{}",
        rank->title(), signal, strsignal(signal), rank->last_call(), information.si_addr,
        diagnose::backtrace_of(context));
  else
    fmt::print(stderr, "umwelt: the simulation itself failed with signal {} ({}): a bug of Umwelt\n{}", signal,
               strsignal(signal), diagnose::backtrace_of(context));
  std::fflush(stderr);
  _exit(rank != nullptr && signal == SIGSEGV ? cli::exit_code::signalled + signal : cli::exit_code::failure);
}

void Job::interrupt(int signal, const ucontext_t* context)
{
  interrupted_ = signal;
  if (context != nullptr && signal == SIGALRM) {
    interrupted_thread_ = static_cast<Thread*>(scheduler_.current()->owner);
    interrupted_at_ = diagnose::backtrace_of(*context);
  }
  scheduler_.stop();
}

// One paragraph per rank: what it is in, since when, and how it got there.
std::string Job::where_everyone_is()
{
  std::string text;
  const std::vector<std::vector<std::string>> reports = reports_of_cells();
  for (const auto& rank : ranks_) {
    if (rank->phase == Rank::Phase::ended) {
      text += fmt::format("  {}: ended at {:.6f} s\n", rank->title(), sim::to_seconds(rank->finished));
      continue;
    }
    for (const auto& thread : rank->threads) {
      if (thread.get() == interrupted_thread_)
        text += fmt::format("  {}{}: running\n{}", rank->title(),
                            thread->number > 0 ? fmt::format(" thread {}", thread->number) : "", interrupted_at_);
      if (thread->ended())
        continue;
      const PollState& poll = thread->poll;
      const SimTime since = std::min(poll.parked ? poll.since : thread->actor->blocked_since(), end_of_time());
      text += fmt::format("  {}{}: in {} since {:.6f} s{}\n", rank->title(),
                          thread->number > 0 ? fmt::format(" thread {}", thread->number) : "", thread->last_call,
                          sim::to_seconds(since), poll.parked ? ", polling" : "");
      if (thread->channel)
        text += reports[thread->channel->cell()][thread->channel->slot()];
      else
        scheduler_.visit(*thread->actor, [&text] { text += diagnose::backtrace_here(); });
    }
  }
  return text;
}

// Nothing is ready and nothing is due, but for helper threads that look at a pipe now and then. Before this is a deadlock,
// the ranks that poll are let round many times, then time is moved on to the helper threads a few times; the report is
// of the moment when it all began.
bool Job::stalled()
{
  if (polling_.steps() != stall_.steps) {
    stall_ = {polling_.steps(), timeline_.now(), 0, {}};
    for (const auto& rank : ranks_)
      stall_.statistics.push_back(rank->statistics);
  }
  if (polling_.another_round())
    return true;
  if (stall_.background_rounds++ < most_background_rounds && scheduler_.wake_background())
    return true;
  if (running_ == 0)
    return false;
  ended_at_ = stall_.since;
  for (std::size_t i = 0; i < ranks_.size(); ++i)
    ranks_[i]->statistics = stall_.statistics[i];
  fail(cli::exit_code::deadlock, "deadlock",
       fmt::format(
           "deadlock at {}: no rank can go on, and nothing is under way that could change that\n{}Next step: look "
           "for the message or the collective that the other side never enters",
           simulated_now(), where_everyone_is()));
  return false;
}

Outcome Job::run()
{
  if (!cells_)
    own_process_.begin(plan_.options.quantum);
  scheduler_.run();
  if (!cells_)
    own_process_.end();
  if (!over_ && interrupted_ != 0) {
    over_ = true;
    if (interrupted_ == SIGALRM) {
      outcome_ = {cli::exit_code::timeout, "--timeout ran out"};
      say(fmt::format(
          "--timeout of {} s ran out at {}; the job is ended\n{}Next step: a larger --timeout, or look where "
          "the ranks are",
          *plan_.options.timeout, simulated_now(), where_everyone_is()));
    } else {
      outcome_ = {cli::exit_code::signalled + interrupted_, fmt::format("stopped by {}", strsignal(interrupted_))};
      say(fmt::format("stopped by signal {} ({}) at {}", interrupted_, strsignal(interrupted_), simulated_now()));
    }
  }
  for (const auto& rank : ranks_)
    if (rank->phase != Rank::Phase::ended && rank->main().actor->state() == engine::Actor::State::blocked)
      rank->tell_trace(observe::RankState::waiting,
                       std::max(rank->main().actor->blocked_since(), rank->main().ahead_until), end_of_time());
  progress_.erase();
  if (cells_)
    cells_->stop();
  for (const auto& rank : ranks_)
    rank->output->pass_on(true);
  return outcome_;
}

observe::JobRecord Job::record(const Outcome& outcome, double wall_seconds) const
{
  observe::JobRecord record;
  record.version = UMWELT_VERSION;
  for (const cli::AppContext& program : plan_.options.programs)
    record.programs.push_back(fmt::format("{}", fmt::join(program.argv, " ")));
  record.platform = plan_.platform->name();
  record.nodes = plan_.platform->node_count();
  record.model = plan_.options.model;
  const cli::CpuPolicy& cpu = plan_.options.cpu;
  using Kind = cli::CpuPolicy::Kind;
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
  for (const rusage& usage : {own, cells_ ? cells_->usage() : rusage{}}) {
    record.host.cpu_seconds += static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                               1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    record.host.peak_resident_bytes += static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  }
  return record;
}

} // namespace umwelt::job
