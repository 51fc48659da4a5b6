// SPDX-License-Identifier: LGPL-2.1-or-later
// Event queues (Portals 4.3, 3.13).
#include "tests/runtime/portals/support.h"

namespace umwelt::portals::test
{
namespace
{

class EventQueueTest : public Machine
{
protected:
  ptl_event_t event{};
  unsigned which = 99;
  // Posts an event into the queue of `peer`: an entry that links.
  void post(Peer& peer, std::uintptr_t tag)
  {
    peer.append(nullptr, 0, 0, {.user_ptr = reinterpret_cast<void*>(tag)});
    settle();
  }
  [[nodiscard]] std::uintptr_t tag() const { return reinterpret_cast<std::uintptr_t>(event.user_ptr); }
};

TEST_F(EventQueueTest, empty)
{
  EXPECT_EQ(api::PtlEQGet(a.process, a.target_eq, &event), PTL_EQ_EMPTY);
  EXPECT_EQ(api::PtlEQPoll(a.process, &a.target_eq, 1, 0, &event, &which), PTL_EQ_EMPTY);
}

TEST_F(EventQueueTest, events_come_in_order_and_once)
{
  post(a, 1);
  post(a, 2);
  EXPECT_EQ(api::PtlEQGet(a.process, a.target_eq, &event), PTL_OK);
  EXPECT_EQ(tag(), 1U);
  EXPECT_EQ(api::PtlEQGet(a.process, a.target_eq, &event), PTL_OK);
  EXPECT_EQ(tag(), 2U);
  EXPECT_EQ(api::PtlEQGet(a.process, a.target_eq, &event), PTL_EQ_EMPTY);
}

TEST_F(EventQueueTest, arguments)
{
  EXPECT_EQ(api::PtlEQGet(a.process, a.target_eq, nullptr), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlEQGet(a.process, PTL_EQ_NONE, &event), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlEQGet(a.process, a.target_ct, &event), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlEQWait(a.process, a.target_eq, nullptr), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlEQPoll(a.process, nullptr, 1, 0, &event, &which), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlEQPoll(a.process, &a.target_eq, 0, 0, &event, &which), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlEQPoll(a.process, &a.target_eq, 1, 0, nullptr, &which), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlEQPoll(a.process, &a.target_eq, 1, 0, &event, nullptr), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlEQAlloc(a.process, a.ni, 1, nullptr), PTL_ARG_INVALID);
  ptl_handle_eq_t handle = PTL_EQ_NONE;
  EXPECT_EQ(api::PtlEQAlloc(a.process, a.target_eq, 1, &handle), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlEQAlloc(a.process, a.ni, PTL_SIZE_MAX, &handle), PTL_NO_SPACE);
}

TEST_F(EventQueueTest, freed_queue)
{
  const ptl_handle_eq_t queue = a.eq();
  EXPECT_EQ(api::PtlEQFree(a.process, queue), PTL_OK);
  EXPECT_EQ(api::PtlEQFree(a.process, queue), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlEQGet(a.process, queue, &event), PTL_ARG_INVALID);
}

// A full queue loses its oldest events and says so once.
TEST(EventQueueOverflow, oldest_events_are_dropped)
{
  sim::Timeline timeline;
  TestHost host{timeline};
  Fabric fabric{timeline, host, 1};
  TestModel model{timeline, fabric};
  fabric.set_model(model);
  Peer peer{fabric, 0, 0, 0};
  peer.open(PTL_NI_MATCHING | PTL_NI_PHYSICAL, 0, nullptr, 4);
  for (std::uintptr_t tag = 1; tag <= 6; ++tag)
    peer.append(nullptr, 0, 0, {.user_ptr = reinterpret_cast<void*>(tag)});
  while (timeline.step()) {
  }
  ptl_event_t event{};
  EXPECT_EQ(api::PtlEQGet(peer.process, peer.target_eq, &event), PTL_EQ_DROPPED);
  EXPECT_EQ(event.user_ptr, reinterpret_cast<void*>(3)); // an event comes along
  EXPECT_EQ(api::PtlEQGet(peer.process, peer.target_eq, &event), PTL_OK);
  EXPECT_EQ(event.user_ptr, reinterpret_cast<void*>(4));
  EXPECT_EQ(peer.target_events().size(), 2U);
}

TEST_F(EventQueueTest, wait_blocks_until_an_event_is_visible)
{
  a.append(nullptr, 0, 0);
  EXPECT_EQ(api::PtlEQGet(a.process, a.target_eq, &event), PTL_EQ_EMPTY); // posted, not yet in host memory
  EXPECT_EQ(api::PtlEQWait(a.process, a.target_eq, &event), PTL_OK);
  EXPECT_EQ(event.type, PTL_EVENT_LINK);
  EXPECT_EQ(timeline.now(), model.write_delay);
}

TEST_F(EventQueueTest, poll_ends_after_its_timeout)
{
  EXPECT_EQ(api::PtlEQPoll(a.process, &a.target_eq, 1, 5, &event, &which), PTL_EQ_EMPTY);
  EXPECT_EQ(timeline.now(), 5 * sim::millisecond);
}

TEST_F(EventQueueTest, poll_without_limit)
{
  a.append(nullptr, 0, 0);
  EXPECT_EQ(api::PtlEQPoll(a.process, &a.target_eq, 1, PTL_TIME_FOREVER, &event, &which), PTL_OK);
  EXPECT_EQ(which, 0U);
}

TEST_F(EventQueueTest, poll_tells_the_queue)
{
  post(a, 1);
  const ptl_handle_eq_t queues[2] = {a.initiator_eq, a.target_eq};
  EXPECT_EQ(api::PtlEQPoll(a.process, queues, 2, 0, &event, &which), PTL_OK);
  EXPECT_EQ(which, 1U);
}

// All queues of a poll belong to one interface.
TEST_F(EventQueueTest, poll_over_interfaces)
{
  ptl_handle_ni_t other = PTL_INVALID_HANDLE;
  ASSERT_EQ(api::PtlNIInit(a.process, 0, PTL_NI_NO_MATCHING | PTL_NI_LOGICAL, PTL_PID_ANY, nullptr, nullptr, &other),
            PTL_OK);
  ptl_handle_eq_t queues[2] = {a.initiator_eq, PTL_EQ_NONE};
  ASSERT_EQ(api::PtlEQAlloc(a.process, other, 1, &queues[1]), PTL_OK);
  EXPECT_EQ(api::PtlEQPoll(a.process, queues, 2, 0, &event, &which), PTL_ARG_INVALID);
}

TEST_F(EventQueueTest, freed_while_a_thread_waits)
{
  host.while_waiting.push_back([&] { EXPECT_EQ(api::PtlEQFree(a.process, a.target_eq), PTL_OK); });
  EXPECT_EQ(api::PtlEQWait(a.process, a.target_eq, &event), PTL_ABORTED);
}

TEST_F(EventQueueTest, freed_with_events_under_way)
{
  a.append(nullptr, 0, 0);
  EXPECT_EQ(api::PtlEQFree(a.process, a.target_eq), PTL_OK);
  const ptl_handle_eq_t reused = a.eq();
  settle();
  EXPECT_TRUE(a.events(reused).empty());
}

TEST_F(EventQueueTest, at_most_max_eqs)
{
  ptl_ni_limits_t limits{};
  limits.max_eqs = 1;
  ptl_handle_ni_t ni = PTL_INVALID_HANDLE;
  ptl_handle_eq_t queue = PTL_EQ_NONE;
  ASSERT_EQ(api::PtlNIInit(a.process, 0, PTL_NI_NO_MATCHING | PTL_NI_LOGICAL, PTL_PID_ANY, &limits, nullptr, &ni),
            PTL_OK);
  EXPECT_EQ(api::PtlEQAlloc(a.process, ni, 0, &queue), PTL_OK);
  EXPECT_EQ(api::PtlEQAlloc(a.process, ni, 1, &queue), PTL_NO_SPACE);
}

} // namespace
} // namespace umwelt::portals::test
