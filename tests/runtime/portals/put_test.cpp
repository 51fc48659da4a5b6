// SPDX-License-Identifier: LGPL-2.1-or-later
// PtlPut (Portals 4.3, 3.15) and its events (3.13).
#include <numeric>

#include "tests/runtime/portals/support.h"

namespace umwelt::portals::test
{
namespace
{

class PutTest : public Machine
{
protected:
  char source[64] = "twelve bytes";
  char target[64] = {};
  void accept(unsigned options = 0, const EntryArguments& arguments = {})
  {
    b.append(target, sizeof target, PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE | options, arguments);
  }
};

TEST_F(PutTest, data_arrives)
{
  accept();
  ASSERT_EQ(a.put(a.md(source, 64), 13, b), PTL_OK);
  settle();
  EXPECT_STREQ(target, "twelve bytes");
}

TEST_F(PutTest, offsets)
{
  accept();
  ASSERT_EQ(a.put(a.md(source, 64), 5, b, {.remote_offset = 20, .local_offset = 7}), PTL_OK);
  settle();
  EXPECT_STREQ(target + 20, "bytes");
}

TEST_F(PutTest, events_of_the_initiator)
{
  accept();
  ASSERT_EQ(a.put(a.md(source, 64), 13, b, {.ack = PTL_ACK_REQ, .remote_offset = 3, .user_ptr = this}), PTL_OK);
  settle();
  const auto events = a.initiator_events();
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_SEND, PTL_EVENT_ACK}));
  for (const ptl_event_t& event : events) {
    EXPECT_EQ(event.user_ptr, this);
    EXPECT_EQ(event.ni_fail_type, PTL_NI_OK);
  }
  EXPECT_EQ(events[1].mlength, 13U);
  EXPECT_EQ(events[1].remote_offset, 3U); // as used by the target
  EXPECT_EQ(events[1].ptl_list, PTL_PRIORITY_LIST);
}

TEST_F(PutTest, event_of_the_target)
{
  accept(0, {.bits = 0x77, .user_ptr = target});
  ASSERT_EQ(a.put(a.md(source, 64), 13, b, {.bits = 0x77, .remote_offset = 8, .user_ptr = this, .hdr_data = 42}),
            PTL_OK);
  settle();
  const auto events = b.target_events();
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_PUT}));
  EXPECT_EQ(events[0].start, target + 8);
  EXPECT_EQ(events[0].user_ptr, target);
  EXPECT_EQ(events[0].hdr_data, 42U);
  EXPECT_EQ(events[0].match_bits, 0x77U);
  EXPECT_EQ(events[0].rlength, 13U);
  EXPECT_EQ(events[0].mlength, 13U);
  EXPECT_EQ(events[0].remote_offset, 8U);
  EXPECT_EQ(events[0].initiator.rank, 0U);
  EXPECT_EQ(events[0].uid, 100U);
  EXPECT_EQ(events[0].pt_index, b.pt);
  EXPECT_EQ(events[0].ptl_list, PTL_PRIORITY_LIST);
  EXPECT_EQ(events[0].ni_fail_type, PTL_NI_OK);
}

TEST_F(PutTest, no_acknowledgement_unless_asked_for)
{
  accept();
  ASSERT_EQ(a.put(a.md(source, 64), 13, b), PTL_OK);
  settle();
  EXPECT_EQ(types(a.initiator_events()), (std::vector<int>{PTL_EVENT_SEND}));
  EXPECT_EQ(model.started.size(), 1U); // nothing travels back
}

TEST_F(PutTest, counting_acknowledgement_makes_no_event)
{
  accept();
  const ptl_handle_md_t md = a.md(source, 64, PTL_MD_EVENT_CT_ACK);
  ASSERT_EQ(a.put(md, 13, b, {.ack = PTL_CT_ACK_REQ}), PTL_OK);
  settle();
  EXPECT_EQ(types(a.initiator_events()), (std::vector<int>{PTL_EVENT_SEND}));
  EXPECT_EQ(a.count(a.initiator_ct).success, 1U);
}

// An operation-completed acknowledgement does not tell what became of the message, and counts operations only.
TEST_F(PutTest, operation_completed_acknowledgement)
{
  const ptl_handle_md_t md = a.md(source, 64, PTL_MD_EVENT_CT_ACK | PTL_MD_EVENT_CT_BYTES);
  ASSERT_EQ(a.put(md, 13, b, {.ack = PTL_OC_ACK_REQ}), PTL_OK); // nothing matches
  settle();
  EXPECT_EQ(b.status(PTL_SR_DROP_COUNT), 1);
  EXPECT_EQ(a.count(a.initiator_ct).success, 1U);
  EXPECT_EQ(a.count(a.initiator_ct).failure, 0U);
}

// An acknowledgement needs somewhere to go.
TEST_F(PutTest, acknowledgement_without_destination)
{
  const ptl_handle_md_t md = a.silent_md(source, 64);
  EXPECT_EQ(a.put(md, 1, b, {.ack = PTL_ACK_REQ}), PTL_ARG_INVALID);
  EXPECT_EQ(a.put(md, 1, b, {.ack = PTL_CT_ACK_REQ}), PTL_ARG_INVALID);
  EXPECT_EQ(a.put(md, 1, b, {.ack = 4}), PTL_ARG_INVALID);
  EXPECT_EQ(a.put(a.md(source, 64, PTL_MD_UNRELIABLE), 1, b, {.ack = PTL_ACK_REQ}), PTL_ARG_INVALID);
}

TEST_F(PutTest, unreliable)
{
  accept();
  ASSERT_EQ(a.put(a.md(source, 64, PTL_MD_UNRELIABLE), 13, b), PTL_OK);
  settle();
  EXPECT_STREQ(target, source);
}

TEST_F(PutTest, no_bytes)
{
  accept();
  ASSERT_EQ(a.put(a.md(nullptr, 0), 0, b, {.ack = PTL_ACK_REQ}), PTL_OK);
  settle();
  EXPECT_EQ(types(a.initiator_events()), (std::vector<int>{PTL_EVENT_SEND, PTL_EVENT_ACK}));
  EXPECT_EQ(b.target_events().at(0).mlength, 0U);
}

TEST_F(PutTest, message_that_does_not_fit_is_truncated)
{
  accept();
  ASSERT_EQ(a.put(a.md(source, 64), 13, b, {.ack = PTL_ACK_REQ, .remote_offset = 60}), PTL_OK);
  settle();
  EXPECT_EQ(a.initiator_events().at(1).mlength, 4U);
  const auto events = b.target_events();
  EXPECT_EQ(events.at(0).rlength, 13U);
  EXPECT_EQ(events.at(0).mlength, 4U);
  EXPECT_EQ(std::string(target + 60, 4), "twel");
}

TEST_F(PutTest, message_beyond_the_end_is_truncated_to_nothing)
{
  accept();
  ASSERT_EQ(a.put(a.md(source, 64), 13, b, {.remote_offset = 1000}), PTL_OK);
  settle();
  EXPECT_EQ(b.target_events().at(0).mlength, 0U);
  EXPECT_EQ(model.deposited, 0U);
}

TEST_F(PutTest, target_outside_of_the_map)
{
  ptl_process_t nobody{};
  nobody.rank = 2;
  const ptl_handle_md_t md = a.md(source, 64);
  EXPECT_EQ(api::PtlPut(a.process, md, 0, 1, PTL_NO_ACK_REQ, nobody, 0, 0, 0, nullptr, 0), PTL_ARG_INVALID);
  nobody.rank = PTL_RANK_ANY;
  EXPECT_EQ(api::PtlPut(a.process, md, 0, 1, PTL_NO_ACK_REQ, nobody, 0, 0, 0, nullptr, 0), PTL_ARG_INVALID);
}

TEST_F(PutTest, max_msg_size)
{
  ptl_ni_limits_t limits{};
  limits.max_msg_size = 10;
  limits.max_mds = 1;
  ptl_handle_ni_t ni = PTL_INVALID_HANDLE;
  ASSERT_EQ(api::PtlNIInit(a.process, 0, PTL_NI_NO_MATCHING | PTL_NI_PHYSICAL, PTL_PID_ANY, &limits, nullptr, &ni),
            PTL_OK);
  const ptl_md_t description{source, 64, 0, PTL_EQ_NONE, PTL_CT_NONE};
  ptl_handle_md_t md = PTL_INVALID_HANDLE;
  ASSERT_EQ(api::PtlMDBind(a.process, ni, &description, &md), PTL_OK);
  ptl_process_t id{};
  ASSERT_EQ(api::PtlGetId(a.process, ni, &id), PTL_OK);
  EXPECT_EQ(api::PtlPut(a.process, md, 0, 11, PTL_NO_ACK_REQ, id, 0, 0, 0, nullptr, 0), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlGet(a.process, md, 0, 11, id, 0, 0, 0, nullptr), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlPut(a.process, md, 0, 10, PTL_NO_ACK_REQ, id, 0, 0, 0, nullptr, 0), PTL_OK);
}

TEST_F(PutTest, to_itself)
{
  a.append(target, sizeof target, PTL_ME_OP_PUT);
  ASSERT_EQ(a.put(a.md(source, 64), 13, a), PTL_OK);
  settle();
  EXPECT_STREQ(target, source);
}

TEST_F(PutTest, to_overlapping_memory)
{
  char memory[300] = "0123456789";
  a.append(memory + 4, 200, PTL_ME_OP_PUT);
  ASSERT_EQ(a.put(a.md(memory, 200), 200, a), PTL_OK);
  settle();
  EXPECT_STREQ(memory, "01230123456789");
}

// Messages between two processes are matched in the order in which they were started.
TEST_F(PutTest, messages_match_in_order)
{
  accept();
  const ptl_handle_md_t md = a.md(source, 64);
  for (ptl_hdr_data_t i = 0; i < 10; ++i)
    ASSERT_EQ(a.put(md, 1, b, {.hdr_data = i}), PTL_OK);
  settle();
  const auto events = b.target_events();
  ASSERT_EQ(events.size(), 10U);
  for (std::size_t i = 0; i < 10; ++i)
    EXPECT_EQ(events[i].hdr_data, i);
}

class PhysicalPutTest : public PhysicalMachine
{
protected:
  char source[8] = "physics";
  char target[8] = {};
};

TEST_F(PhysicalPutTest, data_arrives)
{
  b.append(target, sizeof target, PTL_ME_OP_PUT);
  ASSERT_EQ(a.put(a.md(source, 8), 8, b), PTL_OK);
  settle();
  EXPECT_STREQ(target, source);
  EXPECT_EQ(b.target_events().at(1).initiator.phys.nid, a.process.nid());
}

// A node or process that does not exist is found out about on the way.
TEST_F(PhysicalPutTest, nobody_there)
{
  ptl_process_t nobody = b.id();
  nobody.phys.pid = 55;
  const ptl_handle_md_t md = a.md(source, 8, PTL_MD_EVENT_SEND_DISABLE);
  EXPECT_EQ(api::PtlPut(a.process, md, 0, 1, PTL_ACK_REQ, nobody, 0, 0, 0, nullptr, 0), PTL_OK);
  settle();
  EXPECT_EQ(a.initiator_events().at(0).ni_fail_type, PTL_NI_UNDELIVERABLE);
}

TEST_F(PhysicalPutTest, no_such_node)
{
  ptl_process_t nobody = b.id();
  const ptl_handle_md_t md = a.md(source, 8);
  for (const ptl_nid_t nid : {ptl_nid_t{0}, ptl_nid_t{5}, PTL_NID_ANY}) {
    nobody.phys.nid = nid;
    EXPECT_EQ(api::PtlPut(a.process, md, 0, 1, PTL_NO_ACK_REQ, nobody, 0, 0, 0, nullptr, 0), PTL_ARG_INVALID);
  }
  nobody = b.id();
  nobody.phys.pid = PTL_PID_ANY;
  EXPECT_EQ(api::PtlPut(a.process, md, 0, 1, PTL_NO_ACK_REQ, nobody, 0, 0, 0, nullptr, 0), PTL_ARG_INVALID);
}

using NonMatchingPutTest = NonMatchingMachine;

TEST_F(NonMatchingPutTest, match_bits_do_not_matter)
{
  char source[8] = "list";
  char target[8] = {};
  b.append(target, sizeof target, PTL_LE_OP_PUT);
  ASSERT_EQ(a.put(a.md(source, 8), 8, b, {.bits = 0x123456789abcdef0}), PTL_OK);
  settle();
  EXPECT_STREQ(target, source);
}

// A NIC reads the source early, on the way, or keeps it until the target has acknowledged.
class PutSourceTest : public Machine, public ::testing::WithParamInterface<TestModel::SourceRead>
{
protected:
  static constexpr std::size_t size = 1 << 20;
  std::vector<std::uint32_t> source = std::vector<std::uint32_t>(size / 4);
  std::vector<std::uint32_t> target = std::vector<std::uint32_t>(size / 4);
  PutSourceTest()
  {
    model.source_read = GetParam();
    std::iota(source.begin(), source.end(), 1U);
    b.append(target.data(), size, PTL_ME_OP_PUT);
  }
};

TEST_P(PutSourceTest, large_message)
{
  ASSERT_EQ(a.put(a.md(source.data(), size), size, b, {.ack = PTL_ACK_REQ}), PTL_OK);
  settle();
  EXPECT_EQ(target, source);
  EXPECT_EQ(types(a.initiator_events()), (std::vector<int>{PTL_EVENT_SEND, PTL_EVENT_ACK})); // in this order, always
  EXPECT_EQ(fabric.in_flight(), 0U);
}

// After SEND the buffer is the program's.
TEST_P(PutSourceTest, buffer_may_be_used_after_send)
{
  const std::vector<std::uint32_t> original = source;
  ASSERT_EQ(a.put(a.md(source.data(), size), size, b), PTL_OK);
  ptl_event_t event{};
  ASSERT_EQ(api::PtlEQWait(a.process, a.initiator_eq, &event), PTL_OK);
  std::fill(source.begin(), source.end(), 0U);
  settle();
  EXPECT_EQ(target, original);
}

TEST_P(PutSourceTest, truncated_message)
{
  ASSERT_EQ(a.put(a.md(source.data(), size), size, b, {.remote_offset = size - 400}), PTL_OK);
  settle();
  EXPECT_EQ(target[size / 4 - 100], 1U);
  EXPECT_EQ(target[size / 4 - 1], 100U);
  EXPECT_EQ(model.deposited, 400U);
}

INSTANTIATE_TEST_SUITE_P(Source, PutSourceTest,
                         ::testing::Values(TestModel::SourceRead::before_header, TestModel::SourceRead::before_delivery,
                                           TestModel::SourceRead::after_delivery));

} // namespace
} // namespace umwelt::portals::test
