// SPDX-License-Identifier: LGPL-2.1-or-later
// The Portals state of one rank.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "net_models/core/model.h"
#include "runtime/portals/data/memory.h"
#include "runtime/portals/fabric/ni.h"

namespace umwelt::portals
{

class Fabric;
struct Message;

class Process
{
public:
  // The fabric must outlive the process. `rank` is the job-wide number that transfers and traces carry; `uid` travels
  // in every message; `memory` is where the rank's addresses lead.
  Process(Fabric& fabric, net::NodeIndex node, std::uint32_t rank, ptl_uid_t uid, Memory memory = Memory());
  ~Process() { detach(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // The process ends, possibly without PtlFini and with traffic in flight: from now on nothing touches its memory, and
  // what arrives for it is undeliverable. Calls of its threads that are blocked in the engine fail when they go on; the
  // object must outlive them. May be called twice.
  void detach();
  [[nodiscard]] bool detached() const { return detached_; }

  [[nodiscard]] Fabric& fabric() const { return fabric_; }
  [[nodiscard]] net::NodeIndex node() const { return node_; }
  [[nodiscard]] std::uint32_t rank() const { return rank_; }
  [[nodiscard]] ptl_uid_t uid() const { return uid_; }
  [[nodiscard]] const Memory& memory() const { return memory_; }
  // What of its memory need not be copied.
  [[nodiscard]] FoldedParts& folded() { return folded_; }

  // The physical address. Node identifiers are node index + 1. The process identifier is given by the first PtlNIInit:
  // the one asked for, or the smallest free one of the node from 1; PTL_PID_ANY before.
  [[nodiscard]] ptl_nid_t nid() const { return nid_of(node_); }
  [[nodiscard]] ptl_pid_t pid() const { return pid_; }
  // Skips PTL_NID_ANY.
  [[nodiscard]] static constexpr ptl_nid_t nid_of(net::NodeIndex node)
  {
    return node + 1 < PTL_NID_ANY ? node + 1 : node + 2;
  }

  // ---- For the engine ----

  [[nodiscard]] bool initialised() const { return init_count_ > 0; }
  void init();
  void fini();
  void abort() { aborted_ = true; }
  [[nodiscard]] bool aborted() const { return aborted_; }

  // PTL_OK, or PTL_PID_IN_USE, PTL_ARG_INVALID, PTL_NO_SPACE.
  int open(unsigned kind, ptl_pid_t pid, const ptl_ni_limits_t* desired, Ni*& ni);
  void close(Ni& ni); // drops a reference
  [[nodiscard]] Ni* interface(unsigned kind) const { return interfaces_[kind].get(); }

  // By handle; null if it names nothing of that type.
  [[nodiscard]] Ni* ni(ptl_handle_ni_t handle) const;
  [[nodiscard]] Ni*
  owner(ptl_handle_any_t handle) const; // the interface of an object that exists, or the interface itself
  [[nodiscard]] EventQueue* queue(ptl_handle_eq_t handle) const;
  [[nodiscard]] Counter* counter(ptl_handle_ct_t handle) const;
  [[nodiscard]] MemoryDescriptor* descriptor(ptl_handle_md_t handle) const;
  [[nodiscard]] Entry* entry(ptl_handle_me_t handle) const;

  // One of its event queues has something for the program.
  [[nodiscard]] bool has_event() const;

  // Messages whose thread waits for the NIC to take the command.
  Message* waiting_messages = nullptr;
  // Threads that wait for messages to let go of a descriptor, list entry or portal table entry.
  unsigned waiting_for_objects = 0;

private:
  int choose_pid(ptl_pid_t wanted);

  Fabric& fabric_;
  net::NodeIndex node_;
  std::uint32_t rank_;
  ptl_uid_t uid_;
  FoldedParts folded_;
  Memory memory_;
  ptl_pid_t pid_ = PTL_PID_ANY;
  unsigned init_count_ = 0;
  bool aborted_ = false;
  bool detached_ = false;
  std::array<std::unique_ptr<Ni>, Ni::kinds> interfaces_;
  std::array<std::uint32_t, Ni::kinds> generations_{};
};

} // namespace umwelt::portals
