// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/node/memory.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "runtime/base/parameters.h"

namespace umwelt::net
{

NodeParameters read_node_parameters(const Parameters& parameters)
{
  const auto values = read_parameters<NodeParameters>(parameters, "node");
  const auto refuse = [](const char* key, const char* expected, const std::string& got) {
    throw std::invalid_argument(
        fmt::format("node, {}: expected {}, got {}. `umwelt models` lists what can be set.", key, expected, got));
  };
  if (values.sockets == 0)
    refuse("sockets", "at least 1", "0");
  if (values.memory == 0)
    refuse("memory", "at least 1 byte", "0");
  for (const auto& [key, bandwidth] : {std::pair("copy_bandwidth", values.copy_bandwidth),
                                       {"socket_bandwidth", values.socket_bandwidth},
                                       {"cached_bandwidth", values.cached_bandwidth},
                                       {"shared_bandwidth", values.shared_bandwidth}})
    if (bandwidth <= 0)
      refuse(key, "more than 0", "0");
  if (values.pmi_request == 0) // who asks for a key until it is there must let time pass
    refuse("pmi_request", "more than 0", "0");
  if (values.clock_read == 0) // who waits for the clock to move must see it move
    refuse("clock_read", "more than 0", "0");
  if (values.shm > values.memory)
    refuse("shm", "at most the node's memory", size_text(values.shm));
  return values;
}

NodeMemory::NodeMemory(sim::Timeline& timeline, const NodeParameters& parameters, unsigned cores)
    : parameters_(parameters), cores_(std::max(cores, 1U))
{
  const std::uint64_t count = std::min<std::uint64_t>(parameters.sockets, cores_);
  for (std::uint64_t i = 0; i < count; ++i)
    sockets_.push_back(std::make_unique<Copies>(timeline, parameters.copy_bandwidth, parameters.socket_bandwidth));
}

} // namespace umwelt::net
