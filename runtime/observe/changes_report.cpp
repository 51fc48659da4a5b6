// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/changes_report.h"

#include <vector>

#include <fmt/format.h>

#include "runtime/observe/format.h"

namespace umwelt::observe
{
namespace
{

constexpr std::size_t most = 8; // changes in the summary

std::string text_of(const std::vector<NodeChange>& changes)
{
  std::string text;
  for (std::size_t i = 0; i < changes.size() && i < most; ++i)
    text += fmt::format("; {} on {} at {}", changes[i].now, changes[i].nodes, show_time(changes[i].at));
  if (changes.size() > most)
    text += fmt::format("; and {} more changes", changes.size() - most);
  return text;
}

std::string text_of(const std::vector<std::string>& not_reached)
{
  std::string text;
  for (const std::string& option : not_reached)
    text += fmt::format("  {}: never came to that\n", option);
  return text;
}

nlohmann::ordered_json json_of(const std::vector<NodeChange>& changes, const char* what)
{
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const NodeChange& change : changes)
    json.push_back({{"at_ps", change.at}, {what, change.now}, {"nodes", change.nodes}});
  return json;
}

std::string model_lines(const ModelsRecord& models)
{
  if (models.models.empty())
    return {};
  std::string text;
  for (const ModelsRecord::Nodes& one : models.models)
    if (one.nodes > 0)
      text += fmt::format("{}{} on {} node{}", text.empty() ? "  models: " : ", ", one.model, one.nodes,
                          one.nodes == 1 ? "" : "s");
  return fmt::format("{}{}\n  messages: {} from one model to another, {} waited for those before a change\n{}", text,
                     text_of(models.changes), show_count(models.handed_over), show_count(models.held),
                     text_of(models.not_reached));
}

} // namespace

std::string change_lines(const JobRecord& job)
{
  std::string text = model_lines(job.models);
  if (!job.cpus.changes.empty())
    text += fmt::format("  computing: {}{}\n", job.cpu_policy, text_of(job.cpus.changes));
  return text + text_of(job.cpus.not_reached);
}

void add_changes(nlohmann::ordered_json& json, const JobRecord& job)
{
  if (const ModelsRecord& models = job.models; !models.models.empty()) {
    nlohmann::ordered_json& all = json["models"];
    for (const ModelsRecord::Nodes& one : models.models)
      all["at_begin"].push_back({{"model", one.model}, {"nodes", one.nodes}});
    all["changes"] = json_of(models.changes, "model");
    all["not_reached"] = models.not_reached;
    all["handed_over"] = models.handed_over;
    all["held"] = models.held;
  }
  if (job.cpus.change)
    json["cpus"] = {{"changes", json_of(job.cpus.changes, "cpu")}, {"not_reached", job.cpus.not_reached}};
}

} // namespace umwelt::observe
