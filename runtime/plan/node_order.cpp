// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/node_order.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <limits>
#include <numeric>

#include "runtime/base/nearest.h"
#include "runtime/base/parameters.h"
#include "runtime/base/usage_error.h"
#include "runtime/base/values.h"
#include "runtime/plan/options.h"

namespace umwelt::plan
{
namespace
{

std::vector<std::string> read_nodes(std::string_view option, const std::string& path)
{
  std::ifstream in(path);
  std::vector<std::string> nodes;
  std::string line;
  while (std::getline(in, line))
    if (const std::string_view node = trim(std::string_view(line).substr(0, line.find('#'))); !node.empty())
      nodes.emplace_back(node);
  if (!in.eof()) // not there, or a directory
    throw UsageError(fmt::format("{} @{}", option, path), "a file that can be read", in_quotes(std::strerror(errno)),
                     "Check the path and the permissions.");
  if (nodes.empty())
    throw UsageError(fmt::format("{} @{}", option, path), "a node for each rank, one per line", "none",
                     "For example: bxi0, or its number 0.");
  return nodes;
}

[[noreturn]] void contradiction(const NodeOrder& order, std::string_view other)
{
  throw UsageError(order.where, "no option that places ranks otherwise", other, "Leave one of them out.");
}

} // namespace

NodeOrder parse_node_order(std::string_view option, const std::string& text)
{
  using Kind = NodeOrder::Kind;
  NodeOrder order;
  order.where = fmt::format("{} {}", option, text);
  if (text.starts_with('@')) {
    order.kind = Kind::file;
    order.nodes = read_nodes(option, text.substr(1));
    return order;
  }
  const auto colon = text.find(':');
  const std::string name = text.substr(0, colon);
  if (name == "in_order")
    order.kind = Kind::in_order;
  else if (name == "round_robin")
    order.kind = Kind::round_robin;
  else if (name == "random")
    order.kind = Kind::random;
  if (order.kind == Kind::as_mapped || (colon != std::string::npos && order.kind != Kind::random)) {
    static constexpr std::array<std::string_view, 3> known{"in_order", "round_robin", "random"};
    throw UsageError(option, "in_order, round_robin, random, random:SEED or @FILE", in_quotes(text),
                     fmt::format("The nearest known one is '{}'.", nearest(name, known)));
  }
  if (colon != std::string::npos)
    order.seed = read_count(fmt::format("{}: SEED", option), text.substr(colon + 1), "a number", 0,
                            std::numeric_limits<std::uint64_t>::max());
  return order;
}

void apply_node_order(RunOptions& run)
{
  const NodeOrder& order = run.node_order;
  switch (order.kind) {
  case NodeOrder::Kind::as_mapped:
  case NodeOrder::Kind::random: // goes with every mapping
    return;
  case NodeOrder::Kind::in_order:
    if (run.map_by == MapBy::node)
      contradiction(order, "--map-by node");
    if (run.rank_by == RankBy::node)
      contradiction(order, "--rank-by node");
    return;
  case NodeOrder::Kind::round_robin:
    if (run.map_by == MapBy::slot)
      contradiction(order, "--map-by slot, core or ppr");
    if (run.rank_by == RankBy::slot)
      contradiction(order, "--rank-by slot");
    run.map_by = MapBy::node;
    return;
  case NodeOrder::Kind::file:
    break;
  }
  if (run.map_by != MapBy::automatic)
    contradiction(order, "--map-by");
  if (run.rank_by)
    contradiction(order, "--rank-by");
  if (run.ranks_per_node)
    contradiction(order, "-N");
  if (std::any_of(run.programs.begin(), run.programs.end(), [](const AppContext& app) { return !app.hosts.empty(); }))
    contradiction(order, "--host or --hostfile");
  run.map_by = MapBy::slot; // a node may be named several times
  if (run.programs.size() == 1 && !run.programs.front().ranks)
    run.programs.front().ranks = static_cast<unsigned>(order.nodes.size());
  const unsigned ranks =
      std::accumulate(run.programs.begin(), run.programs.end(), 0U,
                      [](unsigned sum, const AppContext& app) { return sum + app.ranks.value_or(1); });
  if (ranks > order.nodes.size())
    throw UsageError(order.where, fmt::format("a node for each of {} ranks", ranks),
                     fmt::format("{}", order.nodes.size()), "Add a line for each of the others.");
}

} // namespace umwelt::plan
