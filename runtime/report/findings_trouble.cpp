// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs that did not end well, and figures that are doubtful.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "runtime/base/exit_codes.h"
#include "runtime/observe/format.h"
#include "runtime/report/findings_parts.h"
#include "runtime/report/member.h"

namespace umwelt::report
{
namespace
{

constexpr double above_all = 10; // weights
constexpr double doubtful = 2;

// Who waits for whom, as the report of a deadlock has it.
struct Waits {
  std::map<std::int64_t, const Json*> of; // by rank
  std::map<std::int64_t, std::vector<std::int64_t>> others;

  // Null: none are known. What it points to outlives this.
  explicit Waits(const Json* deadlock)
  {
    const Json* const waits = deadlock != nullptr ? array(*deadlock, "waits") : nullptr;
    for (std::size_t i = 0; waits != nullptr && i < waits->size(); ++i) {
      const Json& wait = (*waits)[i];
      const std::int64_t rank = number(wait, "rank");
      of[rank] = &wait;
      if (const Json* list = array(wait, "for"))
        for (const Json& other : *list)
          others[rank].push_back(as_number(other));
    }
  }

  // How many ranks wait for it, themselves or through others.
  [[nodiscard]] std::size_t waiting_for(std::int64_t rank) const
  {
    std::set<std::int64_t> reached{rank};
    for (bool more = true; more;) {
      more = false;
      for (const auto& [waits, list] : others)
        if (!reached.contains(waits) &&
            std::any_of(list.begin(), list.end(), [&reached](std::int64_t other) { return reached.contains(other); })) {
          reached.insert(waits);
          more = true;
        }
    }
    return reached.size() - 1;
  }

  // "rank 1 is in MPI_Recv from 2, tag 7, on MPI_COMM_WORLD, since 6.1 ms, at main+0x1 (app), app.c:7"
  [[nodiscard]] std::string where(std::int64_t rank) const
  {
    const Json& wait = *of.at(rank);
    const std::string place = text(wait, "place");
    return fmt::format("rank {} is in {}, since {}{}", rank, text(wait, "call"),
                       observe::show_time(number(wait, "since_ps")), place.empty() ? "" : ", at " + place);
  }
};

// A rank that others wait for and that waits for nobody known: it has ended, or is elsewhere. -1: there is none.
std::int64_t culprit(const Waits& waits)
{
  std::set<std::int64_t> candidates;
  for (const auto& [rank, others] : waits.others)
    for (const std::int64_t other : others)
      if (!waits.others.contains(other) || waits.others.at(other).empty())
        candidates.insert(other);
  std::int64_t found = -1;
  std::size_t most = 0;
  for (const std::int64_t rank : candidates)
    if (const std::size_t many = waits.waiting_for(rank); many > most) {
      most = many;
      found = rank;
    }
  return found;
}

void add_places(const Waits& waits, Finding& finding)
{
  constexpr std::size_t most = 8;
  for (const auto& [rank, wait] : waits.of) {
    if (finding.details.size() == most) {
      finding.details.push_back(fmt::format("and {} more", waits.of.size() - most));
      break;
    }
    finding.details.push_back(waits.where(rank));
  }
}

void explain_cycle(const Waits& waits, const std::vector<std::int64_t>& cycle, Finding& finding)
{
  finding.what =
      fmt::format("Deadlock: {} wait for each other in a circle, so none of them can go on.", list_of_ranks(cycle));
  constexpr std::size_t most = 12;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    if (i == most) {
      finding.details.push_back(fmt::format("and so on, {} in all", cycle.size()));
      break;
    }
    const std::int64_t next = cycle[(i + 1) % cycle.size()];
    finding.details.push_back(
        fmt::format("{}: it waits for rank {}",
                    waits.of.contains(cycle[i]) ? waits.where(cycle[i]) : fmt::format("rank {}", cycle[i]), next));
  }
  if (const std::size_t behind = waits.waiting_for(cycle.front()) + 1; behind > cycle.size())
    finding.details.push_back(fmt::format("{} for these", behind == cycle.size() + 1
                                                              ? "1 more rank waits"
                                                              : plural(behind - cycle.size(), "more rank") + " wait"));
  finding.next = "Let one of them do first what the others wait for: send before it receives, use MPI_Sendrecv or "
                 "MPI_Irecv, or enter the collectives of all communicators in the same order.";
}

} // namespace

void find_deadlock(const Json& run, std::vector<Finding>& found)
{
  if (text(run, "ending") != "deadlock")
    return;
  Finding finding;
  finding.weight = above_all;
  const Json* const deadlock = member(run, "deadlock");
  const Waits waits(deadlock);
  std::vector<std::int64_t> cycle;
  if (const Json* list = deadlock != nullptr ? array(*deadlock, "cycle") : nullptr)
    for (const Json& rank : *list)
      cycle.push_back(as_number(rank));
  if (!cycle.empty()) {
    explain_cycle(waits, cycle, finding);
  } else if (const std::int64_t rank = culprit(waits); rank >= 0) {
    const bool ended = !waits.of.contains(rank);
    finding.what =
        fmt::format("Deadlock: {} for rank {}, which {}.",
                    plural(waits.waiting_for(rank), "rank") + (waits.waiting_for(rank) == 1 ? " waits" : " wait"), rank,
                    ended ? "has ended" : "waits for none of them");
    if (!ended)
      finding.details.push_back(waits.where(rank));
    add_places(waits, finding);
    finding.next = ended ? fmt::format("Look for what rank {} was to send, or which collective it was to enter, before "
                                       "it ended.",
                                       rank)
                         : fmt::format("Look for what rank {} was to do instead.", rank);
  } else {
    finding.what = fmt::format("Deadlock at {}: no rank can go on, and nothing is under way that could change that.",
                               observe::show_time(number(run, "simulated_ps")));
    add_places(waits, finding);
    if (member(run, "mpi_calls") == nullptr)
      finding.next = "Run again with --mpi-calls: then the call of MPI that each rank is in is known, and for whom it "
                     "waits.";
    else if (deadlock != nullptr)
      finding.next = text(*deadlock, "next_step");
  }
  found.push_back(std::move(finding));
}

void find_failure(const Json& run, std::vector<Finding>& found)
{
  const std::string ending = text(run, "ending");
  if (ending.empty() || ending == "completed" || ending == "deadlock")
    return;
  Finding finding;
  finding.weight = above_all;
  finding.what = fmt::format("The run did not complete: {} (exit code {}).", ending, number(run, "exit_code"));
  if (const Json* ranks = array(run, "ranks"))
    for (const Json& rank : *ranks)
      if (number(rank, "signal") != 0 || number(rank, "exit_status") != 0)
        finding.details.push_back(
            number(rank, "signal") != 0
                ? fmt::format("rank {} on {} died of signal {} at {}", number(rank, "rank"), text(rank, "host"),
                              number(rank, "signal"), observe::show_time(number(rank, "finished_ps")))
                : fmt::format("rank {} on {} ended with exit code {} at {}", number(rank, "rank"), text(rank, "host"),
                              number(rank, "exit_status"), observe::show_time(number(rank, "finished_ps"))));
  finding.next = "Its message on standard error says where. Run the program natively, too: does it fail there?";
  if (number(run, "exit_code") == exit_code::timeout)
    finding.next = "--timeout ran out: where the ranks were stands in the message on standard error. Below is what "
                   "the run did until then.";
  found.push_back(std::move(finding));
}

void find_doubt(const Json& run, std::vector<Finding>& found)
{
  constexpr double noticeable = 0.05;
  if (const Json* same = member(run, "results_are_those_of_the_program"); same != nullptr && *same == false)
    found.push_back({"Results of this run are not those of the program: calls were left out, or memory was forgotten.",
                     {},
                     "Take simulated times from it, nothing else.",
                     doubtful});
  const Json* const host = member(run, "host");
  if (host == nullptr || text(run, "cpu").find("measured") != 0)
    return;
  const double wanted = real(*host, "cpu_seconds") + real(*host, "waited_seconds");
  const double waited = std::max(wanted > 0 ? real(*host, "waited_seconds") / wanted : 0, real(*host, "stolen_share"));
  if (waited >= noticeable)
    found.push_back({fmt::format("This machine was busy: others had the processor for {} of the time that the run "
                                 "wanted it. What was measured may be too long.",
                                 percent(waited)),
                     {},
                     "Run again on a quiet machine, with --repeat 5 for the spread, or with --cpu none to see "
                     "communication alone.",
                     doubtful});
}

} // namespace umwelt::report
