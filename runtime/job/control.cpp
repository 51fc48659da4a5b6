// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/control.h"

#include <exception>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "runtime/base/parameters.h"

namespace umwelt::job
{

std::string Control::answer(const std::string& request)
{
  constexpr std::string_view model = "model=";
  constexpr std::string_view cpu = "cpu=";
  if (request == "status")
    return "ok " + status();
  if (request == "continue") {
    if (held_.empty())
      return "error continue: expected a run that stands still at a --break, but it goes on";
    held_.clear();
    return fmt::format("ok goes on from {}", time_text(timeline_.now()));
  }
  if (!may_change_ && (request.starts_with(model) || request.starts_with(cpu)))
    return fmt::format("error {}: expected a run that was started with umwelt run --ctl, got one without", request);
  try {
    if (request.starts_with(model)) {
      const plan::ModelChoice choice = plan::parse_model_choice("umwelt ctl: model", request.substr(model.size()));
      return changed(choice.name, network_.set(choice, timeline_.now()));
    }
    if (request.starts_with(cpu)) {
      const plan::CpuChoice choice = plan::parse_cpu_choice("umwelt ctl: cpu", request.substr(cpu.size()));
      return changed("cpu " + choice.policy.text(), computing_.set(choice, timeline_.now()));
    }
  } catch (const std::exception& error) {
    return fmt::format("error {}", error.what());
  }
  return fmt::format("error expected status, continue, model=[NODES=]MODEL or cpu=[NODES=]POLICY, got '{}'", request);
}

std::string Control::changed(std::string_view what, std::size_t nodes) const
{
  return fmt::format("ok {} on {} node{} from {} on", what, nodes, nodes == 1 ? "" : "s", time_text(timeline_.now()));
}

std::string Control::status() const
{
  std::map<std::string, std::size_t> count;
  if (net::MixedModel* const mixed = network_.mixed(); mixed != nullptr)
    for (std::size_t node = 0; node < mixed->assignment().nodes(); ++node)
      ++count[network_.name_of(mixed->assignment().at(static_cast<net::NodeIndex>(node), timeline_.now()))];
  std::string text = fmt::format("simulated time {}", time_text(timeline_.now()));
  if (!held_.empty())
    text += fmt::format("; stands still at {}", held_);
  for (const auto& [name, nodes] : count)
    text += fmt::format("; {} on {} node{}", name, nodes, nodes == 1 ? "" : "s");
  return text;
}

} // namespace umwelt::job
