// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/catalogue.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "net_models/bxi/model.h"
#include "net_models/delay/model.h"
#include "net_models/flow/model.h"
#include "net_models/loggp/model.h"
#include "net_models/node/parameters.h"
#include "net_models/piecewise/model.h"
#include "net_models/zero/model.h"
#include "platforms/platform.h"
#include "runtime/base/nearest.h"

namespace umwelt::net
{

namespace
{

template <class ModelType, class ParameterType>
std::unique_ptr<Model> make(const ModelContext& context, const Parameters& parameters, const Parameters& given,
                            const char* name)
{
  auto values = read_parameters<ParameterType>(parameters, fmt::format("model {}", name));
  if constexpr (requires { values.check_effect(given); }) // else all parameters always have one
    values.check_effect(given);
  if constexpr (requires { values.scale(context.factors); }) // else all it knows of the network is the platform's
    values.scale(context.factors);
  return std::make_unique<ModelType>(context, values);
}

// Which of the platform's nic: properties a model takes.
enum class NicProperties : std::uint8_t {
  none,
  known, // those it has; others belong to what it leaves out of the NIC
  all,   // one it does not have is an error
};

struct Ready {
  const char* name;
  const char* summary;
  // `given`: what the user has said, of all parameters.
  std::unique_ptr<Model> (*make)(const ModelContext&, const Parameters&, const Parameters& given, const char* name);
  std::vector<ParameterInfo> (*parameters)();
  NicProperties takes;
};

constexpr std::array ready_models{
    Ready{"bxi",
          "BXI v2 NIC: command queues, PCI, packets, links, events, retransmission; calibrated on a real cluster",
          make<BxiModel, BxiParameters>, list_parameters<BxiParameters>, NicProperties::all},
    Ready{"flow",
          "SimGrid's fluid solver shares the links between all messages under way; around it the times of bxi's NIC",
          make<FlowModel, FlowParameters>, list_parameters<FlowParameters>, NicProperties::known},
    Ready{"loggp", "LogGP: latency, overhead, gaps; contention at the NICs only", make<LogGPModel, LogGPParameters>,
          list_parameters<LogGPParameters>, NicProperties::none},
    Ready{"piecewise", "the route's latency and bandwidth with factors per message size, as SMPI; no contention",
          make<PiecewiseModel, PiecewiseParameters>, list_parameters<PiecewiseParameters>, NicProperties::none},
    Ready{"delay", "one latency and one bandwidth for every message; no contention", make<DelayModel, DelayParameters>,
          list_parameters<DelayParameters>, NicProperties::none},
    Ready{"zero", "messages cost nothing: the bound of what a better network could bring",
          make<ZeroModel, ZeroParameters>, list_parameters<ZeroParameters>, NicProperties::none},
};

std::vector<ModelEntry> make_entries()
{
  std::vector<ModelEntry> entries;
  entries.reserve(std::size(ready_models));
  for (const Ready& ready : ready_models)
    entries.push_back({ready.name, ready.summary, ready.parameters()});
  return entries;
}

// What the platform says of its NICs, overridden by what the user says.
Parameters with_platform(const platform::Platform& platform, const Parameters& parameters, const Ready& model)
{
  if (model.takes == NicProperties::none)
    return parameters;
  const std::vector<ParameterInfo> own = model.parameters();
  const auto known = [&own](const std::string& key) {
    return std::any_of(own.begin(), own.end(), [&key](const ParameterInfo& info) { return info.key == key; });
  };
  Parameters all;
  for (const auto& [key, value] : platform.nic_properties())
    if (model.takes == NicProperties::all || known(key))
      all.set(key, value, fmt::format("platform {}, property nic:{}", platform.name(), key));
  for (const auto& [key, value] : parameters.values())
    all.set(key, value.text, value.origin);
  return all;
}

} // namespace

std::span<const ModelEntry> models()
{
  static const std::vector<ModelEntry> entries = make_entries();
  return entries;
}

const ModelEntry& node_entry()
{
  static const ModelEntry entry{"node", "a node: its sockets, its memory, and what copies within it take",
                                list_parameters<NodeParameters>()};
  return entry;
}

std::unique_ptr<Model> make_model(std::string_view name, const ModelContext& context, const Parameters& parameters)
{
  std::vector<std::string> names;
  for (const Ready& ready : ready_models) {
    if (name == ready.name)
      return ready.make(context, with_platform(context.platform, parameters, ready), parameters, ready.name);
    names.emplace_back(ready.name);
  }
  const std::string_view guess = plausible(name, names);
  throw std::invalid_argument(fmt::format("model '{}': expected one of {}.{}", name, fmt::join(names, ", "),
                                          guess.empty() ? "" : fmt::format(" Did you mean '{}'?", guess)));
}

} // namespace umwelt::net
