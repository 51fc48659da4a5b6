// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/job.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <map>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "loader/namespace.h"
#include "loader/private_copy.h"
#include "loader/stub.h"
#include "net_models/parameters.h"
#include "runtime/cli/usage_error.h"
#include "runtime/diagnose/backtrace.h"
#include "runtime/diagnose/symbols.h"
#include "runtime/engine/syscalls.h"
#include "runtime/engine/thread_pointer.h"
#include "runtime/gate/dispatch.h"
#include "runtime/job/environment.h"
#include "runtime/job/pmi_socket.h"
#include "runtime/job/standard_output.h"
#include "runtime/portals/process.h"

extern char** environ;

namespace umwelt::job
{

namespace
{

constexpr int first_pid = 1000;            // of the simulated world
constexpr int launcher_pid = 900;          // parent of a node's ranks
constexpr int first_thread_id = 1'000'000; // of threads that are no main threads
constexpr std::size_t smallest_stack = 8UL << 20;
constexpr std::size_t largest_stack = 1UL << 30; // for "unlimited"
constexpr unsigned most_background_rounds = 64;  // wake-ups of helper threads before a deadlock is called

std::size_t stack_bytes()
{
  rlimit limit{};
  getrlimit(RLIMIT_STACK, &limit);
  return std::clamp<std::size_t>(limit.rlim_cur, smallest_stack, largest_stack);
}

// A generator's first step (splitmix64) on seed and rank; never 0.
std::uint64_t rank_seed(std::uint64_t seed, int rank)
{
  std::uint64_t z = seed + 0x9e3779b97f4a7c15ULL * (static_cast<std::uint64_t>(rank) + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return (z ^ (z >> 31)) | 1;
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

} // namespace

Job::Job(const Plan& plan, loader::PrivateFolder& folder)
    : plan_(plan), folder_(folder), cores_(scheduler_, plan_.platform->node_count()),
      cpu_(plan_.options.cpu, plan_.options.cpu_threshold, plan_.options.cpu_first_touch),
      fabric_(timeline_, host_, static_cast<net::NodeIndex>(plan_.platform->node_count())), counter_(ranks_),
      keys_(plan_.placement.ranks.size()), fence_(plan_.placement.ranks.size()), progress_(stderr)
{
  const net::Parameters parameters = nic_parameters(plan_.options);
  model_ = net::make_model(plan_.options.model, {timeline_, *plan_.platform, &fabric_, plan_.trace.get()}, parameters);
  fabric_.set_model(*model_);
  fabric_.set_observer(&counter_);
  scheduler_.on_stall = [this] { return stalled(); };
  scheduler_.external_pending = [this] { return model_->external_pending(); };
  scheduler_.advance_external = [this](SimTime limit) { return model_->advance_external(limit); };
  scheduler_.on_beat = [this] { progress_.update(timeline_.now(), timeline_.fired()); };
  make_ranks();
}

Job::~Job()
{
  processes_.clear(); // before the fabric
}

void Job::make_ranks()
{
  null_fd_ = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const std::string& name : plan_.placement.hostnames)
    node_list_ += (node_list_.empty() ? "" : ",") + name;
  const std::string copies = folder_.path() + "/load";
  std::filesystem::create_directory(copies);
  for (std::size_t i = 0; i < plan_.programs.size(); ++i) {
    const loader::Program& program = plan_.programs[i].program;
    const std::string& folder = plan_.programs[i].folder;
    folders_.push_back(std::make_shared<Folder>(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)));
    if (folders_.back()->fd() < 0)
      throw cli::UsageError("-wdir " + folder, "a folder", std::strerror(errno), "create it or name another");
    const std::string base = fmt::format("{}/{}", copies, i);
    std::filesystem::create_directory(base);
    const std::string copy = base + "/" + std::filesystem::path(program.path).filename().string();
    loader::make_private_copy(program.path, copy);
    diagnose::add_alias(copy, program.path);
    std::vector<std::string> needed{copy, plan_.shim};
    for (const loader::Library& library : program.libraries)
      needed.push_back(library.path);
    copies_.push_back(base + "/stub.so");
    loader::write_stub(copies_.back(), needed);
  }
  for (std::size_t i = 0; i < plan_.placement.ranks.size(); ++i) {
    ranks_.push_back(std::make_unique<Rank>(*this, static_cast<int>(i)));
    make_rank(*ranks_.back());
  }
  running_ = ranks_.size();
  std::vector<std::uint32_t> nodes;
  for (const auto& rank : ranks_)
    nodes.push_back(rank->node);
  keys_.publish("PMI_process_mapping", bootstrap::process_mapping(nodes));
}

void Job::make_rank(Rank& rank)
{
  const auto index = static_cast<std::size_t>(rank.index);
  const cli::RankPlace& place = plan_.placement.ranks[index];
  const ProgramPlan& program = plan_.programs[place.program];
  const platform::Node& node = plan_.platform->node(place.node);
  rank.program = place.program;
  rank.node = place.node;
  rank.speed = node.speed;
  rank.argv = program.program.argv;
  rank.program_path = program.program.path;
  rank.session_folder = fmt::format("{}/session/{}", folder_.path(), place.node);
  std::filesystem::create_directories(rank.session_folder);
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
  gate.pid = first_pid + rank.index;
  gate.parent_pid = launcher_pid;
  const std::string& host = plan_.placement.hostnames[place.node];
  host.copy(gate.host_name, UMW_HOST_NAME_MAX);
  std::snprintf(gate.job_name, sizeof gate.job_name, "umwelt");
  gate.program = rank.program_path.c_str();
  gate.argv0 = rank.argv.front().c_str();
  gate.local_peers = rank.local_peers.c_str();
  gate.node_list = node_list_.c_str();
  gate.session_folder = rank.session_folder.c_str();
  gate.app = static_cast<std::int32_t>(place.program);
  gate.app_ranks = static_cast<std::int32_t>(app_ranks);
  gate.random_seed = cpu_.measured() ? 0 : rank_seed(plan_.options.seed, rank.index);
  gate.runtime = &rank;

  rank.output = std::make_unique<StandardOutput>(plan_.options, rank.index, gate.ranks);
  // Descriptors of its own, since programs close theirs (all of coreutils do, at exit).
  const std::array<int, 3> lead_to = {rank.index == 0 ? 0 : null_fd_, rank.output->descriptor(1),
                                      rank.output->descriptor(2)};
  for (std::size_t i = 0; i < lead_to.size(); ++i)
    gate.standard_fds[i] = fcntl(lead_to[i], F_DUPFD_CLOEXEC, 3);

  rank.pmi = std::make_unique<PmiSocket>(
      rank, bootstrap::PmiFacts{fmt::format("kvs_{}", gate.job_name), plan_.placement.ranks.size(), gate.app}, keys_);
  rank.folder = folders_[place.program];
  rank.environment = program.environment;
  add_launcher_variables(rank.environment, rank);
  if (program.folder != std::filesystem::current_path())
    set_variable(rank.environment, "PWD", program.folder);
  rank.environment.push_back(fmt::format("{}={:x}", UMW_GATE_VARIABLE, reinterpret_cast<std::uintptr_t>(&gate)));

  const std::array<std::pair<const char*, std::string>, 4> facts = {
      {{"umwelt.host", host},
       {"umwelt.node", fmt::format("{}", gate.node)},
       {"umwelt.local_rank", fmt::format("{}", gate.local_rank)},
       {"umwelt.app", fmt::format("{}", gate.app)}}};
  for (const auto& [key, value] : facts)
    keys_.tell(index, key, value);

  processes_.push_back(std::make_unique<portals::Process>(fabric_, place.node, static_cast<std::uint32_t>(rank.index),
                                                          static_cast<ptl_uid_t>(getuid())));
  rank.portals = processes_.back().get();
  std::vector<unsigned> cores;
  for (unsigned core = 0; core < node.cores; ++core)
    if (!plan_.options.bound || (core >= place.core && core < place.core + place.cores))
      cores.push_back(core);
  Thread& main = add_thread(rank, cores);
  main.tid = gate.pid;
  main.core = place.core;
  main.actor = &scheduler_.spawn(
      rank.title(), [this, &rank] { live(rank); }, stack_bytes());
  main.actor->owner = &main;
}

// --- life of a rank --------------------------------------------------------------------------------------------------

void Job::live(Rank& rank)
{
  load(rank);
  std::vector<char*> argv;
  for (std::string& word : rank.argv)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  rank.leave();
  loader::enter_program(rank.objects.program(), static_cast<int>(rank.argv.size()), argv.data(), rank.envp.data(),
                        rank.program_path.c_str(), rank.main().donor.thread_pointer(), engine::detail::have_fsgsbase);
}

void Job::load(Rank& rank)
{
  lock_loader(rank);
  for (std::string& entry : rank.environment)
    rank.envp.push_back(entry.data());
  rank.envp.push_back(nullptr);
  // ld.so hands constructors the process's own arguments and environment.
  char** const own_environment = environ;
  char* const own_name = plan_.process_argv[0];
  plan_.process_argv[0] = rank.argv.front().data();
  environ = rank.envp.data();
  rank.leave();
  std::string error;
  {
    const engine::Excursion excursion(rank.main().donor.thread_pointer());
    error = rank.objects.load(copies_[rank.program].c_str());
  }
  environ = own_environment;
  plan_.process_argv[0] = own_name;
  unlock_loader(rank);
  if (!error.empty()) {
    fail(cli::exit_code::refused, "a program could not be loaded",
         fmt::format("{}: {} cannot be loaded: {}. Next step: `ldd {}`; if the libraries are there, `umwelt doctor`",
                     rank.title(), rank.argv.front(), error, rank.program_path));
    abandon();
  }
  cpu_.skip(); // files were read
  diagnose::add_objects(rank.objects.objects());
  for (const loader::CodeRange& code : rank.objects.uninterruptible())
    slices_->protect(code.begin, code.end);
  if (++loaded_ == ranks_.size() && !plan_.options.keep_temps) {
    std::error_code ignored;
    std::filesystem::remove_all(folder_.path() + "/load", ignored);
  }
}

void Job::started(Rank& rank)
{
  rank.phase = Rank::Phase::running;
}

void Job::finish(Rank& rank)
{
  rank.phase = Rank::Phase::ended;
  rank.finished = timeline_.now();
  rank.portals->detach();
  rank.pmi->close();
  rank.output->pass_on(true);
  --running_;
  polling_.progress();
}

// The rank's other threads end where they are, and the calling one for good.
void Job::leave_world(Rank& rank)
{
  for (const auto& thread : rank.threads)
    if (thread->actor != scheduler_.current()) {
      cores_.at(rank.node, thread->core).forget(*thread->actor);
      futexes_.forget(*thread);
      scheduler_.kill(*thread->actor);
    }
  scheduler_.end_current();
}

void Job::exited(Rank& rank, int status)
{
  rank.end.status = status;
  finish(rank);
  if (status != 0)
    fail(status, fmt::format("{} ended with exit code {}", rank.title(), status),
         fmt::format("{} ended with exit code {} at {}{}", rank.title(), status, simulated_now(),
                     running_ > 0 ? "; the job is ended" : ""));
  else if (rank.joined)
    fail(1, fmt::format("{} ended without MPI_Finalize", rank.title()),
         fmt::format(
             "{} ended with exit code 0 at {}, expected it to call MPI_Finalize (PMIx_Finalize) first. Next step: "
             "call it on every path out of main",
             rank.title(), simulated_now()));
  leave_world(rank);
}

void Job::died(Rank& rank, int signal, const siginfo_t* information, const ucontext_t* context)
{
  rank.end.signal = signal;
  std::string what =
      fmt::format("{}, pid {}, died of signal {} ({})", rank.title(), rank.gate.pid, signal, strsignal(signal));
  if (information != nullptr && (signal == SIGSEGV || signal == SIGBUS))
    what += fmt::format(" at address {}", information->si_addr);
  const std::string ending = what;
  what += fmt::format(", {}, {}\n", rank.phase == Rank::Phase::loading ? "in a constructor, before main" : "running",
                      simulated_now());
  const engine::Actor* actor = scheduler_.current();
  if (information != nullptr && actor != nullptr && actor->stack().guards(information->si_addr))
    what += fmt::format("    its stack of {} MiB is used up. Next step: ulimit -s with a larger value, or unlimited\n",
                        actor->stack().size() >> 20);
  what += context != nullptr ? diagnose::backtrace_of(*context) : diagnose::backtrace_here();
  what.pop_back();
  finish(rank);
  fail(cli::exit_code::signalled + signal, ending, what);
  leave_world(rank);
}

void Job::aborted(Rank& rank, int status, const char* call, const char* message)
{
  const int code = (status & 0xff) != 0 ? status & 0xff : 1;
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
  while (rank.in_fence)
    rank.wait(sim::never);
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

void Job::lock_loader(Rank& rank)
{
  if (loader_owner_ == &rank) {
    ++loader_depth_;
    return;
  }
  while (loader_owner_ != nullptr) {
    loader_queue_.push_back(&rank);
    rank.wait(sim::never);
    std::erase(loader_queue_, &rank);
  }
  loader_owner_ = &rank;
  loader_depth_ = 1;
  for (const auto& other : ranks_)
    for (const auto& thread : other->threads)
      thread->donor.end_look_up();
}

void Job::unlock_loader(Rank& rank)
{
  if (loader_owner_ != &rank || --loader_depth_ > 0)
    return;
  loader_owner_ = nullptr;
  if (!loader_queue_.empty())
    loader_queue_.front()->notify_all();
}

std::string Job::new_stub_path()
{
  return fmt::format("{}/stub-{}.so", folder_.path(), stubs_++);
}

Thread& Job::add_thread(Rank& rank, const std::vector<unsigned>& allowed)
{
  auto thread = std::make_unique<Thread>(rank, static_cast<unsigned>(rank.threads.size()));
  thread->allowed = allowed;
  // The core with the fewest living threads of the rank.
  std::vector<unsigned> users(plan_.platform->node(rank.node).cores);
  for (const auto& other : rank.threads)
    users[other->core] += !other->ended();
  thread->core = *std::min_element(allowed.begin(), allowed.end(),
                                   [&users](unsigned a, unsigned b) { return users[a] < users[b]; });
  rank.threads.push_back(std::move(thread));
  return *rank.threads.back();
}

int Job::create_thread(Rank& rank, umw_thread_start start, void* argument, std::size_t bytes, std::uint64_t& id)
{
  const std::vector<unsigned> allowed = rank.running().allowed; // inherited, pthread_create(3)
  const std::size_t before = rank.threads.size();
  try {
    Thread& thread = add_thread(rank, allowed);
    thread.tid = first_thread_id + thread_ids_++;
    const std::uintptr_t thread_pointer = thread.donor.thread_pointer();
    thread.actor = &scheduler_.spawn(
        fmt::format("{} thread {}", rank.title(), thread.number),
        [this, &rank, start, argument, thread_pointer] {
          rank.leave();
          const engine::Excursion excursion(thread_pointer, dispatches(rank));
          start(argument);
        },
        std::max(bytes, smallest_stack));
    thread.actor->owner = &thread;
    if (!dispatching_ && engine::have_syscall_dispatch())
      dispatching_ = engine::enable_syscall_dispatch();
    id = static_cast<std::uint64_t>(thread.donor.id());
    cpu_.skip(); // starting the donor waits for the kernel: that is not missing from the next burst
  } catch (const std::exception&) {
    rank.threads.resize(before);
    return -EAGAIN;
  }
  return rank.threads.back()->tid;
}

void Job::end_thread(Rank& rank)
{
  ++rank.gate.wakes;
  rank.notify_all();
  scheduler_.end_current();
}

void Job::join_thread(Rank& rank, std::uint64_t id)
{
  for (std::size_t i = 0; i < rank.threads.size(); ++i)
    if (static_cast<std::uint64_t>(rank.threads[i]->donor.id()) == id)
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
  for (const unsigned core : thread->allowed)
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
  thread->allowed = std::move(cores);
  if (std::find(thread->allowed.begin(), thread->allowed.end(), thread->core) == thread->allowed.end())
    thread->core = thread->allowed.front();
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

void Job::change_folder(const std::shared_ptr<Folder>& folder)
{
  if (fchdir(folder->fd()) == 0)
    current_folder_ = folder;
}

int Job::change_directory(Rank& rank, const char* path, int fd)
{
  use_folder_of(rank);
  auto folder = std::make_shared<Folder>(path != nullptr ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC)
                                                         : openat(fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (folder->fd() < 0 || fchdir(folder->fd()) != 0)
    return -errno;
  rank.folder = current_folder_ = std::move(folder);
  return 0;
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
  slices_ = std::make_unique<Slices>(*this, plan_.options.quantum);
  scheduler_.run();
  slices_.reset();
  if (dispatching_)
    engine::disable_syscall_dispatch();
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
      rank->tell_trace(observe::RankState::waiting, rank->main().actor->blocked_since(), end_of_time());
  progress_.erase();
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
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  record.host.wall_seconds = wall_seconds;
  record.host.cpu_seconds = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                            1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  record.host.peak_resident_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  return record;
}

} // namespace umwelt::job
