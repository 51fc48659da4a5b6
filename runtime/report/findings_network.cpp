// SPDX-License-Identifier: LGPL-2.1-or-later
// NICs, links and collectives.
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

constexpr double worth_telling = 0.1; // of the run

// What a part of the critical path is (observe/details_report.cpp), and what helps.
struct Bound {
  const char* kind;
  std::string_view free; // of `if_free`
  std::string_view what;
  std::string_view next;
};
constexpr std::array bounds = {
    Bound{"software_ps", "software", "CPU time of MPI and of commands to the NIC",
          "Fewer, larger messages; with --mca pml cm --mca mtl portals4 the NIC does the matching."},
    Bound{"nic_ps", "nic", "the way through NICs and PCI",
          "Fewer messages one after the other; umwelt models lists the NIC's parameters (--nic) for what another one "
          "would bring."},
    Bound{
        "latency_ps", "latency", "latency of links",
        "Fewer messages one after the other, or a network with fewer hops; --latency-factor 0.5 shows what less would "
        "bring."},
    Bound{"bandwidth_ps", "bandwidth", "bandwidth",
          "Fewer bytes, or let ranks compute meanwhile; --bandwidth-factor 2 shows what more would bring."},
    Bound{"contention_ps", "contention", "waiting for messages of others in NICs and links",
          "Messages at other times, ranks elsewhere (--placement, --map-by), or another network: --platform, and "
          "umwelt platforms NAME --bisection."}};

std::string now_and_then(const Json& run, const Json& path, std::string_view what)
{
  if (const Json* list = array(path, "if_free"))
    for (const Json& one : *list)
      if (text(one, "what") == what)
        return fmt::format("without it the run would take {} instead of {}",
                           observe::show_time(number(one, "simulated_ps")),
                           observe::show_time(number(run, "simulated_ps")));
  return {};
}

struct Load {
  double whole = 0; // share of what the link could carry in the run
  double peak = 0;  // in its busiest bin
};

Load load_of(const Json& link, double simulated, double bin)
{
  Load load;
  const double bandwidth = real(link, "bandwidth_Bps");
  if (bandwidth <= 0 || simulated <= 0)
    return load;
  constexpr double second = 1e12;
  load.whole = real(link, "bytes") / (bandwidth * simulated / second);
  if (const Json* bins = array(link, "bytes_per_bin"); bins != nullptr && bin > 0)
    for (const Json& bytes : *bins)
      load.peak = std::max(load.peak, static_cast<double>(as_number(bytes)) / (bandwidth * bin / second));
  return load;
}

} // namespace

void find_refusals(const Json& run, std::vector<Finding>& found)
{
  const Json* const ranks = array(run, "ranks");
  std::int64_t all = 0;
  const Json* worst = nullptr;
  for (std::size_t i = 0; ranks != nullptr && i < ranks->size(); ++i) {
    all += number((*ranks)[i], "messages_refused");
    if (worst == nullptr || number((*ranks)[i], "messages_refused") > number(*worst, "messages_refused"))
      worst = &(*ranks)[i];
  }
  if (all == 0)
    return;
  Finding finding;
  double sent = 0;
  if (const Json* totals = member(run, "totals"))
    sent = real(*totals, "messages");
  finding.weight = std::min(1.0, static_cast<double>(all) / std::max(sent, 1.0));
  finding.what = fmt::format("Too few eager credits: NICs refused {}, for which the target had no room; they were sent "
                             "again.",
                             plural(static_cast<std::uint64_t>(all), "message"));
  finding.details.push_back(fmt::format("most of them at rank {} on {}: {}", number(*worst, "rank"),
                                        text(*worst, "host"), number(*worst, "messages_refused")));
  finding.next = "Receive earlier, or give the MPI library more room for messages that nobody has asked for yet: --mca "
                 "btl_portals4_recv_md_num N, with --mca pml cm --mca mtl_portals4_short_recv_num N.";
  found.push_back(std::move(finding));
}

void find_hot_links(const Json& run, std::vector<Finding>& found)
{
  constexpr double hot = 0.5;
  constexpr double full = 0.9;
  constexpr std::size_t most = 5;
  const Json* const record = member(run, "links");
  const Json* const links = record != nullptr ? array(*record, "links") : nullptr;
  if (links == nullptr)
    return;
  std::vector<std::pair<Load, const Json*>> loads;
  for (const Json& link : *links)
    if (const Load load = load_of(link, real(run, "simulated_ps"), real(*record, "bin_ps"));
        load.whole >= hot || (load.whole >= hot / 2 && load.peak >= full))
      loads.emplace_back(load, &link);
  if (loads.empty())
    return;
  std::stable_sort(loads.begin(), loads.end(),
                   [](const auto& a, const auto& b) { return a.first.whole > b.first.whole; });
  Finding finding;
  finding.weight = std::min(1.0, loads.front().first.whole);
  finding.what = fmt::format("Hot link{}: {} carries {} of what it could in the whole run, {} at its peak{}.",
                             loads.size() == 1 ? "" : "s", text(*loads.front().second, "name"),
                             percent(loads.front().first.whole), percent(loads.front().first.peak),
                             loads.size() == 1 ? "" : fmt::format("; {} in all are as busy", loads.size()));
  for (std::size_t i = 1; i < std::min(most, loads.size()); ++i)
    finding.details.push_back(fmt::format("{}: {}, {} at its peak", text(*loads[i].second, "name"),
                                          percent(loads[i].first.whole), percent(loads[i].first.peak)));
  finding.next = "See who sends over it (umwelt platforms NAME --routes A B), put ranks elsewhere (--placement, "
                 "--map-by), or try another routing or more cables (--platform NAME:routing=..., :spines=...).";
  found.push_back(std::move(finding));
}

void find_bounds(const Json& run, std::vector<Finding>& found)
{
  const Json* const path = member(run, "critical_path");
  const Json* const parts = path != nullptr ? member(*path, "kinds") : nullptr;
  const double length = path != nullptr ? real(*path, "length_ps") : 0;
  if (parts == nullptr || length <= 0)
    return;
  for (const Bound& bound : bounds) {
    const double share = real(*parts, bound.kind) / length;
    if (share < worth_telling)
      continue;
    Finding finding;
    finding.weight = share;
    finding.what = fmt::format("Of the path that determines the end, {} is {}.", percent(share), bound.what);
    if (const std::string detail = now_and_then(run, *path, bound.free); !detail.empty())
      finding.details.push_back(detail);
    finding.next = bound.next;
    found.push_back(std::move(finding));
  }
}

void find_collectives(const Json& run, std::vector<Finding>& found)
{
  const Json* const calls = member(run, "mpi_calls");
  const Json* const waited = calls != nullptr ? member(*calls, "waited_ps") : nullptr;
  const Json* const late = calls != nullptr ? member(*calls, "late_ps") : nullptr;
  const double life = life_of(run);
  if (waited == nullptr || late == nullptr || life <= 0)
    return;
  const double share = (real(*waited, "collectives") - real(*late, "collectives")) / life;
  if (share < worth_telling)
    return;
  Finding finding;
  finding.weight = share;
  finding.what = fmt::format("Collectives: {} of the ranks' time passes in them while their messages are under way.",
                             percent(share));
  if (const Json* functions = array(*calls, "functions"))
    for (const Json& function : *functions)
      if (text(function, "class") == "collectives" && finding.details.size() < 3)
        finding.details.push_back(fmt::format("{}: {}, {}", text(function, "name"),
                                              plural(static_cast<std::uint64_t>(number(function, "calls")), "call"),
                                              observe::show_time(number(function, "time_ps"))));
  finding.next = "--collectives zero shows what the best collectives could bring; umwelt tune collectives finds the "
                 "library's best algorithms for this machine.";
  found.push_back(std::move(finding));
}

} // namespace umwelt::report
