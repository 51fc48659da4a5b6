// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/job.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "runtime/base/parameters.h"
#include "runtime/job/standard_output.h"
#include "runtime/portals/fabric/process.h"

namespace umwelt::job
{

namespace
{

std::vector<std::uint32_t> nodes_of(const plan::Placement& placement)
{
  std::vector<std::uint32_t> nodes;
  for (const plan::RankPlace& place : placement.ranks)
    nodes.push_back(place.node);
  return nodes;
}

net::NodeParameters read_node_parameters(const plan::RunOptions& options)
{
  Parameters parameters;
  parameters.add_settings(options.node, "--node");
  if (!options.shm_size.empty())
    parameters.set("shm", options.shm_size, "--shm-size");
  return net::read_node_parameters(parameters);
}

// Models have parameters of all places that ranks are at.
void check_kernels(const plan::Plan& plan, const net::NodeParameters& parameters)
{
  std::uint32_t nodes = 0;
  std::uint32_t cores = 0;
  for (const plan::RankPlace& place : plan.placement.ranks) {
    nodes = std::max(nodes, static_cast<std::uint32_t>(place.node) + 1);
    cores = std::max(cores, static_cast<std::uint32_t>(plan.platform->node(place.node).cores));
  }
  kernels::check(*plan.kernels, nodes, static_cast<std::uint32_t>(parameters.sockets), cores);
}

} // namespace

std::string kvs_of(const std::string& job)
{
  return std::string(bootstrap::kvs_prefix) + job;
}

Job::Job(const plan::Plan& plan, const Server& server, loader::PrivateDirectory& directory)
    : plan_(plan), server_(server), directory_(directory), node_parameters_(read_node_parameters(plan_.options)),
      cores_(scheduler_, plan_.platform->node_count()),
      cpu_(plan_.cpus.measures(), plan_.options.cpu_threshold, plan_.options.cpu_first_touch,
           node_parameters_.clock_read, {node_parameters_.instruction, 1e12 / node_parameters_.cached_bandwidth}),
      computing_(plan_.cpus, cpu_, *plan_.platform), own_process_(*this, scheduler_, cpu_),
      fabric_(timeline_, host_, static_cast<net::NodeIndex>(plan_.platform->node_count())),
      sockets_(timeline_, socket_host_, static_cast<net::NodeIndex>(plan_.platform->node_count()),
               node_parameters_.unreachable),
      shared_memory_(*this, node_parameters_), progress_(stderr), output_(progress_, !cpu_.measured()),
      counter_(ranks_), files_(*plan_.platform, plan_.placement.hostnames, directory.path()),
      keys_(plan_.placement.ranks.size()), spaces_(plan_.placement.ranks.size()), room_(plan_.options, plan_.placement)
{
  if (plan_.kernels)
    check_kernels(plan_, node_parameters_);
  net::Observer* observer = plan_.trace.get();
  if (plan_.options.report_details)
    details_ = std::make_unique<Details>(
        *plan_.platform, nodes_of(plan_.placement),
        [this](std::uint32_t from, std::uint32_t to) { return network_->pair_time(from, to); }, observer);
  if (details_)
    observer = &details_->observer();
  net::LinkLoad* load = details_ ? &details_->load() : nullptr;
  if (plan_.trace)
    load = plan_.trace->links(*plan_.platform, load, [this](std::uint32_t link) {
      const platform::Link& of = plan_.platform->link(link);
      return observe::Trace::LinkFacts{of.name, of.bandwidth};
    });
  if (plan_.power) {
    energy_ = std::make_unique<Energy>(plan_, ranks_);
    load = energy_->links(load);
    if (energy_->paces())
      computing_.follow(*energy_);
  }
  network_ = std::make_unique<Network>(plan_, timeline_, fabric_, observer, load);
  for (NodeRegions* const one : {network_->regions(), computing_.regions()})
    if (one != nullptr)
      regions_.push_back(one);
  net::Model& model = network_->model();
  fabric_.set_model(model);
  sockets_.set_model(model);
  if (plan_.trace)
    sockets_.set_tap(plan_.trace->tap());
  if (plan_.collectives)
    collectives_ = std::make_unique<Collectives>(
        *this, *plan_.collectives, plan_.collectives->want_pair_times() ? network_->pair_times() : mpi::PairTimes{});
  fabric_.set_observer(&counter_);
  if (plan_.options.mpi_calls)
    exchanges_.emplace(plan_.placement.ranks.size());
  if (plan_.options.mpi_calls || details_)
    fabric_.tell_ends();
  scheduler_.on_stall = [this] { return stalled(); };
  if (model.has_external() || plan_.options.ctl) { // by which it may come to have some
    scheduler_.external_pending = [&model] { return model.external_pending(); };
    scheduler_.advance_external = [&model](SimTime limit) { return model.advance_external(limit); };
  }
  scheduler_.await_absent = [this](SimTime next) { return await_absent(next); };
  if (plan_.options.ctl || breaks_.any())
    control_ = std::make_unique<Control>(*network_, computing_, timeline_, plan_.options.ctl);
  scheduler_.on_look = [this] {
    if (held_ != nullptr)
      stand_still();
    else
      look_();
  };
  scheduler_.on_beat = [this] {
    output_.show_progress(timeline_.now(), timeline_.fired());
    if (control_)
      control_->serve();
  };
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

void Job::watch(const std::atomic<std::uint32_t>& asked, std::function<void()> look)
{
  look_ = std::move(look);
  scheduler_.asked = &asked;
}

void Job::passed(Rank& rank, std::uint32_t function, bool came_back, std::int64_t level)
{
  const auto index = static_cast<std::size_t>(rank.index);
  for (NodeRegions* const one : regions_)
    if (came_back)
      one->came_back(index, rank.node, function, level, timeline_.now());
    else
      one->calls(index, rank.node, function, timeline_.now());
  if (energy_ && came_back && energy_->is_phase(function))
    energy_->phase(rank, level, timeline_.now());
  if (const plan::BreakPoint* const point = came_back ? nullptr : breaks_.called(index, function))
    stop_before(rank, *point);
}

Outcome Job::run()
{
  if (!workers_)
    own_process_.begin(work());
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
  for (const auto& rank : ranks_)
    if (rank->phase != Rank::Phase::ended)
      keep_events(*rank);
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

void Job::abandon()
{
  scheduler_.end_current();
}

Rank* Job::current() const
{
  const engine::Actor* actor = scheduler_.current();
  return actor != nullptr ? &static_cast<Thread*>(actor->owner)->rank : nullptr;
}

// One of its own: the program may close what it has.
Rank* Job::find_rank(std::uint32_t node, int pid) const
{
  const auto found = std::find_if(ranks_.begin(), ranks_.end(), [node, pid](const auto& rank) {
    return rank->gate.pid == pid && rank->node == node && rank->phase != Rank::Phase::ended;
  });
  return found == ranks_.end() ? nullptr : found->get();
}

int Job::descriptor_of(const Rank& rank, int fd)
{
  if (workers_)
    return workers_->descriptor_of(rank.worker, fd);
  const int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  if (own >= 0 && own < UMW_DESCRIPTORS)
    rank_host::descriptor_owners()[own] = UMW_OWN_DESCRIPTOR;
  return own < 0 ? -errno : own;
}

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

} // namespace umwelt::job
