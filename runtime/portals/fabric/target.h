// SPDX-License-Identifier: LGPL-2.1-or-later
// The target side of data movement: matching, permissions, flow control, placement and the target's events
// (Portals 4.3, 3.7, 3.11 to 3.13).
#pragma once

#include "runtime/portals/fabric/message.h"

namespace umwelt::portals
{

class Fabric;
class Ni;
struct PortalTableEntry;

class Target
{
public:
  explicit Target(Fabric& fabric) : fabric_(fabric) {}

  void header_arrived(Message& message);
  void delivered(Message& message);
  // The response has left: for a get, the memory has been read.
  void source_read(Message& message);
  void request_failed(Message& message);
  void response_failed(Message& message);

  // Copies the data of a put that has already matched straight from its source; false if it has not, or is no put.
  bool place(Message& message, const MemoryRef& from);
  // Where the data of a get is read now, behind what came before it; false if the process is gone.
  [[nodiscard]] bool source(Message& message, MemoryRef& place);

private:
  void match(Message& message, Ni& ni);
  void accept(Message& message, Ni& ni, Entry& entry);
  void count(Ni& ni, ptl_sr_index_t status_register);
  void drop(Message& message, Ni& ni, ptl_ni_fail_t fail);
  // Out of a resource: flow control disables the portal table entry, else the message is dropped.
  void exhausted(Message& message, Ni& ni, const Entry* entry);
  // Data moves in the order of matching where messages of one initiator touch the same bytes (max_waw_ordered_size,
  // max_war_ordered_size, PTL_TOTAL_DATA_ORDERING), whatever order they become complete in: the earlier ones that
  // `message` could overtake move their data now.
  void move_earlier(const Message& message, Ni& ni);
  // Moves or combines the data, once; sets the failure if memory is not accessible.
  void deposit(Message& message, Ni& ni);
  // Reads what a get asks for into the message.
  void read(Message& message, Ni& ni);
  void combine(Message& message, const MemoryRef& to);
  // Posts the target's events and lets go of the list entry.
  void complete(Message& message, Ni& ni);
  void fail(Message& message, ptl_ni_fail_t why);
  void abandon(Message& message);
  [[nodiscard]] MemoryRef place_of(const Message& message, const Ni& ni) const;

  Fabric& fabric_;
};

} // namespace umwelt::portals
