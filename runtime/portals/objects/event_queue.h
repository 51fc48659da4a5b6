// SPDX-License-Identifier: LGPL-2.1-or-later
// An event queue: circular, the oldest event is lost when it is full (Portals 4.3, 3.13). The NIC posts an event in one
// step and the program sees it in a later one, when the write has reached host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "preload/abi/portals4.h"

namespace umwelt::portals
{

class EventQueue
{
public:
  ptl_handle_any_t handle = PTL_INVALID_HANDLE;

  void set_count(ptl_size_t count) { count_ = count; }

  // Portal table entries with flow control: each has a place of its own for its PT_DISABLED event.
  std::uint32_t flow_tables = 0;
  // Places promised to messages in progress on such entries.
  std::uint64_t reserved = 0;
  [[nodiscard]] bool has_room(std::uint64_t events) const { return tail_ - head_ + reserved + events <= count_; }

  // unread: bytes that the NIC has written where the program only finds them to copy them elsewhere.
  void post(const ptl_event_t& event, std::uint64_t unread = 0);
  // The oldest event not yet visible is now. Events become visible in the order of post().
  void show() { ++visible_; }

  [[nodiscard]] bool available() const { return visible_ > head_; }
  // Only if available(). PTL_OK, or PTL_EQ_DROPPED if events before this one were lost.
  int take(ptl_event_t& event);
  // Of the event that was taken last.
  [[nodiscard]] std::uint64_t unread() const { return unread_; }
  // It was there already when the one before it was taken.
  [[nodiscard]] bool read_ahead() const { return read_ahead_; }

private:
  void grow();

  ptl_size_t count_ = 0;
  struct Posted {
    ptl_event_t event;
    std::uint64_t unread;
  };
  std::vector<Posted> ring_; // a power of two, grown on demand: programs ask for far more than they use
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
  std::uint64_t visible_ = 0;
  std::uint64_t unread_ = 0;
  bool dropped_ = false;
  bool read_ahead_ = false;
  bool reads_ahead_ = false; // of the next
};

} // namespace umwelt::portals
