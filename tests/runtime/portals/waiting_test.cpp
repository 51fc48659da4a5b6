// SPDX-License-Identifier: LGPL-2.1-or-later
// Threads that wait, poll and pay: PtlAbort (Portals 4.3, 3.5) and what the engine asks of its host.
#include <gmock/gmock.h>

#include "tests/runtime/portals/support.h"

namespace umwelt::portals::test
{
namespace
{

class WaitingTest : public Machine
{
protected:
  ptl_event_t event{};
  ptl_ct_event_t count{};
  unsigned which = 0;
  char byte = 0;
};

// PtlAbort ends every wait.
TEST_F(WaitingTest, abort_wakes_waiting_threads)
{
  const ptl_size_t test = 1;
  const auto abort = [&] { api::PtlAbort(a.process); };
  const auto restart = [&] {
    api::PtlFini(a.process);
    a.open(PTL_NI_MATCHING | PTL_NI_LOGICAL);
  };
  host.while_waiting.push_back(abort);
  EXPECT_EQ(api::PtlEQWait(a.process, a.target_eq, &event), PTL_ABORTED);
  restart();
  host.while_waiting.push_back(abort);
  EXPECT_EQ(api::PtlEQPoll(a.process, &a.target_eq, 1, PTL_TIME_FOREVER, &event, &which), PTL_ABORTED);
  restart();
  host.while_waiting.push_back(abort);
  EXPECT_EQ(api::PtlCTWait(a.process, a.target_ct, 1, &count), PTL_ABORTED);
  restart();
  host.while_waiting.push_back(abort);
  EXPECT_EQ(api::PtlCTPoll(a.process, &a.target_ct, &test, 1, 1000, &count, &which), PTL_ABORTED);
}

// Later waits and polls end at once, even if they would have succeeded, and whatever their handles: these may be gone.
TEST_F(WaitingTest, abort_lasts)
{
  const ptl_size_t test = 0;
  const ptl_handle_any_t gone = PTL_INVALID_HANDLE;
  a.append(nullptr, 0, 0);
  settle();
  api::PtlAbort(a.process);
  EXPECT_EQ(api::PtlEQWait(a.process, a.target_eq, &event), PTL_ABORTED);
  EXPECT_EQ(api::PtlEQWait(a.process, gone, &event), PTL_ABORTED);
  EXPECT_EQ(api::PtlEQPoll(a.process, &gone, 1, 0, &event, &which), PTL_ABORTED);
  EXPECT_EQ(api::PtlCTWait(a.process, gone, 0, &count), PTL_ABORTED);
  EXPECT_EQ(api::PtlCTPoll(a.process, &gone, &test, 1, 0, &count, &which), PTL_ABORTED);
}

TEST_F(WaitingTest, abort_leaves_the_other_calls_alone)
{
  api::PtlAbort(a.process);
  a.append(nullptr, 0, 0);
  settle();
  EXPECT_EQ(api::PtlEQGet(a.process, a.target_eq, &event), PTL_OK);
  EXPECT_EQ(api::PtlCTGet(a.process, a.target_ct, &count), PTL_OK);
  EXPECT_EQ(api::PtlEQFree(a.process, a.target_eq), PTL_OK);
  EXPECT_EQ(api::PtlCTFree(a.process, a.target_ct), PTL_OK);
}

TEST_F(WaitingTest, abort_ends_with_the_last_fini)
{
  api::PtlAbort(a.process);
  api::PtlFini(a.process);
  a.open(PTL_NI_MATCHING | PTL_NI_LOGICAL);
  EXPECT_EQ(api::PtlEQPoll(a.process, &a.target_eq, 1, 0, &event, &which), PTL_EQ_EMPTY);
}

TEST_F(WaitingTest, fini_wakes_waiting_threads)
{
  host.while_waiting.push_back([&] { api::PtlFini(a.process); });
  EXPECT_EQ(api::PtlEQWait(a.process, a.target_eq, &event), PTL_ABORTED);
}

TEST_F(WaitingTest, end_of_the_process_wakes_waiting_threads)
{
  host.while_waiting.push_back([&] { a.process.detach(); });
  EXPECT_EQ(api::PtlCTWait(a.process, a.target_ct, 1, &count), PTL_ABORTED);
  EXPECT_EQ(api::PtlCTGet(a.process, a.target_ct, &count), PTL_NO_INIT);
}

// A full command queue blocks the caller until the NIC has room.
TEST_F(WaitingTest, full_command_queue)
{
  b.append(&byte, 1, PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE);
  model.queue_depth = 2;
  const ptl_handle_md_t md = a.silent_md(&byte, 1);
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(a.put(md, 1, b), PTL_OK);
  EXPECT_GT(timeline.now(), 0);
  settle();
  EXPECT_EQ(b.target_events().size(), 10U);
}

// A command refused by the queue starts when it is taken.
TEST_F(WaitingTest, process_ends_while_its_command_waits)
{
  model.queue_depth = 0;
  host.while_waiting.push_back([&] { a.process.detach(); });
  EXPECT_EQ(a.put(a.silent_md(&byte, 1), 1, b), PTL_FAIL);
  EXPECT_EQ(fabric.in_flight(), 0U);
}

TEST_F(WaitingTest, interface_closes_while_its_command_waits)
{
  model.queue_depth = 0;
  host.while_waiting.push_back([&] { EXPECT_EQ(api::PtlNIFini(a.process, a.ni), PTL_OK); });
  EXPECT_EQ(a.put(a.silent_md(&byte, 1), 1, b), PTL_FAIL);
  EXPECT_EQ(fabric.in_flight(), 0U);
}

// Triggered operations and responses are not commands of the host and need no room.
TEST_F(WaitingTest, nic_commands_need_no_room)
{
  b.append(&byte, 1, PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE);
  const ptl_handle_md_t md = a.silent_md(&byte, 1);
  model.queue_depth = 0;
  ASSERT_EQ(api::PtlTriggeredPut(a.process, md, 0, 1, PTL_NO_ACK_REQ, b.id(), 0, 0, 0, nullptr, 0, a.target_ct, 0),
            PTL_OK);
  settle();
  EXPECT_EQ(b.target_events().size(), 1U);
}

TEST_F(WaitingTest, writing_a_command_costs_time)
{
  model.issue = 70;
  EXPECT_EQ(a.put(a.silent_md(&byte, 1), 1, b), PTL_OK);
  EXPECT_EQ(host.spent, 70);
  ASSERT_EQ(api::PtlTriggeredPut(a.process, a.silent_md(&byte, 1), 0, 1, PTL_NO_ACK_REQ, b.id(), 0, 0, 0, nullptr, 0,
                                 a.target_ct, 0),
            PTL_OK);
  EXPECT_EQ(host.spent, 70);
}

TEST_F(WaitingTest, taking_an_event_costs_time)
{
  model.take = 50;
  EXPECT_EQ(api::PtlEQGet(a.process, a.target_eq, &event), PTL_EQ_EMPTY);
  EXPECT_EQ(host.spent, 0);
  a.append(nullptr, 0, 0);
  EXPECT_EQ(api::PtlEQWait(a.process, a.target_eq, &event), PTL_OK);
  EXPECT_EQ(host.spent, 50);
}

// The processor has read ahead what was there already when the event before it was taken.
TEST_F(WaitingTest, taking_the_next_event_costs_less)
{
  model.take = 50;
  model.take_next = 7;
  const auto take = [this] {
    const sim::SimTime before = host.spent;
    EXPECT_EQ(api::PtlEQWait(a.process, a.target_eq, &event), PTL_OK);
    return host.spent - before;
  };
  for (int i = 0; i < 3; ++i)
    a.append(nullptr, 0, 0);
  settle();
  EXPECT_EQ(take(), 50);
  EXPECT_EQ(take(), 7);
  EXPECT_EQ(take(), 7);
  a.append(nullptr, 0, 0); // the queue has been found empty
  settle();
  EXPECT_EQ(take(), 50);
}

// Reading a counter is polling if its value is known, and costs if it is new.
TEST_F(WaitingTest, polling_a_counter)
{
  model.take = 50;
  EXPECT_EQ(api::PtlCTGet(a.process, a.target_ct, &count), PTL_OK);
  EXPECT_EQ(host.empty_polls, 0U);
  EXPECT_EQ(host.spent, 50);
  EXPECT_EQ(api::PtlCTGet(a.process, a.target_ct, &count), PTL_OK);
  EXPECT_EQ(host.empty_polls, 1U);
  EXPECT_EQ(host.spent, 50);
  EXPECT_EQ(api::PtlCTInc(a.process, a.target_ct, {1, 0}), PTL_OK);
  EXPECT_EQ(api::PtlCTGet(a.process, a.target_ct, &count), PTL_OK);
  EXPECT_EQ(host.empty_polls, 1U);
}

// The host is told of events that bring data, and of no others.
TEST_F(WaitingTest, events_that_bring_data)
{
  std::array<char, 8> source{};
  std::array<char, 8> target{};
  b.append(target.data(), target.size(), PTL_ME_OP_PUT | PTL_ME_OP_GET);
  const ptl_handle_md_t md = a.md(source.data(), source.size());
  a.put(md, source.size(), b, {.ack = PTL_ACK_REQ});
  a.put(md, 0, b);
  settle();
  EXPECT_THAT(types(b.target_events()), testing::ElementsAre(PTL_EVENT_LINK, PTL_EVENT_PUT, PTL_EVENT_PUT));
  EXPECT_EQ(host.receptions, 1U); // one of the two carried nothing
  EXPECT_THAT(types(a.initiator_events()),
              testing::UnorderedElementsAre(PTL_EVENT_SEND, PTL_EVENT_SEND, PTL_EVENT_ACK));
  EXPECT_EQ(host.receptions, 1U);
  a.get(md, source.size(), b);
  settle();
  EXPECT_THAT(types(a.initiator_events()), testing::ElementsAre(PTL_EVENT_REPLY));
  EXPECT_EQ(host.receptions, 2U);
  EXPECT_THAT(types(b.target_events()), testing::ElementsAre(PTL_EVENT_GET));
  EXPECT_EQ(host.receptions, 2U);
}

// Of messages that lie where the NIC chose the host is told how much has to be copied, once; others lie where their
// program wants them.
TEST_F(WaitingTest, data_that_must_be_copied)
{
  std::array<char, 8> source{};
  std::array<char, 64> target{};
  const ptl_handle_md_t md = a.md(source.data(), source.size());
  const auto unread_after = [&](unsigned options, ptl_list_t list, std::size_t size) {
    const ptl_handle_me_t entry = b.append(target.data(), target.size(), options, {.list = list});
    a.put(md, size, b);
    settle();
    host.unread = 0;
    static_cast<void>(b.target_events());
    EXPECT_EQ(b.unlink(entry), list == PTL_OVERFLOW_LIST ? PTL_IN_USE : PTL_OK);
    return host.unread;
  };
  EXPECT_EQ(unread_after(PTL_ME_OP_PUT, PTL_PRIORITY_LIST, 8), 0U);
  EXPECT_EQ(unread_after(PTL_ME_OP_PUT | PTL_ME_MANAGE_LOCAL, PTL_PRIORITY_LIST, 5), 5U);
  EXPECT_EQ(unread_after(PTL_ME_OP_PUT | PTL_ME_MANAGE_LOCAL, PTL_OVERFLOW_LIST, 8), 0U);
  b.append(target.data(), target.size(), PTL_ME_OP_PUT | PTL_ME_USE_ONCE); // what has come is found there
  settle();
  EXPECT_THAT(types(b.target_events()), testing::Contains(PTL_EVENT_PUT_OVERFLOW));
  EXPECT_EQ(host.unread, 8U);
}

// An empty poll tells the host, who may let time pass and have the engine look again.
TEST_F(WaitingTest, empty_polls)
{
  a.append(nullptr, 0, 0);
  EXPECT_EQ(api::PtlEQGet(a.process, a.target_eq, &event), PTL_EQ_EMPTY);
  EXPECT_EQ(host.empty_polls, 1U);
  EXPECT_EQ(host.productive_polls, 0U);
  host.poll_steps = true;
  EXPECT_EQ(api::PtlEQGet(a.process, a.target_eq, &event), PTL_OK);
  EXPECT_EQ(host.empty_polls, 2U);
  EXPECT_EQ(host.productive_polls, 1U);
}

TEST_F(WaitingTest, polls_without_timeout_do_not_wait)
{
  const ptl_size_t test = 1;
  EXPECT_EQ(api::PtlEQPoll(a.process, &a.target_eq, 1, 0, &event, &which), PTL_EQ_EMPTY);
  EXPECT_EQ(api::PtlCTPoll(a.process, &a.target_ct, &test, 1, 0, &count, &which), PTL_CT_NONE_REACHED);
  EXPECT_EQ(host.waits, 0U);
  EXPECT_EQ(host.empty_polls, 2U);
}

// The host is told when something becomes visible to a process, and only then.
TEST_F(WaitingTest, host_is_told_of_changes)
{
  const std::size_t before = host.changes;
  a.append(nullptr, 0, 0);
  EXPECT_EQ(host.changes, before);
  settle();
  EXPECT_EQ(host.changes, before + 1);
}

// The handle may be freed while the host lets time pass.
TEST_F(WaitingTest, freed_during_a_poll)
{
  class FreeingHost final : public Host
  {
  public:
    std::function<void()> action;
    bool wait(Process&, sim::SimTime) override { return false; }
    void changed(Process&) override {}
    bool empty_poll(Process&) override
    {
      action();
      return true;
    }
    void productive_poll(Process&) override {}
    void spend(Process&, sim::SimTime) override {}
    [[nodiscard]] sim::SimTime now(const Process&) const override { return 0; } // nothing happens here
  };
  FreeingHost freeing;
  Fabric other{timeline, freeing, 1};
  TestModel network{timeline, other};
  other.set_model(network);
  Peer peer{other, 0, 0, 0};
  peer.open(PTL_NI_MATCHING | PTL_NI_PHYSICAL);
  freeing.action = [&] { EXPECT_EQ(api::PtlEQFree(peer.process, peer.target_eq), PTL_OK); };
  EXPECT_EQ(api::PtlEQGet(peer.process, peer.target_eq, &event), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlCTGet(peer.process, peer.target_ct, &count), PTL_OK);
  freeing.action = [&] { EXPECT_EQ(api::PtlCTFree(peer.process, peer.target_ct), PTL_OK); };
  EXPECT_EQ(api::PtlCTGet(peer.process, peer.target_ct, &count), PTL_ARG_INVALID);
}

} // namespace
} // namespace umwelt::portals::test
