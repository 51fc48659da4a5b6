// SPDX-License-Identifier: LGPL-2.1-or-later
// Jobs that ranks start while the run is under way (PMIx_Spawn, below MPI_Comm_spawn). Their ranks are made as those of
// the run itself, and numbered on from them. They are carried by the runtime's own process if that carries ranks, else
// by worker processes that are forked for them, and end with them.
#include "runtime/base/exit_codes.h"
#include "runtime/job/job.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "runtime/base/usage_error.h"
#include "runtime/bootstrap/spawn_request.h"
#include "runtime/job/environment.h"
#include "runtime/job/pmi_socket.h"
#include "runtime/job/standard_output.h"
#include "runtime/plan/hosts.h"
#include "runtime/plan/loading.h"
#include "runtime/plan/worker_plan.h"
#include "runtime/worker/worker_process.h"

namespace umwelt::job
{

namespace
{

using bootstrap::SpawnProgram;
using bootstrap::SpawnRequest;

// What Open MPI says of MPI_Comm_spawn's info keys, by the names of PMIx.
constexpr std::string_view wdir_attribute = "pmix.wdir";
constexpr std::string_view host_attribute = "pmix.host";
constexpr std::string_view host_file_attribute = "pmix.hostfile";
constexpr std::string_view map_by_attribute = "pmix.mapby";
constexpr std::string_view per_node_attribute = "pmix.ppr"; // "N:node", "N:n"

// Those that are obeyed, or say what is so anyway.
bool is_known(std::string_view key)
{
  constexpr std::array known = {wdir_attribute,
                                host_attribute,
                                host_file_attribute,
                                map_by_attribute,
                                per_node_attribute,
                                std::string_view("pmix.pers"),
                                std::string_view("pmix.nopmi"),
                                std::string_view("pmix.wdir.user"),
                                std::string_view("pmix.prefix")};
  return std::find(known.begin(), known.end(), key) != known.end();
}

// A limit is short, or this process cannot take it: for the log, and what PMIx is to answer.
class NoRoom : public std::runtime_error
{
public:
  using std::runtime_error::runtime_error;
};

std::uint64_t own_mappings()
{
  std::ifstream maps("/proc/self/maps");
  return static_cast<std::uint64_t>(
      std::count(std::istreambuf_iterator<char>(maps), std::istreambuf_iterator<char>(), '\n'));
}

std::vector<plan::Host> hosts_of(const SpawnProgram& program)
{
  if (const std::string* file = bootstrap::find_attribute(program.attributes, host_file_attribute))
    return plan::read_hostfile("the info key hostfile", *file);
  std::vector<plan::Host> hosts;
  if (const std::string* list = bootstrap::find_attribute(program.attributes, host_attribute)) {
    hosts = plan::parse_host_list("the info key host", *list);
    if (list->find(':') == std::string::npos) // names alone: as many as the run has slots for there
      for (plan::Host& host : hosts)
        host.slots = 0;
  }
  return hosts;
}

plan::Room::Wish wish_for(const SpawnProgram& program, unsigned context, const SpawnRequest& request)
{
  plan::Room::Wish wish{static_cast<unsigned>(program.ranks), context, hosts_of(program), false, std::nullopt};
  if (const std::string* policy = bootstrap::find_attribute(request.attributes, map_by_attribute))
    wish.by_node = policy->starts_with("node");
  if (const std::string* each = bootstrap::find_attribute(request.attributes, per_node_attribute))
    if (const int ranks = std::atoi(each->c_str()); ranks > 0)
      wish.per_node = static_cast<unsigned>(ranks);
  return wish;
}

// The application context whose options count for what the rank starts: its own, or that of the rank at the beginning
// of the line.
unsigned context_of(const Rank& rank)
{
  const Rank* first = &rank;
  while (first->facts->parent != nullptr)
    first = first->facts->parent;
  return first->program;
}

} // namespace

// A job on its way: word goes to the nodes.
struct Job::Launch final : sim::Event {
  explicit Launch(Job& j, Rank& of) : job(j), parent(of) {}
  void fire() override { job.launch(*this); }

  Job& job;
  Rank& parent;
  std::string name;
  std::vector<plan::RankPlace> places;
  std::vector<Start> starts; // by rank of the job
  std::vector<std::vector<unsigned>> workers;
  bool done = false;
  std::string failure;
};

int Job::spawn(Rank& parent, std::string_view text, std::string& name)
{
  const auto refuse = [&](int error, const std::string& why) {
    const std::string line = fmt::format("{}: MPI_Comm_spawn refused (MPI_ERR_SPAWN): {}", parent.title(), why);
    if (warned_.insert(line).second) // a program may try again and again
      say(line);
    return -error;
  };
  Launch& launch = *launches_.emplace_back(std::make_shared<Launch>(*this, parent));
  std::vector<const plan::ProgramPlan*> programs; // by rank
  const auto forget = [this, &launch, planned = spawned_programs_.size()] {
    spawned_programs_.resize(planned);
    std::erase_if(launches_, [&launch](const auto& each) { return each.get() == &launch; });
  };
  try {
    const SpawnRequest request = bootstrap::read_spawn_request(text);
    std::vector<plan::Room::Wish> wishes;
    for (const auto& [key, value] : request.attributes)
      if (!is_known(key))
        warn(parent, fmt::format("MPI_Comm_spawn: attribute {} has no effect", key));
    for (const SpawnProgram& program : request.programs) {
      for (const auto& [key, value] : program.attributes)
        if (!is_known(key))
          warn(parent, fmt::format("MPI_Comm_spawn: attribute {} has no effect", key));
      if (program.ranks < 1)
        throw std::invalid_argument(fmt::format("{}: expected at least one rank, got {}", program.name, program.ranks));
      plan::SpawnedProgram wanted{context_of(parent), program.argv, program.environment, program.directory};
      if (wanted.argv.empty())
        wanted.argv.push_back(program.name);
      if (const std::string* directory = bootstrap::find_attribute(program.attributes, wdir_attribute))
        wanted.directory = *directory;
      plan::ProgramPlan& plan = spawned_programs_.emplace_back(plan_.plan_spawned(wanted));
      auto command = std::find(commands_.begin(), commands_.end(), wanted.argv);
      if (command == commands_.end())
        command = commands_.insert(commands_.end(), wanted.argv);
      const auto context = static_cast<unsigned>(command - commands_.begin());
      wishes.push_back(wish_for(program, static_cast<unsigned>(wishes.size()), request));
      auto directory =
          std::make_shared<rank_host::Directory>(open(plan.directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
      for (int i = 0; i < program.ranks; ++i) {
        launch.starts.push_back({&plan, directory, context, {}});
        programs.push_back(&plan);
      }
    }
    check_room_for(programs);
    launch.places = room_.take(wishes);
    if (workers_) {
      launch.workers = late_workers(launch.places, programs);
      if (const std::string why = shortage_for_workers(launch.workers, programs); !why.empty()) {
        for (const plan::RankPlace& place : launch.places)
          room_.give(place);
        throw NoRoom(why);
      }
    }
  } catch (const NoRoom& error) {
    forget();
    return refuse(ENOMEM, error.what());
  } catch (const UsageError& error) {
    forget();
    return refuse(ENOSPC, error.what());
  } catch (const std::exception& error) { // loader::Refusal among them
    forget();
    return refuse(EINVAL, error.what());
  }
  std::set<std::uint32_t> nodes;
  for (const plan::RankPlace& place : launch.places)
    nodes.insert(place.node);
  launch.name = fmt::format("{}.{}", job_name, ++spawned_jobs_ + 1);
  timeline_.schedule_in(launch, bootstrap::spawn_time(nodes.size(), node_parameters_.daemon_hop));
  while (!launch.done) {
    parent.wait(sim::never);
    parent.act_on_signals();
  }
  const std::string failure = launch.failure;
  name = launch.name;
  std::erase_if(launches_, [&launch](const auto& each) { return each.get() == &launch; });
  return failure.empty() ? 0 : refuse(ENOMEM, failure);
}

// What one process, or this machine, cannot take.
void Job::check_room_for(std::span<const plan::ProgramPlan* const> programs)
{
  if (!workers_)
    for (const plan::ProgramPlan* program : programs)
      if (program->program.fixed_address() || program->same_addresses)
        throw NoRoom(fmt::format(
            "program {} {}, so each of its ranks needs a worker process of its own, and this run has none. Next step: "
            "umwelt run --workers 1",
            program->program.path,
            program->program.fixed_address() ? "is not position-independent (ET_EXEC)"
                                             : "is to have the same addresses in all ranks"));
  if (workers_ && ranks_.size() + programs.size() > workers_->board().gates())
    throw NoRoom(fmt::format(
        "expected at most {} ranks in the whole run, ended ones included, as ranks in worker processes; got {}. "
        "Next step: --workers 0",
        workers_->board().gates(), ranks_.size() + programs.size()));
  if (workers_)
    return; // once it is known which worker processes there are to be
  if (const std::string shortage = plan_.find_shortage(programs, own_mappings()); !shortage.empty())
    throw NoRoom(shortage);
}

// The same for worker processes that are to be forked; empty: nothing is short.
std::string Job::shortage_for_workers(const std::vector<std::vector<unsigned>>& workers,
                                      std::span<const plan::ProgramPlan* const> programs) const
{
  if (workers.size() > workers_->late_left())
    return fmt::format(
        "expected at most {} more worker processes for ranks that others start, got {}. Next step: start "
        "fewer at a time, or programs linked without -no-pie, which share them",
        workers_->late_left(), workers.size());
  for (const std::vector<unsigned>& numbers : workers) {
    std::vector<const plan::ProgramPlan*> of_worker;
    of_worker.reserve(numbers.size());
    for (const unsigned number : numbers)
      of_worker.push_back(programs[number]);
    if (std::string shortage = plan_.find_shortage(of_worker, 0); !shortage.empty())
      return shortage;
  }
  return {};
}

// In the main loop: the ranks begin.
void Job::launch(Launch& launch)
{
  polling_.progress();
  const std::size_t first = ranks_.size();
  // The parent goes on before its children, in worker processes, too: there it would else be under way when a child
  // sleeps before main (libpsm2), which costs an event if somebody is, and none otherwise.
  launch.done = true;
  launch.parent.notify_all();
  try {
    JobFacts& facts = add_job(launch.name, launch.places, &launch.parent);
    for (const std::vector<unsigned>& numbers : launch.workers) {
      const unsigned index = workers_->reserve();
      for (const unsigned number : numbers)
        launch.starts[number].worker = index;
    }
    for (std::size_t i = 0; i < launch.starts.size(); ++i)
      add_rank(facts, static_cast<int>(i), launch.starts[i]);
    if (workers_)
      start_late_workers(facts, launch.workers);
    for (std::size_t i = first; i < ranks_.size(); ++i) {
      ranks_[i]->output->begin();
      seat(*ranks_[i]);
    }
  } catch (const std::exception& error) {
    for (std::size_t i = first; i < ranks_.size(); ++i)
      if (ranks_[i]->threads.empty()) {
        ranks_[i]->phase = Rank::Phase::ended; // it has never been
        --running_;
      }
    fail(
        exit_code::failure, "a job could not be started",
        fmt::format("{}: MPI_Comm_spawn: a job could not be started: {}. Next step: see that this machine has room for "
                    "more processes and descriptors (`umwelt doctor`)",
                    launch.parent.title(), error.what()));
    launch.failure = error.what();
  }
}

// Which ranks of a job, by number, go into which new worker process.
std::vector<std::vector<unsigned>> Job::late_workers(std::span<const plan::RankPlace> places,
                                                     std::span<const plan::ProgramPlan* const> programs) const
{
  std::vector<plan::WorkerProgram> kinds;
  std::vector<plan::WorkerRank> ranks;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const plan::ProgramPlan& program = *programs[i];
    kinds.push_back({program.program.path, program.program.fixed_address() ? "is not position-independent (ET_EXEC)"
                                           : program.same_addresses ? "is to have the same addresses in all ranks"
                                                                    : ""});
    ranks.push_back({static_cast<unsigned>(i), places[i].node});
  }
  plan::WorkerWishes wishes = plan_.options.workers;
  wishes.workers.reset();
  std::vector<std::vector<unsigned>> workers =
      plan::plan_workers(wishes, plan_.options.jobs, ranks, kinds,
                         plan::room_with(plan_.loader, plan::most_ranks_of_worker))
          .workers;
  if (workers.empty()) { // they have room in one process
    workers.emplace_back(programs.size());
    std::iota(workers.front().begin(), workers.front().end(), 0U);
  }
  return workers;
}

// Forked from here, where no rank is carried: as at the start.
void Job::start_late_workers(const JobFacts& facts, const std::vector<std::vector<unsigned>>& workers)
{
  for (const std::vector<unsigned>& numbers : workers) {
    std::vector<Rank*> ranks;
    ranks.reserve(numbers.size());
    for (const unsigned number : numbers)
      ranks.push_back(ranks_[facts.space->first + number].get());
    const unsigned index = ranks.front()->worker;
    if (index >= channels_.size()) {
      channels_.resize(index + 1, std::vector<Channel*>(worker::slots_per_worker));
      not_switching_.resize(index + 1);
    }
    std::fill(channels_[index].begin(), channels_[index].end(), nullptr);
    not_switching_[index] = 0;
    std::vector<worker::WorkerProcess::Seat> seats;
    for (Rank* rank : ranks) {
      rank->main_slot = *workers_->take_slot(index);
      seats.push_back({&rank->hosted, rank->main_slot});
    }
    workers_->fork_late(index, [this, &ranks, &seats](unsigned worker) {
      std::vector<int> kept;
      for (const Rank* rank : ranks) {
        kept.insert(kept.end(), rank->gate.standard_fds, rank->gate.standard_fds + 3);
        kept.push_back(rank->gate.pmi_fd);
        kept.push_back(rank->hosted.directory->fd());
      }
      workers_->close_others(worker, kept);
      worker::WorkerProcess process(*workers_, worker, cpu_);
      process.run(seats, work());
    });
    for (const Rank* rank : ranks)
      keep_ends_of_runtime(*rank);
  }
}

// Those that were forked late end with their ranks.
void Job::retire_workers()
{
  for (unsigned index = 0; workers_ && index < workers_->count(); ++index)
    if (workers_->is_late(index) && std::none_of(ranks_.begin(), ranks_.end(), [index](const auto& rank) {
          return rank->worker == index && rank->phase != Rank::Phase::ended;
        }))
      workers_->retire(index);
}

} // namespace umwelt::job
