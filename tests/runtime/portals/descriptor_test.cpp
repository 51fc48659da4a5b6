// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory descriptors (Portals 4.3, 3.10).
#include "tests/runtime/portals/support.h"

namespace umwelt::portals::test
{
namespace
{

class DescriptorTest : public Machine
{
protected:
  char source[64] = "twelve bytes";
  char target[64] = {};
  ptl_handle_md_t handle = PTL_INVALID_HANDLE;
  int bind(const ptl_md_t& md) { return api::PtlMDBind(a.process, a.ni, &md, &handle); }
};

TEST_F(DescriptorTest, arguments)
{
  EXPECT_EQ(bind({source, 64, 0, PTL_EQ_NONE, PTL_CT_NONE}), PTL_OK);
  EXPECT_EQ(bind({source, 64, 1U << 10, PTL_EQ_NONE, PTL_CT_NONE}), PTL_ARG_INVALID);
  EXPECT_EQ(bind({source, 64, 0, a.target_ct, PTL_CT_NONE}), PTL_ARG_INVALID);
  EXPECT_EQ(bind({source, 64, 0, PTL_EQ_NONE, a.target_eq}), PTL_ARG_INVALID);
  EXPECT_EQ(bind({source, 64, 0, PTL_INVALID_HANDLE, PTL_CT_NONE}), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlMDBind(a.process, a.ni, nullptr, &handle), PTL_ARG_INVALID);
  const ptl_md_t md{source, 64, 0, PTL_EQ_NONE, PTL_CT_NONE};
  EXPECT_EQ(api::PtlMDBind(a.process, a.ni, &md, nullptr), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlMDBind(a.process, PTL_INVALID_HANDLE, &md, &handle), PTL_ARG_INVALID);
}

// The queue and the counter must belong to the interface of the descriptor.
TEST_F(DescriptorTest, objects_of_another_interface)
{
  ptl_handle_ni_t other = PTL_INVALID_HANDLE;
  ASSERT_EQ(api::PtlNIInit(a.process, 0, PTL_NI_NO_MATCHING | PTL_NI_LOGICAL, PTL_PID_ANY, nullptr, nullptr, &other),
            PTL_OK);
  const ptl_md_t with_queue{source, 64, 0, a.initiator_eq, PTL_CT_NONE};
  const ptl_md_t with_counter{source, 64, 0, PTL_EQ_NONE, a.initiator_ct};
  EXPECT_EQ(api::PtlMDBind(a.process, other, &with_queue, &handle), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlMDBind(a.process, other, &with_counter, &handle), PTL_ARG_INVALID);
}

// Programs describe all of their memory with one descriptor.
TEST_F(DescriptorTest, whole_address_space)
{
  b.append(target, sizeof target, PTL_ME_OP_PUT);
  const ptl_handle_md_t md = a.md(nullptr, PTL_SIZE_MAX);
  EXPECT_EQ(a.put(md, 12, b, {.local_offset = reinterpret_cast<ptl_size_t>(source)}), PTL_OK);
  settle();
  EXPECT_STREQ(target, source);
}

TEST_F(DescriptorTest, operation_outside_of_the_memory)
{
  const ptl_handle_md_t md = a.md(source, 64);
  EXPECT_EQ(a.put(md, 65, b), PTL_ARG_INVALID);
  EXPECT_EQ(a.put(md, 1, b, {.local_offset = 64}), PTL_ARG_INVALID);
  EXPECT_EQ(a.put(md, 2, b, {.local_offset = PTL_SIZE_MAX}), PTL_ARG_INVALID); // no overflow
  EXPECT_EQ(a.get(md, 33, b, {.local_offset = 32}), PTL_ARG_INVALID);
  EXPECT_EQ(a.put(md, 0, b, {.local_offset = 64}), PTL_OK);
}

TEST_F(DescriptorTest, released_handle_is_invalid)
{
  const ptl_handle_md_t md = a.md(source, 64);
  EXPECT_EQ(api::PtlMDRelease(a.process, md), PTL_OK);
  EXPECT_EQ(api::PtlMDRelease(a.process, md), PTL_ARG_INVALID);
  EXPECT_EQ(a.put(md, 1, b), PTL_ARG_INVALID);
}

// The memory is the program's again when the call returns.
TEST_F(DescriptorTest, release_waits_for_operations)
{
  char large[256] = "a message that the NIC reads late";
  char memory[256] = {};
  b.append(memory, sizeof memory, PTL_ME_OP_PUT);
  model.source_read = TestModel::SourceRead::after_delivery;
  const ptl_handle_md_t md = a.md(large, sizeof large);
  ASSERT_EQ(a.put(md, sizeof large, b), PTL_OK);
  EXPECT_EQ(api::PtlMDRelease(a.process, md), PTL_OK);
  large[0] = 'X';
  settle();
  EXPECT_EQ(memory[0], 'a');
  EXPECT_EQ(types(a.initiator_events()), (std::vector<int>{PTL_EVENT_SEND}));
}

TEST_F(DescriptorTest, release_waits_for_a_reply)
{
  b.append(target, sizeof target, PTL_ME_OP_GET);
  std::strcpy(target, "reply");
  const ptl_handle_md_t md = a.md(source, 64);
  ASSERT_EQ(a.get(md, 64, b), PTL_OK);
  EXPECT_EQ(api::PtlMDRelease(a.process, md), PTL_OK);
  EXPECT_STREQ(source, "reply");
}

TEST_F(DescriptorTest, at_most_max_mds)
{
  ptl_ni_limits_t limits{};
  limits.max_mds = 2;
  ptl_handle_ni_t ni = PTL_INVALID_HANDLE;
  ASSERT_EQ(api::PtlNIInit(a.process, 0, PTL_NI_NO_MATCHING | PTL_NI_LOGICAL, PTL_PID_ANY, &limits, nullptr, &ni),
            PTL_OK);
  const ptl_md_t md{source, 64, 0, PTL_EQ_NONE, PTL_CT_NONE};
  ptl_handle_md_t first = PTL_INVALID_HANDLE;
  EXPECT_EQ(api::PtlMDBind(a.process, ni, &md, &first), PTL_OK);
  EXPECT_EQ(api::PtlMDBind(a.process, ni, &md, &handle), PTL_OK);
  EXPECT_EQ(api::PtlMDBind(a.process, ni, &md, &handle), PTL_NO_SPACE);
  EXPECT_EQ(api::PtlMDRelease(a.process, first), PTL_OK);
  EXPECT_EQ(api::PtlMDBind(a.process, ni, &md, &handle), PTL_OK);
}

// PTL_MD_VOLATILE: the buffer may change as soon as the call returns.
TEST_F(DescriptorTest, volatile_buffer)
{
  ptl_ni_limits_t limits{};
  limits.max_volatile_size = 200;
  limits.max_mds = limits.max_entries = limits.max_list_size = 4;
  limits.max_msg_size = 1000;
  ptl_process_t id{};
  ptl_handle_ni_t ni = PTL_INVALID_HANDLE;
  ASSERT_EQ(api::PtlNIInit(a.process, 0, PTL_NI_NO_MATCHING | PTL_NI_PHYSICAL, PTL_PID_ANY, &limits, nullptr, &ni),
            PTL_OK);
  ASSERT_EQ(api::PtlGetId(a.process, ni, &id), PTL_OK);
  ptl_pt_index_t pt = 0;
  ASSERT_EQ(api::PtlPTAlloc(a.process, ni, 0, PTL_EQ_NONE, PTL_PT_ANY, &pt), PTL_OK);
  char memory[300] = {};
  const ptl_le_t le{memory, sizeof memory, PTL_CT_NONE, PTL_UID_ANY, PTL_LE_OP_PUT};
  ptl_handle_le_t entry = PTL_INVALID_HANDLE;
  ASSERT_EQ(api::PtlLEAppend(a.process, ni, pt, &le, PTL_PRIORITY_LIST, nullptr, &entry), PTL_OK);

  char large[300] = "before";
  const ptl_md_t md{large, sizeof large, PTL_MD_VOLATILE, PTL_EQ_NONE, PTL_CT_NONE};
  ASSERT_EQ(api::PtlMDBind(a.process, ni, &md, &handle), PTL_OK);
  EXPECT_EQ(api::PtlPut(a.process, handle, 0, 201, PTL_NO_ACK_REQ, id, pt, 0, 0, nullptr, 0), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlPut(a.process, handle, 0, 200, PTL_NO_ACK_REQ, id, pt, 0, 0, nullptr, 0), PTL_OK);
  std::strcpy(large, "after");
  settle();
  EXPECT_STREQ(memory, "before");
}

// PTL_MD_UNORDERED is the network's affair.
TEST_F(DescriptorTest, unordered_is_told_to_the_model)
{
  ASSERT_EQ(a.put(a.md(source, 64, PTL_MD_UNORDERED), 1, b), PTL_OK);
  ASSERT_EQ(a.put(a.md(source, 64), 1, b), PTL_OK);
  EXPECT_TRUE(model.started.at(0).unordered);
  EXPECT_FALSE(model.started.at(1).unordered);
}

class DescriptorEventsTest : public DescriptorTest
{
protected:
  DescriptorEventsTest() { b.append(target, sizeof target, PTL_ME_OP_PUT | PTL_ME_OP_GET); }
};

TEST_F(DescriptorEventsTest, send_disable)
{
  ASSERT_EQ(a.put(a.md(source, 64, PTL_MD_EVENT_SEND_DISABLE), 12, b, {.ack = PTL_ACK_REQ}), PTL_OK);
  settle();
  EXPECT_EQ(types(a.initiator_events()), (std::vector<int>{PTL_EVENT_ACK}));
}

TEST_F(DescriptorEventsTest, success_disable)
{
  const ptl_handle_md_t md = a.md(source, 64, PTL_MD_EVENT_SUCCESS_DISABLE);
  ASSERT_EQ(a.put(md, 12, b, {.ack = PTL_ACK_REQ}), PTL_OK);
  ASSERT_EQ(a.get(md, 12, b), PTL_OK);
  settle();
  EXPECT_TRUE(a.initiator_events().empty());
  ASSERT_EQ(a.put(md, 12, b, {.ack = PTL_ACK_REQ, .pt = 5}), PTL_OK); // fails
  settle();
  EXPECT_EQ(types(a.initiator_events()), (std::vector<int>{PTL_EVENT_ACK}));
}

TEST_F(DescriptorEventsTest, no_queue_no_events)
{
  ASSERT_EQ(a.put(a.silent_md(source, 64), 12, b), PTL_OK);
  ASSERT_EQ(a.get(a.silent_md(source, 64), 12, b), PTL_OK);
  settle();
  EXPECT_TRUE(a.initiator_events().empty());
  EXPECT_EQ(a.count(a.initiator_ct).success, 0U);
}

TEST_F(DescriptorEventsTest, counting_sends)
{
  ASSERT_EQ(a.put(a.md(source, 64, PTL_MD_EVENT_CT_SEND), 12, b, {.ack = PTL_ACK_REQ}), PTL_OK);
  settle();
  EXPECT_EQ(a.count(a.initiator_ct).success, 1U);
}

TEST_F(DescriptorEventsTest, counting_acknowledgements)
{
  ASSERT_EQ(a.put(a.md(source, 64, PTL_MD_EVENT_CT_ACK), 12, b, {.ack = PTL_ACK_REQ}), PTL_OK);
  ASSERT_EQ(a.put(a.md(source, 64, PTL_MD_EVENT_CT_ACK), 12, b, {.ack = PTL_CT_ACK_REQ}), PTL_OK);
  ASSERT_EQ(a.put(a.md(source, 64, PTL_MD_EVENT_CT_ACK), 12, b), PTL_OK);
  settle();
  EXPECT_EQ(a.count(a.initiator_ct).success, 2U);
}

TEST_F(DescriptorEventsTest, counting_replies)
{
  ASSERT_EQ(a.get(a.md(source, 64, PTL_MD_EVENT_CT_REPLY), 12, b), PTL_OK);
  ASSERT_EQ(a.get(a.md(source, 64), 12, b), PTL_OK);
  settle();
  EXPECT_EQ(a.count(a.initiator_ct).success, 1U);
}

// PTL_MD_EVENT_CT_BYTES: SEND counts what was asked for, ACK what the target took.
TEST_F(DescriptorEventsTest, counting_bytes)
{
  char large[100] = {};
  const unsigned bytes = PTL_MD_EVENT_CT_BYTES;
  ASSERT_EQ(a.put(a.md(large, 100, bytes | PTL_MD_EVENT_CT_SEND), 100, b), PTL_OK);
  settle();
  EXPECT_EQ(a.count(a.initiator_ct).success, 100U);
  ASSERT_EQ(a.put(a.md(large, 100, bytes | PTL_MD_EVENT_CT_ACK), 100, b, {.ack = PTL_CT_ACK_REQ}), PTL_OK);
  settle();
  EXPECT_EQ(a.count(a.initiator_ct).success, 164U);
  ASSERT_EQ(a.get(a.md(large, 100, bytes | PTL_MD_EVENT_CT_REPLY), 10, b), PTL_OK);
  settle();
  EXPECT_EQ(a.count(a.initiator_ct).success, 174U);
}

// Failures count events even when bytes are counted.
TEST_F(DescriptorEventsTest, counting_failures)
{
  const unsigned options = PTL_MD_EVENT_CT_BYTES | PTL_MD_EVENT_CT_ACK;
  ASSERT_EQ(a.put(a.md(source, 64, options), 12, b, {.ack = PTL_CT_ACK_REQ, .pt = 5}), PTL_OK);
  settle();
  EXPECT_EQ(a.count(a.initiator_ct).success, 0U);
  EXPECT_EQ(a.count(a.initiator_ct).failure, 1U);
}

} // namespace
} // namespace umwelt::portals::test
