// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/cli/platform_question.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "platforms/analysis/bisection.h"
#include "platforms/analysis/drawing.h"
#include "platforms/analysis/route_check.h"
#include "platforms/catalogue.h"
#include "platforms/network.h"
#include "platforms/platform.h"
#include "runtime/base/nearest.h"
#include "runtime/base/parameters.h"
#include "runtime/base/usage_error.h"
#include "runtime/observe/result_file.h"

namespace umwelt::cli
{
namespace
{

using Json = nlohmann::ordered_json;
using platform::Platform;

// What is asked, as it comes: text for people, and the same as JSON.
struct Answers {
  std::string text;
  Json json = Json::object();
};

platform::NodeIndex node_of(const Platform& platform, const std::string& text)
{
  std::vector<std::string_view> names;
  for (const platform::Node& node : platform.nodes()) {
    if (node.name == text)
      return static_cast<platform::NodeIndex>(names.size());
    names.emplace_back(node.name);
  }
  std::uint64_t number = 0;
  if (parse_count(text, number) && number < names.size())
    return static_cast<platform::NodeIndex>(number);
  throw UsageError("--routes",
                   fmt::format("two nodes of platform {}, {} to {} or 0 to {}", platform.name(), names.front(),
                               names.back(), names.size() - 1),
                   in_quotes(text),
                   fmt::format("The nearest name is {}; --nodes says how many there are where the run decides.",
                               nearest(text, names)));
}

void describe(const PlatformQuestion& question, const Platform& platform, Answers& answers)
{
  answers.text +=
      fmt::format("{}: {} nodes of {} cores", platform.name(), platform.node_count(), platform.node(0).cores);
  answers.json["name"] = platform.name();
  answers.json["nodes"] = platform.node_count();
  answers.json["cores"] = platform.node(0).cores;
  if (const platform::Network* network = platform.network()) {
    const platform::Graph& graph = network->topology->graph();
    const auto channels = graph.channels();
    const auto cables = std::count_if(channels.begin(), channels.end(), [&](const platform::Channel& channel) {
      return !network->absent(channel.from) && !network->absent(channel.to);
    });
    answers.text += fmt::format(", {} switches, {} cables", graph.switches(), cables / 2);
    answers.json["switches"] = graph.switches();
    answers.json["cables"] = cables / 2;
  }
  answers.text += '\n';
  if (const std::size_t outages = platform.outages().size(); outages > 0) {
    answers.text += fmt::format("  links fail by profile: {} times{}\n", outages,
                                platform.outages_known_until() == sim::never ? "" : " and on, without end");
    answers.json["outages"] = outages;
  }
  if (question.check || question.bisection || !question.routes.empty() || !question.draw.empty())
    return;
  for (const ParameterInfo& parameter : platform::parameters_of(question.spec))
    answers.text += fmt::format("  {:<28} {}\n", parameter.key + '=' + parameter.standard, parameter.help);
}

void tell_route(const PlatformQuestion& question, const Platform& platform, Answers& answers)
{
  const platform::NodeIndex from = node_of(platform, question.routes.front());
  const platform::NodeIndex to = node_of(platform, question.routes.back());
  const auto steps = platform::steps(platform, from, to);
  const platform::Route& route = platform.route(from, to);
  answers.text +=
      fmt::format("\n{} to {}: {} links, {}\n", platform.node(from).name, platform.node(to).name, steps.size(),
                  steps.empty() ? "the same node" : time_text(route.latency) + ", " + bandwidth_text(route.bandwidth));
  Json& links = answers.json["route"] = Json::array();
  for (const platform::Step& step : steps) {
    const std::string name = platform::link_name(platform, step.link);
    answers.text += fmt::format("  {}  [virtual channel {}]\n", name, step.virtual_channel);
    links.push_back({{"link", name}, {"virtual_channel", step.virtual_channel}});
  }
}

bool tell_check(const Platform& platform, Answers& answers)
{
  const platform::RouteCheck check = platform::check_routes(platform);
  answers.text +=
      fmt::format("\nroutes: {} between {} nodes{}, {:.2f} links on average, {} at most\n", check.routes, check.nodes,
                  check.nodes < platform.node_count() ? " (a sample)" : "", check.average, check.longest);
  for (const std::string& wrong : check.broken)
    answers.text += fmt::format("  broken: {}\n", wrong);
  answers.text += check.broken.empty() ? "reachable: every pair\n" : "";
  if (check.cycle.empty())
    answers.text += fmt::format("deadlock: none{}, the channel dependency graph has no cycle ({} virtual channel{})\n",
                                check.nodes < platform.node_count() ? " by these routes" : "", check.virtual_channels,
                                check.virtual_channels == 1 ? "" : "s");
  else
    answers.text += fmt::format("deadlock: possible where buffers are finite; these links wait for each other in a "
                                "circle:\n  {}\n",
                                fmt::join(check.cycle, "\n  "));
  answers.json["check"] = {{"nodes", check.nodes},
                           {"routes", check.routes},
                           {"average_links", check.average},
                           {"longest_links", check.longest},
                           {"virtual_channels", check.virtual_channels},
                           {"broken", check.broken},
                           {"cycle", check.cycle}};
  return check.broken.empty() && check.cycle.empty();
}

void tell_bisection(const Platform& platform, Answers& answers)
{
  const platform::BisectionReport report = platform::bisection(platform);
  const std::uint64_t cables = report.cables[0] + report.cables[1] + report.cables[2];
  const std::string how = report.known ? "closed form: " + report.source
                                       : "minimum cut between the first and the second half of the nodes; other halves "
                                         "may need less";
  answers.text +=
      fmt::format("\nbisection: {} cables, {} per direction\n  {}\n", cables, bandwidth_text(report.bandwidth), how);
  answers.json["bisection"] = {{"cables", cables}, {"bandwidth", report.bandwidth}, {"how", how}};
}

void draw(const std::string& path, const Platform& platform, Answers& answers)
{
  observe::ResultFile file("--draw", path);
  file.buffer() = platform::drawing(platform);
  file.finish();
  answers.text += fmt::format("\ndrawn: {}\n", path);
  answers.json["drawn"] = path;
}

} // namespace

PlatformAnswer answer(const PlatformQuestion& question, bool json)
try {
  const auto platform = platform::make_platform({question.spec, question.nodes, 0});
  Answers answers;
  describe(question, *platform, answers);
  if (!question.routes.empty())
    tell_route(question, *platform, answers);
  const bool sound = !question.check || tell_check(*platform, answers);
  if (question.bisection)
    tell_bisection(*platform, answers);
  if (!question.draw.empty())
    draw(question.draw, *platform, answers);
  return {json ? answers.json.dump(2) + "\n" : answers.text, sound};
} catch (const std::invalid_argument& error) {
  throw UsageError(error.what());
}

} // namespace umwelt::cli
