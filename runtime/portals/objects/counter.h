// SPDX-License-Identifier: LGPL-2.1-or-later
// A counting event (Portals 4.3, 3.14). It has two values: the NIC's, which triggers operations the moment it changes,
// and the one in host memory, which the program reads and which follows when the NIC's writes become visible.
#pragma once

#include <cstdint>

#include "preload/abi/portals4.h"

namespace umwelt::portals
{

struct TriggeredOp;

// A change made by the NIC, on its way to host memory.
struct CounterChange {
  bool set = false; // replaces the value; else adds to it
  ptl_ct_event_t value{};
  ptl_ct_event_t added{}; // of a set: the sum of the program's increments before it
  std::uint32_t epoch = 0;
};

class Counter
{
public:
  ptl_handle_any_t handle = PTL_INVALID_HANDLE;

  // Triggered operations that wait for this counter, by threshold and then by age. Kept by Triggers.
  TriggeredOp* first = nullptr;
  TriggeredOp* last = nullptr;

  [[nodiscard]] const ptl_ct_event_t& nic() const { return nic_; }
  [[nodiscard]] const ptl_ct_event_t& host() const { return host_; }

  // The program's own changes act on both values at once. NIC changes still on their way when the program sets a new
  // value belong to the old one; a value the NIC sets does not undo increments the program makes before it sees it.
  void host_add(const ptl_ct_event_t& value)
  {
    add(nic_, value);
    add(host_, value);
    add(added_, value);
    known_ = false;
  }
  void host_set(const ptl_ct_event_t& value)
  {
    nic_ = host_ = value;
    floor_ = ++epoch_;
    known_ = false;
  }

  [[nodiscard]] CounterChange nic_add(const ptl_ct_event_t& value)
  {
    add(nic_, value);
    return {false, value, {}, epoch_};
  }
  [[nodiscard]] CounterChange nic_set(const ptl_ct_event_t& value)
  {
    nic_ = value;
    return {true, value, added_, ++epoch_};
  }
  void show(const CounterChange& change)
  {
    if (change.epoch < floor_)
      return;
    if (change.set)
      host_ = {change.value.success + added_.success - change.added.success,
               change.value.failure + added_.failure - change.added.failure};
    else
      add(host_, change.value);
  }

  // PtlCTWait's condition (Portals 4.3, 3.14).
  [[nodiscard]] bool reached(ptl_size_t test) const { return host_.success >= test || host_.failure != 0; }

  // Whether the program has already read this value: then reading it again is polling.
  [[nodiscard]] bool known() const
  {
    return known_ && known_value_.success == host_.success && known_value_.failure == host_.failure;
  }
  const ptl_ct_event_t& read()
  {
    known_ = true;
    known_value_ = host_;
    return host_;
  }

private:
  static void add(ptl_ct_event_t& to, const ptl_ct_event_t& value)
  {
    to.success += value.success;
    to.failure += value.failure;
  }

  ptl_ct_event_t nic_{};
  ptl_ct_event_t host_{};
  ptl_ct_event_t known_value_{};
  ptl_ct_event_t added_{};  // sum of the program's increments
  std::uint32_t epoch_ = 0; // counts sets
  std::uint32_t floor_ = 0; // epoch of the program's last set
  bool known_ = false;
};

} // namespace umwelt::portals
