// SPDX-License-Identifier: LGPL-2.1-or-later
// Which entry a message takes (Portals 4.3, 3.12).
#include "tests/runtime/portals/support.h"

namespace umwelt::portals::test
{
namespace
{

constexpr unsigned quiet = PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE;

void* tag(std::uintptr_t value)
{
  return reinterpret_cast<void*>(value);
}

class MatchingTest : public Machine
{
protected:
  char source[8] = {};
  ptl_handle_md_t md = a.silent_md(source, sizeof source);
  // The tag of the entry that takes a message with these bits; null if none does.
  void* taken_by(ptl_match_bits_t bits)
  {
    EXPECT_EQ(a.put(md, 0, b, {.bits = bits}), PTL_OK);
    settle();
    const auto events = b.target_events();
    return events.empty() ? nullptr : events[0].user_ptr;
  }
};

TEST_F(MatchingTest, equal_bits)
{
  b.append(nullptr, 0, quiet, {.bits = 5, .user_ptr = tag(1)});
  EXPECT_EQ(taken_by(5), tag(1));
  EXPECT_EQ(taken_by(4), nullptr);
  EXPECT_EQ(b.status(PTL_SR_DROP_COUNT), 1);
}

TEST_F(MatchingTest, ignored_bits)
{
  b.append(nullptr, 0, quiet, {.bits = 0x1234, .ignore = 0xff, .user_ptr = tag(1)});
  EXPECT_EQ(taken_by(0x12ff), tag(1));
  EXPECT_EQ(taken_by(0x13ff), nullptr);
}

TEST_F(MatchingTest, first_match_wins)
{
  b.append(nullptr, 0, quiet, {.bits = 1, .user_ptr = tag(1)});
  b.append(nullptr, 0, quiet, {.bits = 7, .ignore = ~ptl_match_bits_t{0}, .user_ptr = tag(2)});
  b.append(nullptr, 0, quiet, {.bits = 2, .user_ptr = tag(3)});
  EXPECT_EQ(taken_by(1), tag(1));
  EXPECT_EQ(taken_by(2), tag(2));
}

TEST_F(MatchingTest, priority_list_before_overflow_list)
{
  b.append(nullptr, 0, quiet, {.list = PTL_OVERFLOW_LIST, .bits = 1, .user_ptr = tag(1)});
  b.append(nullptr, 0, quiet, {.bits = 1, .user_ptr = tag(2)});
  EXPECT_EQ(taken_by(1), tag(2));
}

TEST_F(MatchingTest, initiator_rank)
{
  ptl_process_t other{};
  other.rank = 1;
  ptl_process_t sender{};
  sender.rank = 0;
  b.append(nullptr, 0, quiet, {.user_ptr = tag(1), .match_id = other});
  b.append(nullptr, 0, quiet, {.user_ptr = tag(2), .match_id = sender});
  EXPECT_EQ(taken_by(0), tag(2));
}

// Every one of many entries is found, and the model is told how many a walk would have compared.
TEST_F(MatchingTest, long_list)
{
  constexpr std::uint32_t entries = 1000;
  for (std::uint32_t i = 0; i < entries; ++i)
    b.append(nullptr, 0, quiet, {.bits = i, .user_ptr = tag(i + 1)});
  for (const std::uint32_t i : {0U, 1U, 499U, 999U}) {
    EXPECT_EQ(taken_by(i), tag(i + 1));
    EXPECT_EQ(model.searched, i);
  }
  EXPECT_EQ(taken_by(entries), nullptr);
  EXPECT_EQ(model.searched, entries);
}

class PhysicalMatchingTest : public PhysicalMachine
{
protected:
  bool takes(ptl_nid_t nid, ptl_pid_t pid)
  {
    ptl_process_t id{};
    id.phys = {nid, pid};
    const ptl_handle_me_t me = b.append(nullptr, 0, quiet, {.match_id = id});
    EXPECT_EQ(a.put(a.silent_md(nullptr, 0), 0, b), PTL_OK);
    settle();
    EXPECT_EQ(b.unlink(me), PTL_OK);
    return !b.target_events().empty();
  }
};

TEST_F(PhysicalMatchingTest, initiator_node_and_process)
{
  const ptl_nid_t nid = a.process.nid();
  const ptl_pid_t pid = a.process.pid();
  EXPECT_TRUE(takes(nid, pid));
  EXPECT_FALSE(takes(nid + 1, pid));
  EXPECT_FALSE(takes(nid, pid + 1));
  EXPECT_TRUE(takes(PTL_NID_ANY, pid));
  EXPECT_FALSE(takes(PTL_NID_ANY, pid + 1));
  EXPECT_TRUE(takes(nid, PTL_PID_ANY));
  EXPECT_FALSE(takes(nid + 1, PTL_PID_ANY));
  EXPECT_TRUE(takes(PTL_NID_ANY, PTL_PID_ANY));
}

} // namespace
} // namespace umwelt::portals::test
