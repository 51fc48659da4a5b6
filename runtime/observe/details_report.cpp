// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/details_report.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace umwelt::observe
{

namespace
{

using Json = nlohmann::ordered_json;

Json run_json(const RunFacts& run)
{
  Json objects = Json::array();
  for (const RunFacts::Object& object : run.objects)
    objects.push_back({{"path", object.path}, {"build_id", object.build_id}});
  return {{"command", run.command},
          {"directory", run.directory},
          {"started", run.started},
          {"simgrid", run.simgrid},
          {"platform", run.platform},
          {"objects", objects},
          {"host",
           {{"name", run.host},
            {"system", run.system},
            {"processor", run.processor},
            {"cores", run.cores},
            {"memory_bytes", run.memory_bytes}}}};
}

Json links_json(const Details& details, Json nics)
{
  Json vertices = Json::array();
  for (const Details::Vertex& vertex : details.vertices)
    vertices.push_back({{"name", vertex.name}, {"kind", vertex.host ? "host" : "switch"}});
  Json links = Json::array();
  for (const Details::Link& link : details.links) {
    Json entry = {{"name", link.name},
                  {"class", link.kind},
                  {"bandwidth_Bps", link.bandwidth},
                  {"latency_ps", link.latency},
                  {"bytes", link.bytes}};
    if (link.from != Details::unknown) {
      entry["from"] = link.from;
      entry["to"] = link.to;
    }
    Json bins = Json::array();
    for (const double bytes : link.bytes_per_bin)
      bins.push_back(std::llround(bytes));
    entry["bytes_per_bin"] = std::move(bins);
    links.push_back(std::move(entry));
  }
  return {{"bin_ps", details.link_bin}, {"nodes", vertices}, {"links", links}, {"nics", std::move(nics)}};
}

Json nics_json(const Details& details, sim::SimTime simulated)
{
  Json nics = Json::array();
  for (const Details::Nic& nic : details.nics) {
    Json& one = nics.emplace_back(
        Json{{"node", nic.name}, {"messages", nic.messages}, {"bytes", nic.bytes}, {"sent_in_vain", nic.in_vain}});
    if (nic.commands + nic.events == 0)
      continue;
    one.update({{"commands", nic.commands},
                {"queue_mean", simulated > 0 ? static_cast<double>(nic.queued) / static_cast<double>(simulated) : 0.0},
                {"queue_fullest", nic.fullest},
                {"transmitting_ps", nic.transmitting},
                {"pci_read_bytes", nic.pci_read_bytes},
                {"pci_written_bytes", nic.pci_written_bytes},
                {"events", nic.events}});
  }
  return nics;
}

// In thousandths of a bin: thousands of ranks are to fit into a page.
Json timeline_json(const Details& details)
{
  const double unit = static_cast<double>(details.outline_bin) / 1000;
  Json ranks = Json::array();
  for (const Details::Outline& rank : details.outline) {
    Json states = Json::array();
    for (const std::vector<double>& state : rank) {
      Json bins = Json::array();
      for (const double time : state)
        bins.push_back(std::llround(time / unit));
      states.push_back(std::move(bins));
    }
    ranks.push_back(std::move(states));
  }
  return {{"bin_ps", details.outline_bin},
          {"unit", "thousandths of a bin"},
          {"states", {"computing", "communicating", "waiting"}},
          {"ranks", ranks}};
}

Json path_json(const CriticalPathRecord& path)
{
  Json kinds;
  for (std::size_t i = 0; i < path_kinds; ++i)
    kinds[fmt::format("{}_ps", path_kind_names[i])] = path.kinds[i];
  Json ranks = Json::array();
  for (std::size_t rank = 0; rank < path.ranks.size(); ++rank)
    if (path.ranks[rank] > 0)
      ranks.push_back({{"rank", rank}, {"ps", path.ranks[rank]}});
  Json segments = Json::array();
  for (const CriticalPathRecord::Segment& one : path.segments) {
    segments.push_back({{"rank", one.rank},
                        {"begin_ps", one.begin},
                        {"end_ps", one.end},
                        {"kind", one.message ? "message" : "work"},
                        {"what", one.message ? fmt::format("from rank {}", one.from) : std::string()}});
  }
  Json answers = Json::array();
  for (const CriticalPathRecord::Answer& one : path.if_free)
    answers.push_back({{"what", one.what}, {"simulated_ps", one.simulated}});
  return {{"length_ps", path.length},
          {"known_since_ps", path.known_since},
          {"kinds", kinds},
          {"ranks", ranks},
          {"segments", segments},
          {"segments_left_out", path.left_out},
          {"as_it_is_ps", path.as_it_is},
          {"if_free", answers}};
}

} // namespace

nlohmann::ordered_json details_json(const Details& details, sim::SimTime simulated)
{
  Json json;
  json["run"] = run_json(details.run);
  json["links"] = links_json(details, nics_json(details, simulated));
  json["timeline"] = timeline_json(details);
  json["critical_path"] = path_json(details.path);
  return json;
}

} // namespace umwelt::observe
