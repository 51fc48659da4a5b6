// SPDX-License-Identifier: LGPL-2.1-or-later
// The overflow list and unexpected headers (Portals 4.3, 3.11, 3.12 and the events of 3.13).
#include "tests/runtime/portals/support.h"

namespace umwelt::portals::test
{
namespace
{

constexpr unsigned quiet = PTL_ME_OP_PUT | PTL_ME_OP_GET | PTL_ME_EVENT_LINK_DISABLE;

class OverflowTest : public Machine
{
protected:
  char source[64] = "twelve bytes";
  char spare[256] = {}; // memory of the overflow entry
  char posted[64] = {};
  ptl_handle_md_t md = a.silent_md(source, sizeof source);
  ptl_handle_me_t overflow = PTL_INVALID_HANDLE;

  void spare_entry(unsigned options = 0, EntryArguments arguments = {})
  {
    arguments.list = PTL_OVERFLOW_LIST;
    arguments.ignore = ~ptl_match_bits_t{0};
    overflow = b.append(spare, sizeof spare, quiet | options, arguments);
  }
  // An unexpected message; its event is forgotten.
  void unexpected(ptl_match_bits_t bits, ptl_size_t length = 13, ptl_hdr_data_t hdr_data = 0)
  {
    ASSERT_EQ(a.put(md, length, b, {.bits = bits, .hdr_data = hdr_data}), PTL_OK);
    settle();
    b.target_events();
  }
  ptl_handle_me_t post(unsigned options = 0, const EntryArguments& arguments = {})
  {
    const ptl_handle_me_t me = b.append(posted, sizeof posted, quiet | options, arguments);
    settle();
    return me;
  }
};

TEST_F(OverflowTest, message_without_a_posted_entry)
{
  spare_entry(0, {.user_ptr = this});
  ASSERT_EQ(a.put(a.md(source, 64), 13, b, {.ack = PTL_ACK_REQ, .bits = 9}), PTL_OK);
  settle();
  const auto events = b.target_events();
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_PUT}));
  EXPECT_EQ(events[0].ptl_list, PTL_OVERFLOW_LIST);
  EXPECT_EQ(events[0].user_ptr, this);
  EXPECT_STREQ(spare, source);
  EXPECT_EQ(a.initiator_events().at(1).ptl_list, PTL_OVERFLOW_LIST);
}

// An entry appended later finds the header; the data stays in the overflow entry's memory.
TEST_F(OverflowTest, append_takes_the_header)
{
  spare_entry(PTL_ME_MANAGE_LOCAL);
  unexpected(8);
  unexpected(9, 13, 42);
  post(PTL_ME_USE_ONCE, {.bits = 9, .user_ptr = posted});
  const auto events = b.target_events();
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_PUT_OVERFLOW, PTL_EVENT_AUTO_UNLINK}));
  EXPECT_EQ(events[0].start, spare + 13);
  EXPECT_EQ(events[0].user_ptr, posted);
  EXPECT_EQ(events[0].hdr_data, 42U);
  EXPECT_EQ(events[0].match_bits, 9U);
  EXPECT_EQ(events[0].rlength, 13U);
  EXPECT_EQ(events[0].mlength, 13U);
  EXPECT_EQ(events[0].initiator.rank, 0U);
  EXPECT_EQ(events[1].user_ptr, posted);
  EXPECT_EQ(posted[0], 0);
}

// A use-once entry takes the oldest header and is never linked.
TEST_F(OverflowTest, use_once_entry_is_not_linked)
{
  spare_entry();
  unexpected(1, 1, 10);
  unexpected(1, 1, 11);
  const ptl_handle_me_t me = post(PTL_ME_USE_ONCE, {.bits = 1});
  const auto events = b.target_events();
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_PUT_OVERFLOW, PTL_EVENT_AUTO_UNLINK}));
  EXPECT_EQ(events[0].hdr_data, 10U);
  EXPECT_EQ(b.unlink(me), PTL_ARG_INVALID);
}

// A persistent entry takes all and is linked.
TEST_F(OverflowTest, persistent_entry_takes_all_headers)
{
  spare_entry();
  for (ptl_hdr_data_t i = 0; i < 3; ++i)
    unexpected(1, 1, i);
  b.append(posted, 64, PTL_ME_OP_PUT, {.bits = 1});
  settle();
  const auto events = b.target_events();
  ASSERT_EQ(types(events),
            (std::vector<int>{PTL_EVENT_PUT_OVERFLOW, PTL_EVENT_PUT_OVERFLOW, PTL_EVENT_PUT_OVERFLOW, PTL_EVENT_LINK}));
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(events[i].hdr_data, i);
}

// No header, no event but LINK.
TEST_F(OverflowTest, entry_for_other_messages)
{
  spare_entry();
  unexpected(1);
  b.append(posted, 64, PTL_ME_OP_PUT | PTL_ME_USE_ONCE, {.bits = 2});
  settle();
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_LINK}));
}

// Nothing is searched when an entry is appended to the overflow list.
TEST_F(OverflowTest, appending_to_the_overflow_list)
{
  spare_entry();
  unexpected(1);
  b.append(posted, 64, PTL_ME_OP_PUT, {.list = PTL_OVERFLOW_LIST, .bits = 1});
  settle();
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_LINK}));
}

// No permission is checked against unexpected messages.
TEST_F(OverflowTest, permissions_of_the_taking_entry)
{
  spare_entry();
  unexpected(1);
  b.append(posted, 64, PTL_ME_USE_ONCE, {.bits = 1, .uid = 999});
  settle();
  EXPECT_EQ(b.target_events().at(0).type, PTL_EVENT_PUT_OVERFLOW);
}

TEST_F(OverflowTest, over_disable)
{
  spare_entry();
  unexpected(1);
  post(PTL_ME_USE_ONCE | PTL_ME_EVENT_OVER_DISABLE, {.bits = 1});
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_AUTO_UNLINK}));
}

TEST_F(OverflowTest, counting)
{
  spare_entry();
  unexpected(1, 10);
  unexpected(1, 10);
  post(PTL_ME_EVENT_CT_OVERFLOW, {.bits = 1, .counted = true});
  EXPECT_EQ(b.count(b.target_ct).success, 2U);
  unexpected(2, 10);
  post(PTL_ME_EVENT_CT_OVERFLOW | PTL_ME_EVENT_CT_BYTES, {.bits = 2, .counted = true});
  EXPECT_EQ(b.count(b.target_ct).success, 12U);
  unexpected(3, 10);
  post(PTL_ME_EVENT_CT_COMM, {.bits = 3, .counted = true}); // counts messages, not headers
  EXPECT_EQ(b.count(b.target_ct).success, 12U);
}

// PTL_ME_UNEXPECTED_HDR_DISABLE: the message is forgotten.
TEST_F(OverflowTest, header_disable)
{
  spare_entry(PTL_ME_UNEXPECTED_HDR_DISABLE);
  unexpected(1);
  b.append(posted, 64, PTL_ME_OP_PUT, {.bits = 1});
  settle();
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_LINK}));
  EXPECT_EQ(b.unlink(overflow), PTL_OK);
}

// AUTO_FREE: the entry was unlinked and no header refers to it any more.
TEST_F(OverflowTest, auto_free)
{
  spare_entry(PTL_ME_MANAGE_LOCAL, {.min_free = 200, .user_ptr = this});
  unexpected(1, 30);
  ASSERT_EQ(a.put(md, 60, b, {.bits = 2}), PTL_OK);
  settle();
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_PUT, PTL_EVENT_AUTO_UNLINK}));
  post(PTL_ME_USE_ONCE | PTL_ME_EVENT_UNLINK_DISABLE, {.bits = 1});
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_PUT_OVERFLOW}));
  post(PTL_ME_USE_ONCE | PTL_ME_EVENT_UNLINK_DISABLE, {.bits = 2});
  const auto events = b.target_events();
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_PUT_OVERFLOW, PTL_EVENT_AUTO_FREE}));
  EXPECT_EQ(events[1].user_ptr, this);
}

TEST_F(OverflowTest, auto_free_without_headers)
{
  spare_entry(PTL_ME_USE_ONCE | PTL_ME_UNEXPECTED_HDR_DISABLE);
  ASSERT_EQ(a.put(md, 10, b), PTL_OK);
  settle();
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_PUT, PTL_EVENT_AUTO_UNLINK, PTL_EVENT_AUTO_FREE}));
}

TEST_F(OverflowTest, entry_with_headers_is_in_use)
{
  spare_entry();
  unexpected(1);
  EXPECT_EQ(b.unlink(overflow), PTL_IN_USE);
  post(0, {.bits = 1});
  EXPECT_EQ(b.unlink(overflow), PTL_OK);
}

TEST_F(OverflowTest, truncated_message)
{
  b.append(nullptr, 0, quiet, {.list = PTL_OVERFLOW_LIST, .ignore = ~ptl_match_bits_t{0}});
  unexpected(1, 40);
  post(PTL_ME_USE_ONCE, {.bits = 1});
  const auto events = b.target_events();
  EXPECT_EQ(events.at(0).rlength, 40U);
  EXPECT_EQ(events.at(0).mlength, 0U);
}

TEST_F(OverflowTest, unexpected_get)
{
  spare_entry();
  char result[8] = {};
  ASSERT_EQ(a.get(a.silent_md(result, 8), 8, b, {.bits = 1}), PTL_OK);
  settle();
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_GET}));
  post(PTL_ME_USE_ONCE | PTL_ME_EVENT_UNLINK_DISABLE, {.bits = 1});
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_GET_OVERFLOW}));
}

TEST_F(OverflowTest, unexpected_atomics)
{
  spare_entry();
  std::uint64_t value = 5;
  std::uint64_t before = 0;
  ASSERT_EQ(a.atomic(a.silent_md(&value, 8), 8, b, PTL_SUM, PTL_UINT64_T, {.bits = 1}), PTL_OK);
  ASSERT_EQ(a.fetch(a.silent_md(&before, 8), a.silent_md(&value, 8), 8, b, PTL_SUM, PTL_UINT64_T, {.bits = 1}), PTL_OK);
  settle();
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_ATOMIC, PTL_EVENT_FETCH_ATOMIC}));
  post(PTL_ME_EVENT_UNLINK_DISABLE, {.bits = 1});
  const auto events = b.target_events();
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_ATOMIC_OVERFLOW, PTL_EVENT_FETCH_ATOMIC_OVERFLOW}));
  EXPECT_EQ(events[1].atomic_operation, PTL_SUM);
  EXPECT_EQ(events[1].atomic_type, PTL_UINT64_T);
  EXPECT_EQ(before, 5U);
}

// The header may be taken while the data is still arriving; the events follow the data.
TEST_F(OverflowTest, header_taken_before_the_data_has_arrived)
{
  spare_entry(PTL_ME_USE_ONCE);
  ASSERT_EQ(a.put(md, 13, b, {.bits = 1}), PTL_OK);
  while (model.deposited == 0)
    ASSERT_TRUE(timeline.step());
  b.append(posted, 64, quiet | PTL_ME_USE_ONCE, {.bits = 1});
  EXPECT_EQ(spare[0], 0);
  settle();
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_PUT, PTL_EVENT_AUTO_UNLINK, PTL_EVENT_PUT_OVERFLOW,
                                                        PTL_EVENT_AUTO_FREE, PTL_EVENT_AUTO_UNLINK}));
  EXPECT_STREQ(spare, source);
}

// A message that is lost after its header arrived leaves nothing to take.
TEST_F(OverflowTest, message_lost_on_the_way)
{
  spare_entry();
  model.fate = [](const net::Transfer&) { return TestModel::Fate::fail_after_header; };
  unexpected(1);
  b.append(posted, 64, PTL_ME_OP_PUT, {.bits = 1});
  settle();
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_LINK}));
  EXPECT_EQ(b.unlink(overflow), PTL_OK);
}

// PTL_ME_LOCAL_INC_UH_RLENGTH: each header advances the local offset by the length it asked for.
TEST_F(OverflowTest, headers_advance_the_offset)
{
  spare_entry();
  unexpected(1, 10);
  unexpected(1, 10);
  post(PTL_ME_MANAGE_LOCAL | PTL_ME_LOCAL_INC_UH_RLENGTH, {.bits = 1});
  b.target_events();
  ASSERT_EQ(a.put(md, 4, b, {.bits = 1}), PTL_OK);
  settle();
  EXPECT_EQ(b.target_events().at(0).start, posted + 20);
}

TEST_F(OverflowTest, headers_do_not_advance_the_offset_without_the_option)
{
  spare_entry();
  unexpected(1, 10);
  post(PTL_ME_MANAGE_LOCAL, {.bits = 1});
  b.target_events();
  ASSERT_EQ(a.put(md, 4, b, {.bits = 1}), PTL_OK);
  settle();
  EXPECT_EQ(b.target_events().at(0).start, posted);
}

// min_free is checked for each header: the entry that runs out is not linked, and the remaining headers stay.
TEST_F(OverflowTest, headers_use_the_entry_up)
{
  spare_entry();
  for (ptl_hdr_data_t i = 0; i < 3; ++i)
    unexpected(1, 30, i);
  const ptl_handle_me_t me = post(PTL_ME_MANAGE_LOCAL | PTL_ME_LOCAL_INC_UH_RLENGTH, {.bits = 1, .min_free = 10});
  EXPECT_EQ(types(b.target_events()),
            (std::vector<int>{PTL_EVENT_PUT_OVERFLOW, PTL_EVENT_PUT_OVERFLOW, PTL_EVENT_AUTO_UNLINK}));
  EXPECT_EQ(b.unlink(me), PTL_OK); // programs unlink what they appended
  post(PTL_ME_USE_ONCE, {.bits = 1});
  EXPECT_EQ(b.target_events().at(0).hdr_data, 2U);
}

class FewHeadersMachine : public Machine
{
protected:
  FewHeadersMachine() : Machine(PTL_NI_MATCHING | PTL_NI_LOGICAL, 0, &few()) {}
  static const ptl_ni_limits_t& few()
  {
    static const ptl_ni_limits_t limits = [] {
      ptl_ni_limits_t wanted{};
      wanted.max_unexpected_headers = 2;
      wanted.max_entries = wanted.max_list_size = wanted.max_eqs = wanted.max_cts = wanted.max_mds = 4;
      wanted.max_msg_size = 1000;
      return wanted;
    }();
    return limits;
  }
};

TEST_F(FewHeadersMachine, at_most_max_unexpected_headers)
{
  char byte = 0;
  b.append(nullptr, 0, quiet, {.list = PTL_OVERFLOW_LIST});
  const ptl_handle_md_t md = a.md(&byte, 1, PTL_MD_EVENT_SEND_DISABLE);
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(a.put(md, 1, b, {.ack = PTL_ACK_REQ}), PTL_OK);
  settle();
  const auto events = a.initiator_events();
  EXPECT_EQ(events.at(1).ni_fail_type, PTL_NI_OK);
  EXPECT_EQ(events.at(2).ni_fail_type, PTL_NI_DROPPED);
  b.append(nullptr, 0, quiet | PTL_ME_USE_ONCE); // takes one
  ASSERT_EQ(a.put(md, 1, b, {.ack = PTL_ACK_REQ}), PTL_OK);
  settle();
  EXPECT_EQ(a.initiator_events().at(0).ni_fail_type, PTL_NI_OK);
}

using NonMatchingOverflowTest = NonMatchingMachine;

// On a non-matching interface any header fits.
TEST_F(NonMatchingOverflowTest, append_takes_any_header)
{
  char memory[8] = {};
  char source[8] = "le";
  b.append(memory, 8, quiet, {.list = PTL_OVERFLOW_LIST});
  ASSERT_EQ(a.put(a.silent_md(source, 8), 3, b, {.bits = 77}), PTL_OK);
  settle();
  b.target_events();
  b.append(nullptr, 0, quiet | PTL_LE_USE_ONCE);
  settle();
  const auto events = b.target_events();
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_PUT_OVERFLOW, PTL_EVENT_AUTO_UNLINK}));
  EXPECT_EQ(events[0].start, memory);
}

} // namespace
} // namespace umwelt::portals::test
