// SPDX-License-Identifier: LGPL-2.1-or-later
// PtlLESearch and PtlMESearch (Portals 4.3, 3.11 and 3.12).
#include "tests/runtime/portals/support.h"

namespace umwelt::portals::test
{
namespace
{

constexpr unsigned quiet = PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE;

class SearchTest : public Machine
{
protected:
  char source[64] = {};
  char spare[64] = {};
  SearchTest()
  {
    b.append(spare, sizeof spare, quiet, {.list = PTL_OVERFLOW_LIST, .ignore = ~ptl_match_bits_t{0}});
    const ptl_handle_md_t md = a.silent_md(source, sizeof source);
    for (const ptl_match_bits_t bits : {1U, 2U, 1U})
      EXPECT_EQ(a.put(md, 10, b, {.bits = bits, .hdr_data = bits * 100}), PTL_OK);
    settle();
    b.target_events();
  }
  std::vector<ptl_event_t> look(ptl_search_op_t operation, unsigned options, const EntryArguments& arguments)
  {
    EXPECT_EQ(b.search(operation, options, arguments), PTL_OK);
    settle();
    return b.target_events();
  }
};

TEST_F(SearchTest, found)
{
  const auto events = look(PTL_SEARCH_ONLY, PTL_ME_USE_ONCE, {.bits = 2, .user_ptr = this});
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_SEARCH}));
  EXPECT_EQ(events[0].ni_fail_type, PTL_NI_OK);
  EXPECT_EQ(events[0].user_ptr, this);
  EXPECT_EQ(events[0].match_bits, 2U); // the rest as in an overflow event
  EXPECT_EQ(events[0].hdr_data, 200U);
  EXPECT_EQ(events[0].rlength, 10U);
  EXPECT_EQ(events[0].initiator.rank, 0U);
  EXPECT_EQ(events[0].start, spare);
}

TEST_F(SearchTest, not_found)
{
  for (const ptl_search_op_t operation : {PTL_SEARCH_ONLY, PTL_SEARCH_DELETE}) {
    const auto events = look(operation, 0, {.bits = 3, .user_ptr = this});
    ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_SEARCH}));
    EXPECT_EQ(events[0].ni_fail_type, PTL_NI_NO_MATCH);
    EXPECT_EQ(events[0].user_ptr, this);
  }
}

// A search leaves the headers where they are.
TEST_F(SearchTest, searching_changes_nothing)
{
  look(PTL_SEARCH_ONLY, PTL_ME_USE_ONCE, {.bits = 2});
  EXPECT_EQ(look(PTL_SEARCH_ONLY, PTL_ME_USE_ONCE, {.bits = 2}).at(0).ni_fail_type, PTL_NI_OK);
}

// A persistent search reports every match, a use-once search the first.
TEST_F(SearchTest, persistent_search)
{
  EXPECT_EQ(look(PTL_SEARCH_ONLY, 0, {.bits = 1}).size(), 2U);
  EXPECT_EQ(look(PTL_SEARCH_ONLY, PTL_ME_USE_ONCE, {.bits = 1}).size(), 1U);
}

// Deleting reports an overflow event and removes the header.
TEST_F(SearchTest, deletion)
{
  const auto events = look(PTL_SEARCH_DELETE, PTL_ME_USE_ONCE, {.bits = 2, .user_ptr = this});
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_PUT_OVERFLOW}));
  EXPECT_EQ(events[0].user_ptr, this);
  EXPECT_EQ(events[0].match_bits, 2U);
  EXPECT_EQ(look(PTL_SEARCH_ONLY, PTL_ME_USE_ONCE, {.bits = 2}).at(0).ni_fail_type, PTL_NI_NO_MATCH);
}

TEST_F(SearchTest, deleting_all)
{
  EXPECT_EQ(types(look(PTL_SEARCH_DELETE, 0, {.bits = 1})),
            (std::vector<int>{PTL_EVENT_PUT_OVERFLOW, PTL_EVENT_PUT_OVERFLOW}));
  EXPECT_EQ(look(PTL_SEARCH_ONLY, 0, {.bits = 1}).at(0).ni_fail_type, PTL_NI_NO_MATCH);
}

TEST_F(SearchTest, events_disabled)
{
  EXPECT_TRUE(look(PTL_SEARCH_ONLY, PTL_ME_EVENT_COMM_DISABLE, {.bits = 1}).empty());
  EXPECT_TRUE(look(PTL_SEARCH_ONLY, PTL_ME_EVENT_COMM_DISABLE, {.bits = 3}).empty());
  EXPECT_TRUE(look(PTL_SEARCH_DELETE, PTL_ME_EVENT_OVER_DISABLE, {.bits = 1}).empty());
}

// Counting searches (4.3): matches are successes; one failure marks the end, except after a use-once search that found.
struct Counting {
  ptl_search_op_t operation;
  unsigned options;
  ptl_match_bits_t bits;
  ptl_size_t success;
  ptl_size_t failure;
};

class SearchCountTest : public SearchTest, public ::testing::WithParamInterface<Counting>
{
};

TEST_P(SearchCountTest, counts)
{
  const Counting& expected = GetParam();
  look(expected.operation, expected.options | PTL_ME_EVENT_CT_OVERFLOW, {.bits = expected.bits, .counted = true});
  EXPECT_EQ(b.count(b.target_ct).success, expected.success);
  EXPECT_EQ(b.count(b.target_ct).failure, expected.failure);
}

INSTANTIATE_TEST_SUITE_P(Search, SearchCountTest,
                         ::testing::Values(Counting{PTL_SEARCH_ONLY, 0, 1, 2, 1}, Counting{PTL_SEARCH_ONLY, 0, 3, 0, 1},
                                           Counting{PTL_SEARCH_ONLY, PTL_ME_USE_ONCE, 1, 1, 0},
                                           Counting{PTL_SEARCH_ONLY, PTL_ME_USE_ONCE, 3, 0, 1},
                                           Counting{PTL_SEARCH_DELETE, 0, 1, 2, 1},
                                           Counting{PTL_SEARCH_DELETE, 0, 3, 0, 1},
                                           Counting{PTL_SEARCH_DELETE, PTL_ME_USE_ONCE, 1, 1, 0},
                                           Counting{PTL_SEARCH_DELETE, PTL_ME_USE_ONCE, 3, 0, 1},
                                           Counting{PTL_SEARCH_ONLY, PTL_ME_EVENT_CT_BYTES, 1, 20, 1}));

// The count is there when the call returns.
TEST_F(SearchTest, count_is_visible_at_once)
{
  EXPECT_EQ(b.search(PTL_SEARCH_ONLY, PTL_ME_EVENT_CT_OVERFLOW, {.bits = 1, .counted = true}), PTL_OK);
  EXPECT_EQ(b.count(b.target_ct).success, 2U);
}

TEST_F(SearchTest, counting_needs_the_option)
{
  look(PTL_SEARCH_ONLY, 0, {.bits = 1, .counted = true});
  EXPECT_EQ(b.count(b.target_ct).success + b.count(b.target_ct).failure, 0U);
}

// No status register counts a search.
TEST_F(SearchTest, status_registers)
{
  look(PTL_SEARCH_ONLY, 0, {.bits = 3});
  EXPECT_EQ(b.status(PTL_SR_DROP_COUNT), 0);
}

TEST_F(SearchTest, arguments)
{
  EXPECT_EQ(b.search(2, 0), PTL_ARG_INVALID);
  EXPECT_EQ(b.search(PTL_SEARCH_ONLY, 1U << 25), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlMESearch(b.process, b.ni, b.pt, nullptr, PTL_SEARCH_ONLY, nullptr), PTL_ARG_INVALID);
  ptl_me_t me{};
  me.ct_handle = PTL_CT_NONE;
  EXPECT_EQ(api::PtlMESearch(b.process, b.ni, 99, &me, PTL_SEARCH_ONLY, nullptr), PTL_ARG_INVALID);
}

// The data of a deleted header may still be arriving.
TEST_F(SearchTest, deleting_a_message_under_way)
{
  ASSERT_EQ(a.put(a.silent_md(source, 64), 10, b, {.bits = 7}), PTL_OK);
  const std::uint64_t before = model.deposited;
  while (model.deposited == before)
    ASSERT_TRUE(timeline.step());
  EXPECT_EQ(b.search(PTL_SEARCH_DELETE, PTL_ME_USE_ONCE, {.bits = 7}), PTL_OK);
  settle();
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_PUT, PTL_EVENT_PUT_OVERFLOW}));
}

using ListSearchTest = NonMatchingMachine;

TEST_F(ListSearchTest, any_header_is_found)
{
  char byte = 0;
  b.append(&byte, 1, quiet, {.list = PTL_OVERFLOW_LIST});
  ASSERT_EQ(a.put(a.silent_md(&byte, 1), 1, b, {.bits = 7}), PTL_OK);
  settle();
  b.target_events();
  EXPECT_EQ(b.search(PTL_SEARCH_ONLY, PTL_LE_USE_ONCE), PTL_OK);
  EXPECT_EQ(b.search(PTL_SEARCH_DELETE, PTL_LE_USE_ONCE), PTL_OK);
  settle();
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_SEARCH, PTL_EVENT_PUT_OVERFLOW}));
}

} // namespace
} // namespace umwelt::portals::test
