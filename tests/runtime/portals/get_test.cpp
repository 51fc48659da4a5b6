// SPDX-License-Identifier: LGPL-2.1-or-later
// PtlGet (Portals 4.3, 3.15) and its events (3.13).
#include <numeric>

#include "tests/runtime/portals/support.h"

namespace umwelt::portals::test
{
namespace
{

class GetTest : public Machine
{
protected:
  char memory[64] = "twelve bytes";
  char result[64] = {};
  void offer(unsigned options = 0, const EntryArguments& arguments = {})
  {
    b.append(memory, sizeof memory, PTL_ME_OP_GET | PTL_ME_EVENT_LINK_DISABLE | options, arguments);
  }
};

TEST_F(GetTest, data_arrives)
{
  offer();
  ASSERT_EQ(a.get(a.md(result, 64), 13, b), PTL_OK);
  settle();
  EXPECT_STREQ(result, "twelve bytes");
}

TEST_F(GetTest, offsets)
{
  offer();
  ASSERT_EQ(a.get(a.md(result, 64), 5, b, {.remote_offset = 7, .local_offset = 30}), PTL_OK);
  settle();
  EXPECT_STREQ(result + 30, "bytes");
}

TEST_F(GetTest, reply_event)
{
  offer();
  ASSERT_EQ(a.get(a.md(result, 64), 13, b, {.remote_offset = 2, .user_ptr = this}), PTL_OK);
  settle();
  const auto events = a.initiator_events();
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_REPLY})); // no SEND
  EXPECT_EQ(events[0].user_ptr, this);
  EXPECT_EQ(events[0].mlength, 13U);
  EXPECT_EQ(events[0].remote_offset, 2U);
  EXPECT_EQ(events[0].ni_fail_type, PTL_NI_OK);
}

TEST_F(GetTest, event_of_the_target)
{
  offer(0, {.bits = 5, .user_ptr = result});
  ASSERT_EQ(a.get(a.md(result, 64), 13, b, {.bits = 5, .remote_offset = 2}), PTL_OK);
  settle();
  const auto events = b.target_events();
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_GET}));
  EXPECT_EQ(events[0].start, memory + 2);
  EXPECT_EQ(events[0].user_ptr, result);
  EXPECT_EQ(events[0].rlength, 13U);
  EXPECT_EQ(events[0].mlength, 13U);
  EXPECT_EQ(events[0].match_bits, 5U);
}

TEST_F(GetTest, truncated)
{
  offer();
  ASSERT_EQ(a.get(a.md(result, 64), 20, b, {.remote_offset = 54}), PTL_OK);
  settle();
  EXPECT_EQ(a.initiator_events().at(0).mlength, 10U);
  EXPECT_EQ(b.target_events().at(0).rlength, 20U);
}

TEST_F(GetTest, no_bytes)
{
  offer();
  ASSERT_EQ(a.get(a.md(nullptr, 0), 0, b), PTL_OK);
  settle();
  EXPECT_EQ(types(a.initiator_events()), (std::vector<int>{PTL_EVENT_REPLY}));
}

TEST_F(GetTest, nothing_matches)
{
  ASSERT_EQ(a.get(a.md(result, 64), 13, b), PTL_OK);
  settle();
  const auto events = a.initiator_events();
  EXPECT_EQ(events.at(0).ni_fail_type, PTL_NI_DROPPED);
  EXPECT_EQ(events.at(0).mlength, 0U);
  EXPECT_EQ(result[0], 0);
}

TEST_F(GetTest, arguments)
{
  EXPECT_EQ(a.get(PTL_INVALID_HANDLE, 0, b), PTL_ARG_INVALID);
  EXPECT_EQ(a.get(a.initiator_eq, 0, b), PTL_ARG_INVALID);
}

TEST_F(GetTest, counted_at_the_target)
{
  offer(PTL_ME_EVENT_CT_COMM | PTL_ME_EVENT_CT_BYTES, {.counted = true});
  ASSERT_EQ(a.get(a.md(result, 64), 13, b), PTL_OK);
  settle();
  EXPECT_EQ(b.count(b.target_ct).success, 13U);
}

class GetSourceTest : public Machine, public ::testing::WithParamInterface<TestModel::SourceRead>
{
protected:
  static constexpr std::size_t size = 1 << 20;
  std::vector<std::uint32_t> memory = std::vector<std::uint32_t>(size / 4);
  std::vector<std::uint32_t> result = std::vector<std::uint32_t>(size / 4);
  GetSourceTest()
  {
    model.source_read = GetParam();
    std::iota(memory.begin(), memory.end(), 1U);
    b.append(memory.data(), size, PTL_ME_OP_GET | PTL_ME_EVENT_LINK_DISABLE);
  }
};

TEST_P(GetSourceTest, large_reply)
{
  ASSERT_EQ(a.get(a.md(result.data(), size), size, b), PTL_OK);
  settle();
  EXPECT_EQ(result, memory);
  EXPECT_EQ(fabric.in_flight(), 0U);
}

// GET says that the memory will not be read any more.
TEST_P(GetSourceTest, memory_may_change_after_the_event)
{
  const std::vector<std::uint32_t> original = memory;
  ASSERT_EQ(a.get(a.md(result.data(), size), size, b), PTL_OK);
  ptl_event_t event{};
  ASSERT_EQ(api::PtlEQWait(b.process, b.target_eq, &event), PTL_OK);
  EXPECT_EQ(event.type, PTL_EVENT_GET);
  std::fill(memory.begin(), memory.end(), 0U);
  settle();
  EXPECT_EQ(result, original);
}

INSTANTIATE_TEST_SUITE_P(Source, GetSourceTest,
                         ::testing::Values(TestModel::SourceRead::before_header, TestModel::SourceRead::before_delivery,
                                           TestModel::SourceRead::after_delivery));

} // namespace
} // namespace umwelt::portals::test
