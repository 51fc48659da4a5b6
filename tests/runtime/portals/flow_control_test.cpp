// SPDX-License-Identifier: LGPL-2.1-or-later
// Flow control (Portals 4.3, 3.7 and PTL_EVENT_PT_DISABLED in 3.13): when a resource runs out, the portal table entry
// is disabled instead of messages or events being lost.
#include "tests/runtime/portals/support.h"

namespace umwelt::portals::test
{
namespace
{

// Portal table entry 0 has flow control and a queue of 4 events.
class FlowControlTest : public FlowMachine
{
protected:
  char source[8] = "flow";
  char target[8] = {};
  ptl_handle_eq_t acks = a.eq(1000);
  ptl_handle_md_t md = PTL_INVALID_HANDLE;

  FlowControlTest()
  {
    const ptl_md_t description{source, 8, PTL_MD_EVENT_SEND_DISABLE, acks, PTL_CT_NONE};
    EXPECT_EQ(api::PtlMDBind(a.process, a.ni, &description, &md), PTL_OK);
  }
  ptl_handle_me_t accept(unsigned options = 0, const EntryArguments& arguments = {})
  {
    return b.append(target, 8, PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE | options, arguments);
  }
  // Outcomes of `count` puts started one after the other.
  std::vector<int> send(int count, ptl_match_bits_t bits = 0)
  {
    for (int i = 0; i < count; ++i)
      EXPECT_EQ(a.put(md, 5, b, {.ack = PTL_ACK_REQ, .bits = bits}), PTL_OK);
    settle();
    std::vector<int> result;
    for (const ptl_event_t& event : a.events(acks))
      result.push_back(event.ni_fail_type);
    return result;
  }
};

TEST_F(FlowControlTest, no_entry_matches)
{
  EXPECT_EQ(send(2), (std::vector<int>{PTL_NI_PT_DISABLED, PTL_NI_PT_DISABLED}));
  const auto events = b.target_events();
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_PT_DISABLED})); // once
  EXPECT_EQ(events[0].pt_index, b.pt);
  EXPECT_EQ(events[0].ni_fail_type, PTL_NI_PT_DISABLED);
  EXPECT_EQ(b.status(PTL_SR_DROP_COUNT), 2);
}

// Messages are refused until the entry is enabled again.
TEST_F(FlowControlTest, recovery)
{
  send(1);
  accept();
  EXPECT_EQ(send(1), (std::vector<int>{PTL_NI_PT_DISABLED}));
  EXPECT_EQ(api::PtlPTEnable(b.process, b.ni, b.pt), PTL_OK);
  EXPECT_EQ(send(1), (std::vector<int>{PTL_NI_OK}));
  EXPECT_STREQ(target, "flow");
}

// A full event queue: no event is lost, and there is always room for PT_DISABLED.
TEST_F(FlowControlTest, event_queue_is_full)
{
  accept();
  EXPECT_EQ(send(6),
            (std::vector<int>{PTL_NI_OK, PTL_NI_OK, PTL_NI_OK, PTL_NI_OK, PTL_NI_PT_DISABLED, PTL_NI_PT_DISABLED}));
  EXPECT_EQ(types(b.target_events()),
            (std::vector<int>{PTL_EVENT_PUT, PTL_EVENT_PUT, PTL_EVENT_PUT, PTL_EVENT_PUT, PTL_EVENT_PT_DISABLED}));
  EXPECT_EQ(api::PtlPTEnable(b.process, b.ni, b.pt), PTL_OK);
  EXPECT_EQ(send(1), (std::vector<int>{PTL_NI_OK}));
}

// An entry that unlinks needs two places.
TEST_F(FlowControlTest, place_for_auto_unlink)
{
  const ptl_handle_me_t first = accept();
  send(3);
  ASSERT_EQ(b.unlink(first), PTL_OK);
  accept(PTL_ME_USE_ONCE);
  EXPECT_EQ(send(1), (std::vector<int>{PTL_NI_PT_DISABLED}));
  EXPECT_EQ(b.target_events().back().type, PTL_EVENT_PT_DISABLED);
}

// Entries that post nothing need no place.
TEST_F(FlowControlTest, silent_entries)
{
  accept(PTL_ME_EVENT_COMM_DISABLE);
  const auto outcomes = send(20);
  EXPECT_EQ(outcomes, std::vector<int>(20, PTL_NI_OK));
}

TEST_F(FlowControlTest, flowctrl_disable_silences_the_event)
{
  accept(PTL_ME_EVENT_FLOWCTRL_DISABLE);
  send(5);
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_PUT, PTL_EVENT_PUT, PTL_EVENT_PUT, PTL_EVENT_PUT}));
  EXPECT_EQ(send(1), (std::vector<int>{PTL_NI_PT_DISABLED}));
}

// PT_DISABLED comes after the events of the messages that were being processed.
TEST_F(FlowControlTest, messages_in_progress_complete_first)
{
  accept(0, {.bits = 1});
  model.slowness = [](const net::Transfer& transfer) { return transfer.payload == 4 ? sim::millisecond : 0; };
  ASSERT_EQ(a.put(md, 4, b, {.bits = 1}), PTL_OK); // slow
  ASSERT_EQ(a.put(md, 5, b, {.bits = 2}), PTL_OK); // matches nothing
  settle();
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_PUT, PTL_EVENT_PT_DISABLED}));
}

// PtlPTEnable while messages are still in progress: their event belongs to the past.
TEST_F(FlowControlTest, enabled_while_messages_are_in_progress)
{
  accept(0, {.bits = 1});
  model.slowness = [](const net::Transfer& transfer) { return transfer.payload == 4 ? sim::millisecond : 0; };
  ASSERT_EQ(a.put(md, 4, b, {.bits = 1}), PTL_OK);
  ASSERT_EQ(a.put(md, 5, b, {.ack = PTL_ACK_REQ, .bits = 2}), PTL_OK);
  ptl_event_t event{};
  ASSERT_EQ(api::PtlEQWait(a.process, acks, &event), PTL_OK); // the second one was refused
  EXPECT_EQ(api::PtlPTEnable(b.process, b.ni, b.pt), PTL_OK);
  EXPECT_EQ(send(1, 1), (std::vector<int>{PTL_NI_OK}));
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_PUT, PTL_EVENT_PT_DISABLED, PTL_EVENT_PUT}));
}

TEST_F(FlowControlTest, reply_tells_that_the_entry_is_disabled)
{
  char result[8] = {};
  const ptl_md_t description{result, 8, 0, acks, PTL_CT_NONE};
  ptl_handle_md_t get_md = PTL_INVALID_HANDLE;
  ASSERT_EQ(api::PtlMDBind(a.process, a.ni, &description, &get_md), PTL_OK);
  ASSERT_EQ(a.get(get_md, 8, b), PTL_OK);
  settle();
  const auto events = a.events(acks);
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_REPLY}));
  EXPECT_EQ(events[0].ni_fail_type, PTL_NI_PT_DISABLED);
}

class FlowHeadersTest : public Machine
{
protected:
  FlowHeadersTest() : Machine(PTL_NI_MATCHING | PTL_NI_LOGICAL, PTL_PT_FLOWCTRL, &few()) {}
  static const ptl_ni_limits_t& few()
  {
    static const ptl_ni_limits_t limits = [] {
      ptl_ni_limits_t wanted{};
      wanted.max_unexpected_headers = 1;
      wanted.max_entries = wanted.max_list_size = wanted.max_eqs = wanted.max_cts = wanted.max_mds = 4;
      wanted.max_msg_size = 1000;
      return wanted;
    }();
    return limits;
  }
};

TEST_F(FlowHeadersTest, no_unexpected_headers_left)
{
  char byte = 0;
  b.append(&byte, 1, PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE, {.list = PTL_OVERFLOW_LIST});
  const ptl_handle_md_t md = a.silent_md(&byte, 1);
  ASSERT_EQ(a.put(md, 1, b), PTL_OK);
  ASSERT_EQ(a.put(md, 1, b), PTL_OK);
  settle();
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_PUT, PTL_EVENT_PT_DISABLED}));
}

// Two entries of the portal table share a queue: each has its place for PT_DISABLED.
TEST_F(FlowControlTest, two_entries_share_a_queue)
{
  ptl_pt_index_t second = 0;
  ASSERT_EQ(api::PtlPTAlloc(b.process, b.ni, PTL_PT_FLOWCTRL, b.target_eq, 1, &second), PTL_OK);
  accept();
  send(5);
  ASSERT_EQ(a.put(md, 5, b, {.pt = 1}), PTL_OK);
  settle();
  const auto events = b.target_events();
  ASSERT_EQ(events.size(), 6U);
  EXPECT_EQ(events[4].type, PTL_EVENT_PT_DISABLED);
  EXPECT_EQ(events[4].pt_index, 0U);
  EXPECT_EQ(events[5].type, PTL_EVENT_PT_DISABLED);
  EXPECT_EQ(events[5].pt_index, 1U);
}

} // namespace
} // namespace umwelt::portals::test
