// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/portals/objects/event_queue.h"

#include <utility>

namespace umwelt::portals
{

void EventQueue::grow()
{
  std::vector<Posted> larger(ring_.empty() ? 64 : 2 * ring_.size());
  for (std::uint64_t i = head_; i != tail_; ++i)
    larger[i & (larger.size() - 1)] = ring_[i & (ring_.size() - 1)];
  ring_.swap(larger);
}

void EventQueue::post(const ptl_event_t& event, std::uint64_t unread)
{
  if (tail_ - head_ >= count_ + flow_tables) {
    ++head_;
    dropped_ = true;
  }
  if (tail_ - head_ == ring_.size())
    grow();
  ring_[tail_ & (ring_.size() - 1)] = {event, unread};
  ++tail_;
}

int EventQueue::take(ptl_event_t& event)
{
  const Posted& posted = ring_[head_ & (ring_.size() - 1)];
  event = posted.event;
  unread_ = posted.unread;
  ++head_;
  read_ahead_ = std::exchange(reads_ahead_, available());
  const bool dropped = dropped_;
  dropped_ = false;
  return dropped ? PTL_EQ_DROPPED : PTL_OK;
}

} // namespace umwelt::portals
