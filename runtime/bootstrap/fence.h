// SPDX-License-Identifier: LGPL-2.1-or-later
// How long the barrier of the bootstrap service takes. On a cluster it runs over the launcher's tree of daemons (TCP),
// not over the BXI network, and takes far longer than a Portals acknowledgement: everything a rank had in flight when
// it entered is over when it leaves, which programs rely on.
#pragma once

#include <bit>
#include <cstdint>

#include "runtime/base/time.h"

namespace umwelt::bootstrap
{

// Time from the arrival of the last of `nodes` nodes' ranks until they go on: up and down a binary tree. `hop`: one of
// the tree, up or down (net::NodeParameters::daemon_hop).
constexpr sim::SimTime fence_time(std::uint64_t nodes, sim::SimTime hop)
{
  const auto depth = static_cast<sim::SimTime>(std::bit_width(nodes > 0 ? nodes - 1 : 0));
  return 2 * hop * (depth + 1);
}

// Time from PMIx_Spawn until the programs of a job that is started on so many nodes begin: word goes down the tree of
// daemons, and word that they have started comes back. What a fork and an exec on a node take (about a millisecond) is
// among it.
constexpr sim::SimTime spawn_time(std::uint64_t nodes, sim::SimTime hop)
{
  return fence_time(nodes, hop) + 2 * hop;
}

} // namespace umwelt::bootstrap
