// SPDX-License-Identifier: LGPL-2.1-or-later
// What ranks do to each other: who computes more, who is late, who looks again and again.
#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "runtime/observe/format.h"
#include "runtime/report/findings_parts.h"
#include "runtime/report/member.h"

namespace umwelt::report
{
namespace
{

constexpr double worth_telling = 0.05; // of the run

// Kinds of MPI calls as observe/mpi_report.cpp has them, what those wait for that are blocked in them, and what helps.
struct Kind {
  const char* name;
  std::string_view late;
  std::string_view next;
};
constexpr std::array kinds = {
    Kind{"receives", "for senders that had not sent yet",
         "Send earlier, or let the receiver compute meanwhile (MPI_Irecv, then MPI_Wait)."},
    Kind{"sends", "for receivers that had not asked for the message yet",
         "Post receives earlier (MPI_Irecv). Messages up to the eager limit do not wait for them: --mca "
         "btl_portals4_eager_limit BYTES, with --mca pml cm --mca mtl_portals4_eager_limit BYTES."},
    Kind{"completion", "for ranks that had not begun what was waited for",
         "Look who comes late, and why: computing of the ranks is in the page (umwelt report)."},
    Kind{"barriers", "for the last rank to come",
         "Look who comes last and why; a barrier that is not needed for correctness can go."},
    Kind{"collectives", "for the last rank to come",
         "Look who comes last and why; nonblocking collectives (MPI_Iallreduce) let the others compute meanwhile."}};

// Of the places whose `member` is `value`, the one with most of `key`; null: there is none.
const Json* site_with_most(const Json& calls, const char* member, std::string_view value, const char* key)
{
  const Json* most = nullptr;
  if (const Json* sites = array(calls, "sites"))
    for (const Json& site : *sites)
      if (text(site, member) == value && (most == nullptr || number(site, key) > number(*most, key)))
        most = &site;
  return most;
}

// "MPI_Waitall at solve+0x1c (app), app.c:12 (34 ms of all ranks)": the place with most of that time.
std::string worst_place(const Json& calls, std::string_view of_class, const char* key)
{
  const Json* const worst = site_with_most(calls, "class", of_class, key);
  if (worst == nullptr || number(*worst, key) <= 0)
    return {};
  return fmt::format("most of it in {} at {}: {} in all ranks", text(*worst, "name"), text(*worst, "place"),
                     observe::show_time(number(*worst, key)));
}

// Which rank others wait for: the one that waits least itself.
std::string least_late(const Json& calls)
{
  const Json* const ranks = array(calls, "ranks");
  if (ranks == nullptr || ranks->size() < 2)
    return {};
  const auto least = std::min_element(ranks->begin(), ranks->end(), [](const Json& a, const Json& b) {
    return number(a, "late_ps") < number(b, "late_ps");
  });
  double sum = 0;
  for (const Json& rank : *ranks)
    sum += real(rank, "late_ps");
  const double mean = sum / static_cast<double>(ranks->size());
  if (real(*least, "late_ps") > mean / 2)
    return {};
  return fmt::format("rank {} waits least for others ({}, the mean is {}): it is probably who they wait for",
                     number(*least, "rank"), observe::show_time(number(*least, "late_ps")),
                     observe::show_time(static_cast<sim::SimTime>(mean)));
}

} // namespace

void find_imbalance(const Json& run, std::vector<Finding>& found)
{
  const Json* const ranks = array(run, "ranks");
  const double simulated = real(run, "simulated_ps");
  if (ranks == nullptr || ranks->size() < 2 || simulated <= 0)
    return;
  const auto most = std::max_element(ranks->begin(), ranks->end(), [](const Json& a, const Json& b) {
    return number(a, "compute_ps") < number(b, "compute_ps");
  });
  double sum = 0;
  for (const Json& rank : *ranks)
    sum += real(rank, "compute_ps");
  const double mean = sum / static_cast<double>(ranks->size());
  const double lost = (real(*most, "compute_ps") - mean) / simulated;
  if (lost < worth_telling)
    return;
  std::vector<std::int64_t> slow; // those nearer to the most than to the mean
  for (const Json& rank : *ranks)
    if (real(rank, "compute_ps") > (mean + real(*most, "compute_ps")) / 2)
      slow.push_back(number(rank, "rank"));
  Finding finding;
  finding.weight = lost;
  finding.what =
      fmt::format("Imbalance: rank {} on {} computes {}, {:.2f} times the mean of {}; the others wait for "
                  "that, up to {} of the run.",
                  number(*most, "rank"), text(*most, "host"), observe::show_time(number(*most, "compute_ps")),
                  mean > 0 ? real(*most, "compute_ps") / mean : 0.0,
                  observe::show_time(static_cast<sim::SimTime>(mean)), percent(lost));
  if (slow.size() > 1)
    finding.details.push_back(list_of_ranks(slow) + " compute more than the rest");
  if (const Json* path = member(run, "critical_path"))
    if (const Json* list = array(*path, "if_free"))
      for (const Json& one : *list)
        if (text(one, "what") == fmt::format("computing of rank {}", number(*most, "rank")))
          finding.details.push_back(fmt::format(
              "if rank {} computed nothing at all, the run would take {} instead of {}", number(*most, "rank"),
              observe::show_time(number(one, "simulated_ps")), observe::show_time(number(run, "simulated_ps"))));
  finding.next =
      "Spread the work more evenly. If one node is slower than others, say so in the platform, and put ranks "
      "elsewhere with --placement.";
  found.push_back(std::move(finding));
}

void find_lateness(const Json& run, std::vector<Finding>& found)
{
  const Json* const calls = member(run, "mpi_calls");
  const Json* const late = calls != nullptr ? member(*calls, "late_ps") : nullptr;
  const double life = life_of(run);
  if (late == nullptr || life <= 0)
    return;
  for (const Kind& kind : kinds) {
    const double share = real(*late, kind.name) / life;
    if (share < worth_telling)
      continue;
    Finding finding;
    finding.weight = share;
    finding.what =
        fmt::format("Late ranks: for {} of the ranks' time others wait {} ({}).", percent(share), kind.late, kind.name);
    for (const std::string& detail : {worst_place(*calls, kind.name, "late_ps"), least_late(*calls)})
      if (!detail.empty())
        finding.details.push_back(detail);
    finding.next = kind.next;
    found.push_back(std::move(finding));
  }
}

void find_polling(const Json& run, std::vector<Finding>& found)
{
  constexpr std::uint64_t many = 10'000;
  constexpr double often = 100; // looks for each message
  const Json* const calls = member(run, "mpi_calls");
  const double life = life_of(run);
  if (calls == nullptr || life <= 0)
    return;
  double messages = 0;
  if (const Json* totals = member(run, "totals"))
    messages = real(*totals, "messages");
  const Json* const functions = array(*calls, "functions");
  for (std::size_t i = 0; functions != nullptr && i < functions->size(); ++i) {
    const Json& function = (*functions)[i];
    const std::string name = text(function, "name");
    const bool looks = name.find("MPI_Test") == 0 || name == "MPI_Iprobe" || name == "MPI_Improbe";
    const auto times = static_cast<std::uint64_t>(number(function, "calls"));
    if (!looks || times < many || static_cast<double>(times) < often * messages)
      continue;
    Finding finding;
    finding.weight = real(function, "time_ps") / life;
    finding.what = fmt::format("Polling: {} is called {} times, {:.0f} times for each message; {} of the ranks' time "
                               "goes into it.",
                               name, observe::show_count(times), static_cast<double>(times) / std::max(messages, 1.0),
                               percent(finding.weight));
    if (const Json* const worst = site_with_most(*calls, "name", name, "calls"))
      finding.details.push_back(fmt::format("mostly at {}: {} calls", text(*worst, "place"),
                                            observe::show_count(static_cast<std::uint64_t>(number(*worst, "calls")))));
    finding.next = "Wait instead (MPI_Wait, MPI_Waitany, MPI_Probe), or look less often. A loop that looks and never "
                   "lets the one that it waits for go on ends as a deadlock.";
    found.push_back(std::move(finding));
  }
}

void find_beginning(const Json& run, std::vector<Finding>& found)
{
  constexpr double most_of_it = 0.5;
  const Json* const calls = member(run, "mpi_calls");
  const Json* const functions = calls != nullptr ? array(*calls, "functions") : nullptr;
  const double life = life_of(run);
  double edges = 0;
  for (std::size_t i = 0; functions != nullptr && i < functions->size(); ++i)
    if (const std::string name = text((*functions)[i], "name");
        name == "MPI_Init" || name == "MPI_Init_thread" || name == "MPI_Finalize")
      edges += real((*functions)[i], "time_ps");
  if (life <= 0 || edges < most_of_it * life)
    return;
  found.push_back({fmt::format("Short run: MPI_Init and MPI_Finalize take {} of it.", percent(edges / life)),
                   {},
                   "A longer run, with more steps or a larger problem, tells more.",
                   0.01});
}

} // namespace umwelt::report
