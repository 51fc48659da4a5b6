// SPDX-License-Identifier: LGPL-2.1-or-later
// How long it takes on one node until a core sees what another has written, and to copy. See README.md.
#pragma once

#include <memory>
#include <vector>

#include "net_models/node/copies.h"
#include "net_models/node/parameters.h"

namespace umwelt
{
class Parameters;
}

namespace umwelt::net
{

// Throws std::invalid_argument (object, expected, got, next step).
NodeParameters read_node_parameters(const Parameters& parameters);

// Bytes that fit into a node's /dev/shm.
inline std::uint64_t shm_size(const NodeParameters& parameters)
{
  return parameters.shm != 0 ? parameters.shm : parameters.memory / 2;
}

class NodeMemory
{
public:
  NodeMemory(sim::Timeline& timeline, const NodeParameters& parameters, unsigned cores);

  // Copies by a core contend with those of its socket.
  [[nodiscard]] Copies& copies_of(unsigned core) { return *sockets_[socket_of(core)]; }
  // A line that one core has written goes to the other.
  [[nodiscard]] SimTime line(unsigned from, unsigned to) const
  {
    return socket_of(from) == socket_of(to) ? parameters_.line : parameters_.line_far;
  }
  // From a write to the moment at which a core that looks at the line all the time sees it: the writer's core takes the
  // line from the reader's, and the reader's gets it back.
  [[nodiscard]] SimTime seen_after(unsigned writer, unsigned reader) const { return 2 * line(writer, reader); }
  [[nodiscard]] const NodeParameters& parameters() const { return parameters_; }

private:
  [[nodiscard]] unsigned socket_of(unsigned core) const
  {
    return static_cast<unsigned>(core * sockets_.size() / cores_);
  }

  NodeParameters parameters_;
  unsigned cores_;
  std::vector<std::unique_ptr<Copies>> sockets_;
};

} // namespace umwelt::net
