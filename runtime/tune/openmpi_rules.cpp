// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/tune/openmpi_rules.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "runtime/tune/functions.h"

namespace umwelt::tune
{
namespace
{

struct Communicator {
  unsigned ranks;
  std::vector<Rule> rules;
};

// Would end a program on any other number of ranks.
bool for_two_processes(const std::vector<Rule>& rules)
{
  return std::any_of(rules.begin(), rules.end(),
                     [](const Rule& rule) { return rule.choice.name.find("two_proc") != std::string::npos; });
}

std::vector<Communicator> communicators(const std::map<unsigned, std::vector<Rule>>& measured)
{
  const std::vector<Rule> own_decision{{0, {}}};
  std::vector<Communicator> list{{0, own_decision}};
  for (auto at = measured.begin(); at != measured.end(); ++at) {
    const auto& [ranks, rules] = *at;
    list.push_back({ranks, rules});
    const auto next = std::next(at);
    if (for_two_processes(rules) && (next == measured.end() || next->first != ranks + 1))
      list.push_back({ranks + 1, own_decision});
  }
  return list;
}

std::string communicator_text(const Communicator& communicator, const Function& function)
{
  std::string text = fmt::format("  {} {}\n", communicator.ranks, communicator.rules.size());
  for (const Rule& rule : communicator.rules) {
    const std::uint64_t size =
        function.openmpi == Looks::at_bytes_of_all_ranks ? rule.size * communicator.ranks : rule.size;
    text += fmt::format("    {} {} {} {} # {}\n", size, rule.choice.number, rule.choice.fanout, rule.choice.segment,
                        label(rule.choice));
  }
  return text;
}

} // namespace

std::string openmpi_rules(std::span<const Group> groups)
{
  std::map<unsigned, std::map<unsigned, std::vector<Rule>>> collectives;
  std::map<unsigned, const Function*> names;
  for (const Group& group : groups) {
    const Function& function = known_function(group.function());
    std::vector<Rule> rules = function.openmpi == Looks::nothing ? one_rule(group) : rules_by_size(group);
    if (rules.empty())
      continue;
    collectives[function.openmpi_id][group.ranks()] = std::move(rules);
    names[function.openmpi_id] = &function;
  }
  std::string text = fmt::format("# Of `umwelt tune collectives`, for Open MPI 4.0 and 4.1:\n"
                                 "# --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename FILE\n"
                                 "{} # functions\n",
                                 collectives.size());
  for (const auto& [id, measured] : collectives) {
    const Function& function = *names[id];
    const std::vector<Communicator> list = communicators(measured);
    text += fmt::format("{} {} # {}: ranks; {}, algorithm, chains, segment\n", id, list.size(), function.name,
                        function.openmpi == Looks::at_bytes                ? "bytes"
                        : function.openmpi == Looks::at_bytes_of_all_ranks ? "bytes times ranks"
                                                                           : "all sizes");
    for (const Communicator& communicator : list)
      text += communicator_text(communicator, function);
  }
  return text;
}

} // namespace umwelt::tune
