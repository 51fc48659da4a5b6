// SPDX-License-Identifier: LGPL-2.1-or-later
// Limits on messages that are not acknowledged yet: a message has its credits, of up to three classes, before it
// leaves.
#include "net_models/bxi/model.h"

#include "net_models/bxi/nic.h"

namespace umwelt::net
{

bool BxiModel::acquire_credits(Flight& flight)
{
  const auto acquire = [&flight](bool& holds, Credit& credit) {
    if (holds)
      return true;
    if (credit.left == 0) {
      credit.waiting.push(flight);
      return false;
    }
    --credit.left;
    return holds = true;
  };
  // Requests of a flow take their credits in its order: one that has them all may wait at the target for those before
  // it, which must not wait for what it holds. Across flows, classes are taken in this order by everybody: nobody waits
  // in a circle.
  if (flight.flow != nullptr && flight.flow_previous != nullptr && !flight.flow_previous->credited) {
    flight.set_aside = true;
    return false;
  }
  flight.credited = (parameters_.e2e_entries == 0 || flight.holds_entry ||
                     acquire(flight.holds_entry, nics_[flight.source].entries)) &&
                    (parameters_.inflight_node == 0 || flight.holds_node_credit ||
                     acquire(flight.holds_node_credit, node_credit(flight))) &&
                    (parameters_.inflight_process == 0 || flight.holds_process_credit ||
                     acquire(flight.holds_process_credit, process_credit(flight)));
  if (flight.credited && flight.flow != nullptr && flight.flow_next != nullptr && flight.flow_next->set_aside) {
    flight.flow_next->set_aside = false;
    enqueue(*flight.flow_next);
  }
  return flight.credited;
}

BxiCredit& BxiModel::node_credit(const Flight& flight)
{
  // Six queues per pair of nodes; node indexes stay below 2^29.
  const std::uint32_t from = flight.source | static_cast<std::uint32_t>(flight.queue) << 29;
  const auto [found, fresh] = node_credits_.try_emplace(pair_key(from, flight.target));
  if (fresh)
    found->second.left = parameters_.inflight_node;
  return found->second;
}

BxiCredit& BxiModel::process_credit(const Flight& flight)
{
  const std::uint32_t from = flight.initiator_process | static_cast<std::uint32_t>(flight.queue) << 29;
  const auto [found, fresh] = process_credits_.try_emplace(pair_key(from, flight.target_process));
  if (fresh)
    found->second.left = parameters_.inflight_process;
  return found->second;
}

void BxiModel::release_credits(Flight& flight)
{
  const auto release = [this](bool& holds, Credit& credit, bool Flight::*flag) {
    if (!holds)
      return;
    holds = false;
    if (credit.waiting.empty()) {
      ++credit.left;
      return;
    }
    Flight& next = credit.waiting.pop();
    next.*flag = true; // handed on, so that nobody can take it in between
    enqueue(next);
  };
  if (flight.holds_process_credit)
    release(flight.holds_process_credit, process_credit(flight), &Flight::holds_process_credit);
  if (flight.holds_node_credit)
    release(flight.holds_node_credit, node_credit(flight), &Flight::holds_node_credit);
  if (flight.holds_entry)
    release(flight.holds_entry, nics_[flight.source].entries, &Flight::holds_entry);
}

} // namespace umwelt::net
