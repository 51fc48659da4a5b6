// SPDX-License-Identifier: LGPL-2.1-or-later
// List entries and match list entries (Portals 4.3, 3.11 and 3.12): linking, unlinking, events and local offsets.
#include "tests/runtime/portals/support.h"

namespace umwelt::portals::test
{
namespace
{

class EntryTest : public Machine
{
protected:
  char source[64] = "twelve bytes";
  char target[64] = {};
  ptl_handle_md_t md = a.silent_md(source, sizeof source);

  ptl_handle_me_t accept(unsigned options = 0, const EntryArguments& arguments = {})
  {
    return b.append(target, sizeof target, PTL_ME_OP_PUT | options, arguments);
  }
  ptl_handle_me_t accept_quietly(unsigned options = 0, const EntryArguments& arguments = {})
  {
    return accept(PTL_ME_EVENT_LINK_DISABLE | options, arguments);
  }
  void send(ptl_size_t length, const PutArguments& arguments = {})
  {
    ASSERT_EQ(a.put(md, length, b, arguments), PTL_OK);
    settle();
  }
};

TEST_F(EntryTest, link_event)
{
  accept(0, {.user_ptr = this});
  settle();
  const auto events = b.target_events();
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_LINK}));
  EXPECT_EQ(events[0].user_ptr, this);
  EXPECT_EQ(events[0].pt_index, b.pt);
}

TEST_F(EntryTest, link_disable)
{
  accept_quietly();
  settle();
  EXPECT_TRUE(b.target_events().empty());
}

TEST_F(EntryTest, persistent_entry_takes_every_message)
{
  accept_quietly();
  send(1);
  send(2);
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_PUT, PTL_EVENT_PUT}));
}

TEST_F(EntryTest, use_once)
{
  accept_quietly(PTL_ME_USE_ONCE, {.user_ptr = this});
  send(1);
  send(1);
  const auto events = b.target_events();
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_PUT, PTL_EVENT_AUTO_UNLINK}));
  EXPECT_EQ(events[1].user_ptr, this);
  EXPECT_EQ(b.status(PTL_SR_DROP_COUNT), 1);
}

TEST_F(EntryTest, unlink_disable)
{
  accept_quietly(PTL_ME_USE_ONCE | PTL_ME_EVENT_UNLINK_DISABLE);
  send(1);
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_PUT}));
}

TEST_F(EntryTest, comm_disable)
{
  accept_quietly(PTL_ME_USE_ONCE | PTL_ME_EVENT_COMM_DISABLE);
  send(1);
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_AUTO_UNLINK}));
  EXPECT_EQ(target[0], 't');
}

TEST_F(EntryTest, writes_that_nothing_tells_of)
{
  accept_quietly(PTL_ME_USE_ONCE);
  accept_quietly(PTL_ME_USE_ONCE | PTL_ME_EVENT_COMM_DISABLE | PTL_ME_EVENT_CT_COMM, {.counted = true});
  send(1);
  send(1);
  EXPECT_EQ(host.writes_told, 2);
  EXPECT_EQ(host.writes_untold, 0);
  accept_quietly(PTL_ME_USE_ONCE | PTL_ME_EVENT_COMM_DISABLE);
  accept_quietly(PTL_ME_USE_ONCE | PTL_ME_EVENT_SUCCESS_DISABLE);
  send(1);
  send(1);
  EXPECT_EQ(host.writes_told, 2);
  EXPECT_EQ(host.writes_untold, 2);
  send(0);
  EXPECT_EQ(host.writes_untold, 2) << "nothing was written";
}

TEST_F(EntryTest, success_disable_leaves_failures)
{
  accept_quietly(PTL_ME_EVENT_SUCCESS_DISABLE);
  send(1);
  EXPECT_TRUE(b.target_events().empty());
  model.fate = [](const net::Transfer&) { return TestModel::Fate::fail_after_header; };
  send(1);
  const auto events = b.target_events();
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_PUT}));
  EXPECT_EQ(events[0].ni_fail_type, PTL_NI_UNDELIVERABLE);
}

TEST_F(EntryTest, counting_messages)
{
  accept_quietly(PTL_ME_EVENT_CT_COMM, {.counted = true});
  send(10);
  send(10);
  EXPECT_EQ(b.count(b.target_ct).success, 2U);
}

// PTL_ME_EVENT_CT_BYTES counts what was moved.
TEST_F(EntryTest, counting_bytes)
{
  accept_quietly(PTL_ME_EVENT_CT_COMM | PTL_ME_EVENT_CT_BYTES, {.counted = true});
  send(10);
  send(10, {.remote_offset = 60});
  EXPECT_EQ(b.count(b.target_ct).success, 14U);
}

TEST_F(EntryTest, counter_without_option_counts_nothing)
{
  accept_quietly(0, {.counted = true});
  send(10);
  EXPECT_EQ(b.count(b.target_ct).success, 0U);
}

// 4.2: the target sends no acknowledgement although the initiator asks for one.
TEST_F(EntryTest, ack_disable)
{
  accept_quietly(PTL_ME_ACK_DISABLE);
  ASSERT_EQ(a.put(a.md(source, 64), 1, b, {.ack = PTL_ACK_REQ}), PTL_OK);
  settle();
  EXPECT_EQ(types(a.initiator_events()), (std::vector<int>{PTL_EVENT_SEND}));
  EXPECT_EQ(fabric.in_flight(), 0U);
}

TEST_F(EntryTest, unlinked_entry_takes_nothing)
{
  const ptl_handle_me_t me = accept_quietly();
  EXPECT_EQ(b.unlink(me), PTL_OK);
  send(1);
  EXPECT_EQ(b.status(PTL_SR_DROP_COUNT), 1);
  EXPECT_TRUE(b.target_events().empty()); // PtlMEUnlink itself makes no event
}

TEST_F(EntryTest, unlinking_twice)
{
  const ptl_handle_me_t me = accept();
  EXPECT_EQ(b.unlink(me), PTL_OK);
  EXPECT_EQ(b.unlink(me), PTL_ARG_INVALID);
  EXPECT_EQ(b.unlink(PTL_INVALID_HANDLE), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlLEUnlink(b.process, accept()), PTL_ARG_INVALID); // a match list entry
}

TEST_F(EntryTest, entry_used_up_cannot_be_unlinked)
{
  const ptl_handle_me_t me = accept(PTL_ME_USE_ONCE);
  send(1);
  EXPECT_EQ(b.unlink(me), PTL_ARG_INVALID);
}

// The result tells whether a message has taken the entry. Asking again counts as polling, so that time passes.
TEST_F(EntryTest, entry_taken_by_a_message_under_way_is_in_use)
{
  const ptl_handle_me_t me = accept(PTL_ME_USE_ONCE);
  ASSERT_EQ(a.put(md, 12, b), PTL_OK);
  while (model.deposited == 0)
    ASSERT_TRUE(timeline.step());
  host.poll_steps = true;
  int result = PTL_IN_USE;
  unsigned attempts = 0;
  while ((result = b.unlink(me)) == PTL_IN_USE)
    ASSERT_LT(++attempts, 100U);
  EXPECT_EQ(result, PTL_ARG_INVALID);
  EXPECT_GT(attempts, 0U);
  EXPECT_GT(host.empty_polls, 0U);
}

// A persistent entry is unlinked when the messages in progress no longer use its memory; nothing new matches meanwhile.
TEST_F(EntryTest, unlink_waits_for_messages_in_progress)
{
  const ptl_handle_me_t me = accept_quietly();
  ASSERT_EQ(a.put(md, 12, b), PTL_OK);
  while (model.deposited == 0)
    ASSERT_TRUE(timeline.step());
  EXPECT_EQ(b.unlink(me), PTL_OK);
  EXPECT_STREQ(target, source);
  settle();
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_PUT}));
}

// PTL_ME_MANAGE_LOCAL: the target keeps the offset.
TEST_F(EntryTest, local_offset)
{
  accept_quietly(PTL_ME_MANAGE_LOCAL);
  send(6, {.remote_offset = 50}); // ignored
  send(6, {.local_offset = 7});
  EXPECT_STREQ(target, "twelvebytes");
  const auto events = b.target_events();
  EXPECT_EQ(events.at(0).start, target);
  EXPECT_EQ(events.at(0).remote_offset, 50U); // as requested
  EXPECT_EQ(events.at(1).start, target + 6);
}

TEST_F(EntryTest, acknowledgement_tells_the_local_offset)
{
  accept_quietly(PTL_ME_MANAGE_LOCAL);
  send(6);
  ASSERT_EQ(a.put(a.md(source, 64, PTL_MD_EVENT_SEND_DISABLE), 6, b, {.ack = PTL_ACK_REQ}), PTL_OK);
  settle();
  EXPECT_EQ(a.initiator_events().at(0).remote_offset, 6U);
}

TEST_F(EntryTest, local_offset_reaches_the_end)
{
  accept_quietly(PTL_ME_MANAGE_LOCAL);
  send(60);
  send(60);
  send(60);
  const auto events = b.target_events();
  EXPECT_EQ(events.at(1).mlength, 4U);
  EXPECT_EQ(events.at(2).mlength, 0U);
}

// min_free: the entry unlinks when less is left.
TEST_F(EntryTest, min_free)
{
  accept_quietly(PTL_ME_MANAGE_LOCAL, {.min_free = 20});
  send(44); // leaves 20
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_PUT}));
  send(1);
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_PUT, PTL_EVENT_AUTO_UNLINK}));
}

TEST_F(EntryTest, min_free_of_one_byte_lasts_until_the_entry_is_full)
{
  accept_quietly(PTL_ME_MANAGE_LOCAL, {.min_free = 1});
  send(63);
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_PUT}));
  send(1);
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_PUT, PTL_EVENT_AUTO_UNLINK}));
}

TEST_F(EntryTest, min_free_needs_a_local_offset)
{
  accept_quietly(0, {.min_free = 20});
  send(64);
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_PUT}));
}

TEST_F(EntryTest, may_align_changes_nothing)
{
  accept_quietly(PTL_ME_MANAGE_LOCAL | PTL_ME_MAY_ALIGN);
  send(3);
  send(3);
  EXPECT_EQ(b.target_events().at(1).start, target + 3);
}

// Messages complete in any order; AUTO_UNLINK comes when no more events of the entry will follow.
TEST_F(EntryTest, auto_unlink_follows_all_messages)
{
  accept_quietly(PTL_ME_MANAGE_LOCAL, {.min_free = 40});
  model.slowness = [](const net::Transfer& transfer) { return transfer.payload == 20 ? sim::millisecond : 0; };
  ASSERT_EQ(a.put(md, 20, b), PTL_OK);
  ASSERT_EQ(a.put(md, 10, b), PTL_OK); // arrives first and uses the entry up
  settle();
  const auto events = b.target_events();
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_PUT, PTL_EVENT_PUT, PTL_EVENT_AUTO_UNLINK}));
  EXPECT_EQ(events[0].mlength, 10U);
}

// PTL_ME_NO_TRUNCATE: what does not fit does not match.
TEST_F(EntryTest, no_truncate)
{
  char large[100] = {};
  accept_quietly(PTL_ME_NO_TRUNCATE);
  b.append(large, sizeof large, PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE, {.user_ptr = large});
  send(10, {.remote_offset = 54});
  send(10, {.remote_offset = 55});
  const auto events = b.target_events();
  EXPECT_EQ(events.at(0).user_ptr, nullptr);
  EXPECT_EQ(events.at(1).user_ptr, large);
}

TEST_F(EntryTest, no_truncate_with_a_local_offset)
{
  accept_quietly(PTL_ME_NO_TRUNCATE | PTL_ME_MANAGE_LOCAL);
  send(60);
  send(5); // 4 are left
  EXPECT_EQ(b.target_events().size(), 1U);
  EXPECT_EQ(b.status(PTL_SR_DROP_COUNT), 1);
}

TEST_F(EntryTest, no_truncate_does_not_overflow)
{
  accept_quietly(PTL_ME_NO_TRUNCATE);
  send(10, {.remote_offset = PTL_SIZE_MAX - 3});
  EXPECT_EQ(b.status(PTL_SR_DROP_COUNT), 1);
}

TEST_F(EntryTest, entry_without_memory)
{
  b.append(nullptr, 0, PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE);
  send(10);
  EXPECT_EQ(b.target_events().at(0).mlength, 0U);
  EXPECT_EQ(b.target_events().size(), 0U);
}

TEST_F(EntryTest, arguments)
{
  const EntryArguments refused{.expect = PTL_ARG_INVALID};
  accept(1U << 20, refused);
  accept(0, {.list = 2, .expect = PTL_ARG_INVALID});
  const ptl_le_t le{target, 64, PTL_CT_NONE, PTL_UID_ANY, PTL_LE_OP_PUT};
  ptl_handle_le_t handle = PTL_INVALID_HANDLE;
  EXPECT_EQ(api::PtlLEAppend(b.process, b.ni, b.pt, &le, PTL_PRIORITY_LIST, nullptr, &handle), PTL_ARG_INVALID);
  ptl_me_t me{};
  me.ct_handle = PTL_CT_NONE;
  EXPECT_EQ(api::PtlMEAppend(b.process, b.ni, 99, &me, PTL_PRIORITY_LIST, nullptr, &handle), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlMEAppend(b.process, b.ni, b.pt, nullptr, PTL_PRIORITY_LIST, nullptr, &handle), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlMEAppend(b.process, b.ni, b.pt, &me, PTL_PRIORITY_LIST, nullptr, nullptr), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlMEAppend(b.process, b.pt, b.pt, &me, PTL_PRIORITY_LIST, nullptr, &handle), PTL_ARG_INVALID);
  me.ct_handle = b.target_eq;
  EXPECT_EQ(api::PtlMEAppend(b.process, b.ni, b.pt, &me, PTL_PRIORITY_LIST, nullptr, &handle), PTL_ARG_INVALID);
}

class SmallMachine : public Machine
{
protected:
  SmallMachine() : Machine(PTL_NI_MATCHING | PTL_NI_LOGICAL, 0, &small()) {}
  static const ptl_ni_limits_t& small()
  {
    static const ptl_ni_limits_t limits = [] {
      ptl_ni_limits_t wanted{};
      wanted.max_entries = 5;
      wanted.max_list_size = 3;
      wanted.max_eqs = wanted.max_cts = wanted.max_mds = 4;
      wanted.max_msg_size = 1000;
      return wanted;
    }();
    return limits;
  }
};

TEST_F(SmallMachine, at_most_max_entries_and_max_list_size)
{
  for (int i = 0; i < 3; ++i)
    b.append(nullptr, 0, 0);
  b.append(nullptr, 0, 0, {.expect = PTL_NO_SPACE}); // the list is full
  b.append(nullptr, 0, 0, {.list = PTL_OVERFLOW_LIST});
  const ptl_handle_me_t last = b.append(nullptr, 0, 0, {.list = PTL_OVERFLOW_LIST});
  b.append(nullptr, 0, 0, {.list = PTL_OVERFLOW_LIST, .expect = PTL_NO_SPACE});
  EXPECT_EQ(b.unlink(last), PTL_OK);
  b.append(nullptr, 0, 0, {.list = PTL_OVERFLOW_LIST});
}

using ListEntryTest = NonMatchingMachine;

// 3.11: the first entry takes everything, from anybody.
TEST_F(ListEntryTest, first_entry_is_used)
{
  char first[16] = {};
  char second[16] = {};
  char source[16] = "list";
  const ptl_handle_le_t le = b.append(first, 16, PTL_LE_OP_PUT | PTL_LE_USE_ONCE | PTL_LE_EVENT_LINK_DISABLE);
  b.append(second, 16, PTL_LE_OP_PUT | PTL_LE_EVENT_LINK_DISABLE);
  const ptl_handle_md_t md = a.silent_md(source, 16);
  ASSERT_EQ(a.put(md, 5, b, {.bits = 1}), PTL_OK);
  ASSERT_EQ(a.put(md, 5, b, {.bits = 2, .remote_offset = 3}), PTL_OK);
  settle();
  EXPECT_STREQ(first, "list");
  EXPECT_STREQ(second + 3, "list");
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_PUT, PTL_EVENT_AUTO_UNLINK, PTL_EVENT_PUT}));
  EXPECT_EQ(b.unlink(le), PTL_ARG_INVALID);
}

// Options of match list entries are not options of list entries.
TEST_F(ListEntryTest, options_of_match_list_entries)
{
  for (const unsigned option : {PTL_ME_MANAGE_LOCAL, PTL_ME_NO_TRUNCATE, PTL_ME_MAY_ALIGN, PTL_ME_LOCAL_INC_UH_RLENGTH})
    b.append(nullptr, 0, option, {.expect = PTL_ARG_INVALID});
  ptl_me_t me{};
  me.ct_handle = PTL_CT_NONE;
  ptl_handle_me_t handle = PTL_INVALID_HANDLE;
  EXPECT_EQ(api::PtlMEAppend(b.process, b.ni, b.pt, &me, PTL_PRIORITY_LIST, nullptr, &handle), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlMESearch(b.process, b.ni, b.pt, &me, PTL_SEARCH_ONLY, nullptr), PTL_ARG_INVALID);
}

} // namespace
} // namespace umwelt::portals::test
