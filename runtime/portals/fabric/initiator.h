// SPDX-License-Identifier: LGPL-2.1-or-later
// The initiating side of data movement (Portals 4.3, 3.15): checks, SEND, ACK and REPLY.
#pragma once

#include "runtime/portals/fabric/message.h"

namespace umwelt::portals
{

class Fabric;
class Ni;
class Process;

class Initiator
{
public:
  explicit Initiator(Fabric& fabric) : fabric_(fabric) {}

  // A command of the program: returns when the NIC has taken it. PTL_OK, PTL_ARG_INVALID, PTL_FAIL if the interface was
  // closed meanwhile.
  int start(Process& process, const Move& move);
  // A command that waits for a counter. PTL_NO_SPACE.
  int arm(Process& process, const Move& move, ptl_handle_ct_t trigger, ptl_size_t threshold);
  // Its time has come.
  void start_triggered(Ni& ni, const Move& move);
  // A command that has a place in the NIC's queue is handed over, or never will be.
  void issue(Process& process, Message& message);
  void cancel_issue(Message& message);

  // Progress of the request and of the response.
  void source_read(Message& message);
  void response_delivered(Message& message);
  void request_failed(Message& message);
  void response_failed(Message& message);

  // Where the data of a put or an atomic comes from, where that of a get goes; false if the process is gone.
  [[nodiscard]] bool source(const Message& message, MemoryRef& place) const;
  [[nodiscard]] bool destination(const Message& message, MemoryRef& place) const;

private:
  // PTL_OK and the interface, or PTL_ARG_INVALID.
  int check(Process& process, const Move& move, Ni*& ni) const;
  Message& prepare(Ni& ni, const Move& move, bool from_host);
  // Posts SEND. False if the program asked for no event of it.
  bool post_send(Ni& ni, const Message& message, ptl_ni_fail_t fail);
  // Posts ACK or REPLY.
  void finish(Message& message);
  void unpin(Ni& ni, MemoryDescriptor*& descriptor);

  Fabric& fabric_;
};

} // namespace umwelt::portals
