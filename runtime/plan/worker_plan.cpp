// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/worker_plan.h"

#include <algorithm>
#include <fmt/format.h>

#include "runtime/base/usage_error.h"

namespace umwelt::plan
{
namespace
{

unsigned ceiling(unsigned a, unsigned b)
{
  return (a + b - 1) / b;
}

std::string plural(unsigned count, std::string_view what)
{
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

class WorkerPlanner
{
public:
  WorkerPlanner(const WorkerWishes& wishes, unsigned jobs, std::span<const WorkerRank> places,
                std::span<const WorkerProgram> programs, unsigned room)
      : wishes_(wishes), jobs_(jobs), room_(room), places_(places), programs_(programs)
  {
    for (unsigned rank = 0; rank < ranks(); ++rank)
      (program_of(rank).alone.empty() ? ordinary_ : alone_).push_back(rank);
    std::stable_sort(ordinary_.begin(), ordinary_.end(),
                     [this](unsigned a, unsigned b) { return places_[a].node < places_[b].node; });
  }

  WorkerPlan plan()
  {
    if (wishes_.workers == 0)
      check_no_workers();
    else if (wishes_.workers || needs_workers())
      fill_workers();
    return std::move(result_);
  }

private:
  [[nodiscard]] unsigned ranks() const { return static_cast<unsigned>(places_.size()); }
  [[nodiscard]] const WorkerProgram& program_of(unsigned rank) const { return programs_[places_[rank].program]; }
  [[nodiscard]] unsigned most_per_worker() const
  {
    return wishes_.ranks_per_worker.value_or(std::min(room_, most_ranks_of_worker));
  }

  [[nodiscard]] bool needs_workers() const
  {
    return wishes_.ranks_per_worker || (wishes_.parallel && ranks() > 1) || ranks() > room_ ||
           !alone_.empty(); // one alone may start others (MPI_Comm_spawn)
  }

  void check_no_workers() const
  {
    if (wishes_.ranks_per_worker)
      throw UsageError("--ranks-per-worker", "worker processes to put the ranks into", "--workers 0",
                       "Leave out one of the two.");
    if (ranks() > room_)
      throw UsageError(
          "--workers 0",
          fmt::format("at most {} ranks, as many as one process has memory mappings (vm.max_map_count), "
                      "files (ulimit -Hn) and, with --loader dlmopen, namespaces for",
                      room_),
          fmt::format("{}", ranks()),
          "Leave --workers 0 out: the ranks are then spread over worker processes. Or raise these limits.");
    if (!alone_.empty() && ranks() > 1)
      throw UsageError("--workers 0", "programs whose ranks can share a process",
                       fmt::format("{} ranks, {} of them of {}, which {}", ranks(),
                                   ranks_of(places_[alone_.front()].program), program_of(alone_.front()).name,
                                   program_of(alone_.front()).alone),
                       "Leave --workers 0 out: each of these ranks then gets a worker process of its own.");
  }

  [[nodiscard]] unsigned ranks_of(unsigned program) const
  {
    return static_cast<unsigned>(std::count_if(
        places_.begin(), places_.end(), [program](const WorkerRank& place) { return place.program == program; }));
  }

  // Worker processes for the ordinary ranks.
  unsigned count_workers()
  {
    const auto ordinary = static_cast<unsigned>(ordinary_.size());
    const auto alone = static_cast<unsigned>(alone_.size());
    const unsigned least = ceiling(ordinary, most_per_worker());
    if (!wishes_.workers)
      return std::max(workers_of_whole_nodes(), std::min(jobs_, wishes_.parallel ? ordinary : nodes()));
    const unsigned wanted = *wishes_.workers;
    if (wanted < alone + least)
      throw UsageError(fmt::format("--workers {}", wanted),
                       fmt::format("at least {} for {}{}, with at most {} in a worker process", alone + least,
                                   plural(ranks(), "rank"),
                                   alone == 0 ? "" : fmt::format(", {} of which need one each", alone),
                                   most_per_worker()),
                       fmt::format("{}", wanted), fmt::format("Pass --workers {}, or --workers auto.", alone + least));
    if (wanted > ranks())
      result_.notes.push_back(fmt::format("--workers {}: {} worker processes are used, as there are {}", wanted,
                                          ranks(), plural(ranks(), "rank")));
    return std::min(wanted - alone, ordinary);
  }

  // As many as it takes if nodes are taken apart only where one alone is too large.
  [[nodiscard]] unsigned workers_of_whole_nodes() const
  {
    unsigned workers = 0;
    unsigned room = 0;
    for (std::size_t begin = 0; begin < ordinary_.size();) {
      const std::size_t end = end_of_node(begin);
      const auto size = static_cast<unsigned>(end - begin);
      if (size > room) {
        workers += ceiling(size, most_per_worker());
        room = ceiling(size, most_per_worker()) * most_per_worker();
      }
      room -= size;
      begin = end;
    }
    return workers;
  }

  [[nodiscard]] unsigned nodes() const
  {
    unsigned count = 0;
    for (std::size_t begin = 0; begin < ordinary_.size(); begin = end_of_node(begin))
      ++count;
    return count;
  }

  // Of the ordinary ranks, the first behind that one on another node.
  [[nodiscard]] std::size_t end_of_node(std::size_t index) const
  {
    const std::uint32_t node = places_[ordinary_[index]].node;
    while (index < ordinary_.size() && places_[ordinary_[index]].node == node)
      ++index;
    return index;
  }

  // Where a worker process ends: as near as possible to `wanted`, within what leaves the others neither too many nor
  // too few, between nodes if any two meet there.
  [[nodiscard]] std::size_t end_of_worker(std::size_t wanted, std::size_t least, std::size_t most) const
  {
    const std::size_t near = std::clamp(wanted, least, most);
    std::size_t best = 0;
    for (std::size_t end = 0; end < ordinary_.size();) {
      end = end_of_node(end);
      const auto distance = [near](std::size_t place) { return place > near ? place - near : near - place; };
      if (end >= least && end <= most && (best == 0 || distance(end) < distance(best)))
        best = end;
    }
    return best != 0 ? best : near;
  }

  void fill_workers()
  {
    const std::size_t count = count_workers();
    std::size_t begin = 0;
    for (std::size_t worker = 0; worker < count; ++worker) {
      const std::size_t left = ordinary_.size() - begin;
      const std::size_t others = count - worker - 1; // worker processes to come
      const std::size_t least = left > others * most_per_worker() ? left - others * most_per_worker() : 1;
      const std::size_t most = std::min<std::size_t>(left - others, most_per_worker());
      const std::size_t end = end_of_worker(ordinary_.size() * (worker + 1) / count, begin + least, begin + most);
      result_.workers.emplace_back(ordinary_.begin() + static_cast<std::ptrdiff_t>(begin),
                                   ordinary_.begin() + static_cast<std::ptrdiff_t>(end));
      std::sort(result_.workers.back().begin(), result_.workers.back().end());
      begin = end;
    }
    for (const unsigned rank : alone_) {
      result_.workers.push_back({rank});
      const std::string note = fmt::format("program {} {}: each of its ranks gets a worker process of its own",
                                           program_of(rank).name, program_of(rank).alone);
      if (ranks() > 1 && std::find(result_.notes.begin(), result_.notes.end(), note) == result_.notes.end())
        result_.notes.push_back(note);
    }
    std::sort(result_.workers.begin(), result_.workers.end()); // by their first ranks, which differ
  }

  const WorkerWishes& wishes_;
  unsigned jobs_;
  unsigned room_;
  std::span<const WorkerRank> places_;
  std::span<const WorkerProgram> programs_;
  std::vector<unsigned> ordinary_;
  std::vector<unsigned> alone_;
  WorkerPlan result_;
};

} // namespace

WorkerPlan plan_workers(const WorkerWishes& wishes, unsigned jobs, std::span<const WorkerRank> ranks,
                        std::span<const WorkerProgram> programs, unsigned room)
{
  return WorkerPlanner(wishes, jobs, ranks, programs, room).plan();
}

} // namespace umwelt::plan
