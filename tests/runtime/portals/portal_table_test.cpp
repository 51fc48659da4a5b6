// SPDX-License-Identifier: LGPL-2.1-or-later
// The portal table (Portals 4.3, 3.7).
#include "tests/runtime/portals/support.h"

namespace umwelt::portals::test
{
namespace
{

class PortalTableTest : public Machine
{
protected:
  char source[64] = "twelve bytes";
  char target[64] = {};
  int alloc(ptl_pt_index_t wanted, ptl_pt_index_t& index, unsigned options = 0, ptl_handle_eq_t eq = PTL_EQ_NONE)
  {
    return api::PtlPTAlloc(b.process, b.ni, options, eq, wanted, &index);
  }
};

TEST_F(PortalTableTest, requested_index)
{
  ptl_pt_index_t index = 99;
  EXPECT_EQ(alloc(7, index), PTL_OK);
  EXPECT_EQ(index, 7U);
  EXPECT_EQ(alloc(7, index), PTL_PT_IN_USE);
}

TEST_F(PortalTableTest, any_index)
{
  ptl_pt_index_t first = 99;
  ptl_pt_index_t second = 99;
  EXPECT_EQ(alloc(PTL_PT_ANY, first), PTL_OK);
  EXPECT_EQ(alloc(PTL_PT_ANY, second), PTL_OK);
  EXPECT_NE(first, second);
  EXPECT_NE(first, b.pt);
}

TEST_F(PortalTableTest, arguments)
{
  ptl_pt_index_t index = 0;
  EXPECT_EQ(alloc(100000, index), PTL_ARG_INVALID);
  EXPECT_EQ(alloc(PTL_PT_ANY, index, 1U << 5), PTL_ARG_INVALID);
  EXPECT_EQ(alloc(PTL_PT_ANY, index, 0, b.target_ct), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlPTAlloc(b.process, b.ni, 0, PTL_EQ_NONE, PTL_PT_ANY, nullptr), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlPTAlloc(b.process, PTL_INVALID_HANDLE, 0, PTL_EQ_NONE, PTL_PT_ANY, &index), PTL_ARG_INVALID);
}

TEST_F(PortalTableTest, flow_control_needs_a_queue)
{
  ptl_pt_index_t index = 0;
  EXPECT_EQ(alloc(PTL_PT_ANY, index, PTL_PT_FLOWCTRL), PTL_PT_EQ_NEEDED);
  EXPECT_EQ(alloc(PTL_PT_ANY, index, PTL_PT_FLOWCTRL, b.target_eq), PTL_OK);
}

TEST(PortalTable, full)
{
  sim::Timeline timeline;
  TestHost host{timeline};
  Fabric fabric{timeline, host, 1};
  Peer peer{fabric, 0, 0, 0};
  ptl_ni_limits_t limits{};
  limits.max_pt_index = 1;
  limits.max_eqs = limits.max_cts = 4;
  peer.open(PTL_NI_MATCHING | PTL_NI_PHYSICAL, 0, &limits);
  ptl_pt_index_t index = 0;
  EXPECT_EQ(api::PtlPTAlloc(peer.process, peer.ni, 0, PTL_EQ_NONE, PTL_PT_ANY, &index), PTL_OK);
  EXPECT_EQ(index, 1U);
  EXPECT_EQ(api::PtlPTAlloc(peer.process, peer.ni, 0, PTL_EQ_NONE, PTL_PT_ANY, &index), PTL_PT_FULL);
  EXPECT_EQ(api::PtlPTFree(peer.process, peer.ni, 1), PTL_OK);
  EXPECT_EQ(api::PtlPTAlloc(peer.process, peer.ni, 0, PTL_EQ_NONE, PTL_PT_ANY, &index), PTL_OK);
}

TEST_F(PortalTableTest, entry_with_list_entries_is_in_use)
{
  const ptl_handle_me_t me = b.append(target, sizeof target, PTL_ME_OP_PUT);
  EXPECT_EQ(api::PtlPTFree(b.process, b.ni, b.pt), PTL_PT_IN_USE);
  EXPECT_EQ(b.unlink(me), PTL_OK);
  EXPECT_EQ(api::PtlPTFree(b.process, b.ni, b.pt), PTL_OK);
  EXPECT_EQ(api::PtlPTFree(b.process, b.ni, b.pt), PTL_ARG_INVALID);
  b.append(target, sizeof target, PTL_ME_OP_PUT, {.expect = PTL_ARG_INVALID});
}

// A message for an entry that does not exist is dropped.
TEST_F(PortalTableTest, message_for_no_entry)
{
  EXPECT_EQ(a.put(a.md(source, 64), 12, b, {.ack = PTL_ACK_REQ, .pt = 5}), PTL_OK);
  settle();
  const auto events = a.initiator_events();
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_SEND, PTL_EVENT_ACK}));
  EXPECT_EQ(events[1].ni_fail_type, PTL_NI_DROPPED);
  EXPECT_EQ(b.status(PTL_SR_DROP_COUNT), 1);
}

// A disabled entry refuses messages until it is enabled again; PtlPTDisable itself posts no event.
TEST_F(PortalTableTest, disable_and_enable)
{
  b.append(target, sizeof target, PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE);
  const ptl_handle_md_t md = a.md(source, 64, PTL_MD_EVENT_SEND_DISABLE);
  ASSERT_EQ(api::PtlPTDisable(b.process, b.ni, b.pt), PTL_OK);
  EXPECT_EQ(a.put(md, 12, b, {.ack = PTL_ACK_REQ}), PTL_OK);
  settle();
  EXPECT_EQ(a.initiator_events().at(0).ni_fail_type, PTL_NI_PT_DISABLED);
  EXPECT_EQ(b.status(PTL_SR_DROP_COUNT), 1);
  EXPECT_TRUE(b.target_events().empty());
  ASSERT_EQ(api::PtlPTEnable(b.process, b.ni, b.pt), PTL_OK);
  EXPECT_EQ(a.put(md, 12, b, {.ack = PTL_ACK_REQ}), PTL_OK);
  settle();
  EXPECT_EQ(a.initiator_events().at(0).ni_fail_type, PTL_NI_OK);
  EXPECT_STREQ(target, source);
}

TEST_F(PortalTableTest, created_disabled)
{
  ptl_pt_index_t index = 0;
  ASSERT_EQ(alloc(3, index, PTL_PT_ALLOC_DISABLED, b.target_eq), PTL_OK);
  b.pt = 3;
  b.append(target, sizeof target, PTL_ME_OP_PUT);
  const ptl_handle_md_t md = a.md(source, 64, PTL_MD_EVENT_SEND_DISABLE);
  EXPECT_EQ(a.put(md, 12, b, {.ack = PTL_ACK_REQ, .pt = 3}), PTL_OK);
  settle();
  EXPECT_EQ(a.initiator_events().at(0).ni_fail_type, PTL_NI_PT_DISABLED);
  EXPECT_EQ(api::PtlPTEnable(b.process, b.ni, 3), PTL_OK);
  EXPECT_EQ(a.put(md, 12, b, {.ack = PTL_ACK_REQ, .pt = 3}), PTL_OK);
  settle();
  EXPECT_EQ(a.initiator_events().at(0).ni_fail_type, PTL_NI_OK);
}

// PtlPTDisable returns when the messages being processed are complete.
TEST_F(PortalTableTest, disable_waits_for_messages_in_progress)
{
  b.append(target, sizeof target, PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE);
  EXPECT_EQ(a.put(a.md(source, 64), 12, b), PTL_OK);
  while (model.deposited == 0) // the header has arrived, the data has not
    ASSERT_TRUE(timeline.step());
  EXPECT_STREQ(target, "");
  EXPECT_EQ(api::PtlPTDisable(b.process, b.ni, b.pt), PTL_OK);
  EXPECT_STREQ(target, source);
}

TEST_F(PortalTableTest, free_waits_for_messages_in_progress)
{
  const ptl_handle_me_t me = b.append(target, sizeof target, PTL_ME_OP_PUT | PTL_ME_USE_ONCE);
  EXPECT_EQ(a.put(a.md(source, 64), 12, b), PTL_OK);
  while (model.deposited == 0)
    ASSERT_TRUE(timeline.step());
  EXPECT_EQ(b.unlink(me), PTL_IN_USE);
  EXPECT_EQ(api::PtlPTFree(b.process, b.ni, b.pt), PTL_OK);
  EXPECT_STREQ(target, source);
}

// Unexpected headers go with the entry.
TEST_F(PortalTableTest, free_forgets_unexpected_headers)
{
  b.append(target, sizeof target, PTL_ME_OP_PUT | PTL_ME_USE_ONCE, {.list = PTL_OVERFLOW_LIST});
  EXPECT_EQ(a.put(a.md(source, 64), 12, b), PTL_OK);
  settle();
  EXPECT_EQ(api::PtlPTFree(b.process, b.ni, b.pt), PTL_OK);
  settle();
  EXPECT_EQ(types(b.target_events()),
            (std::vector<int>{PTL_EVENT_LINK, PTL_EVENT_PUT, PTL_EVENT_AUTO_UNLINK, PTL_EVENT_AUTO_FREE}));
  EXPECT_EQ(b.process.interface(0)->unexpected_headers, 0);
}

TEST_F(PortalTableTest, calls_on_no_entry)
{
  EXPECT_EQ(api::PtlPTDisable(b.process, b.ni, 9), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlPTEnable(b.process, b.ni, PTL_PT_ANY), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlPTFree(b.process, b.target_eq, 0), PTL_ARG_INVALID);
}

} // namespace
} // namespace umwelt::portals::test
