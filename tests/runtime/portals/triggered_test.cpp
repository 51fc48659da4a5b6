// SPDX-License-Identifier: LGPL-2.1-or-later
// Triggered operations (Portals 4.3, 3.16).
#include "tests/runtime/portals/support.h"

namespace umwelt::portals::test
{
namespace
{

class TriggeredTest : public Machine
{
protected:
  std::uint64_t source = 5;
  std::uint64_t target = 3;
  std::uint64_t result = 0;
  ptl_handle_ct_t trigger = a.ct();
  ptl_handle_md_t md = a.silent_md(&source, 8);
  ptl_handle_md_t get_md = a.silent_md(&result, 8);

  TriggeredTest() { b.append(&target, 8, PTL_ME_OP_PUT | PTL_ME_OP_GET | PTL_ME_EVENT_LINK_DISABLE); }
  int arm_put(ptl_size_t threshold, ptl_hdr_data_t hdr_data = 0)
  {
    return api::PtlTriggeredPut(a.process, md, 0, 8, PTL_NO_ACK_REQ, b.id(), 0, 0, 0, nullptr, hdr_data, trigger,
                                threshold);
  }
  void pull(ptl_size_t success = 1, ptl_size_t failure = 0)
  {
    ASSERT_EQ(api::PtlCTInc(a.process, trigger, {success, failure}), PTL_OK);
    settle();
  }
  std::vector<ptl_hdr_data_t> arrived()
  {
    std::vector<ptl_hdr_data_t> hdr_data;
    for (const ptl_event_t& event : b.target_events())
      hdr_data.push_back(event.hdr_data);
    return hdr_data;
  }
};

TEST_F(TriggeredTest, put)
{
  ASSERT_EQ(arm_put(1), PTL_OK);
  settle();
  EXPECT_EQ(target, 3U);
  pull();
  EXPECT_EQ(target, 5U);
}

TEST_F(TriggeredTest, get)
{
  ASSERT_EQ(api::PtlTriggeredGet(a.process, get_md, 0, 8, b.id(), 0, 0, 0, nullptr, trigger, 1), PTL_OK);
  settle();
  EXPECT_EQ(result, 0U);
  pull();
  EXPECT_EQ(result, 3U);
}

TEST_F(TriggeredTest, atomic)
{
  ASSERT_EQ(api::PtlTriggeredAtomic(a.process, md, 0, 8, PTL_NO_ACK_REQ, b.id(), 0, 0, 0, nullptr, 0, PTL_SUM,
                                    PTL_UINT64_T, trigger, 1),
            PTL_OK);
  pull();
  EXPECT_EQ(target, 8U);
}

TEST_F(TriggeredTest, fetch_atomic)
{
  ASSERT_EQ(api::PtlTriggeredFetchAtomic(a.process, get_md, 0, md, 0, 8, b.id(), 0, 0, 0, nullptr, 0, PTL_SUM,
                                         PTL_UINT64_T, trigger, 1),
            PTL_OK);
  pull();
  EXPECT_EQ(target, 8U);
  EXPECT_EQ(result, 3U);
}

// The operand is read during the call.
TEST_F(TriggeredTest, swap)
{
  std::uint64_t operand = 3;
  ASSERT_EQ(api::PtlTriggeredSwap(a.process, get_md, 0, md, 0, 8, b.id(), 0, 0, 0, nullptr, 0, &operand, PTL_CSWAP,
                                  PTL_UINT64_T, trigger, 1),
            PTL_OK);
  operand = 4;
  pull();
  EXPECT_EQ(target, 5U);
  EXPECT_EQ(result, 3U);
}

TEST_F(TriggeredTest, counter_increment)
{
  const ptl_handle_ct_t counter = a.ct();
  ASSERT_EQ(api::PtlTriggeredCTInc(a.process, counter, {4, 0}, trigger, 1), PTL_OK);
  EXPECT_EQ(a.count(counter).success, 0U);
  pull();
  EXPECT_EQ(a.count(counter).success, 4U);
  EXPECT_EQ(api::PtlTriggeredCTInc(a.process, counter, {1, 1}, trigger, 9), PTL_ARG_INVALID);
}

TEST_F(TriggeredTest, counter_set)
{
  const ptl_handle_ct_t counter = a.ct();
  ASSERT_EQ(api::PtlTriggeredCTSet(a.process, counter, {4, 2}, trigger, 1), PTL_OK);
  pull();
  EXPECT_EQ(a.count(counter).success, 4U);
  EXPECT_EQ(a.count(counter).failure, 2U);
}

// The sum of successes and failures counts.
TEST_F(TriggeredTest, failures_trigger_too)
{
  ASSERT_EQ(arm_put(3), PTL_OK);
  pull(2);
  EXPECT_EQ(target, 3U);
  pull(0, 1);
  EXPECT_EQ(target, 5U);
}

TEST_F(TriggeredTest, threshold_already_reached)
{
  pull(7);
  ASSERT_EQ(arm_put(7), PTL_OK);
  settle();
  EXPECT_EQ(target, 5U);
}

TEST_F(TriggeredTest, threshold_zero)
{
  ASSERT_EQ(arm_put(0), PTL_OK);
  settle();
  EXPECT_EQ(target, 5U);
}

// The data is that of the moment at which the operation starts.
TEST_F(TriggeredTest, buffer_is_read_when_triggered)
{
  ASSERT_EQ(arm_put(1), PTL_OK);
  source = 11;
  pull();
  EXPECT_EQ(target, 11U);
}

// In the order in which thresholds are reached; equal thresholds in the order of the calls.
TEST_F(TriggeredTest, order)
{
  ASSERT_EQ(arm_put(2, 20), PTL_OK);
  ASSERT_EQ(arm_put(1, 10), PTL_OK);
  ASSERT_EQ(arm_put(2, 21), PTL_OK);
  ASSERT_EQ(arm_put(1, 11), PTL_OK);
  ASSERT_EQ(arm_put(3, 30), PTL_OK);
  pull(2);
  EXPECT_EQ(arrived(), (std::vector<ptl_hdr_data_t>{10, 11, 20, 21}));
}

TEST_F(TriggeredTest, each_operation_starts_once)
{
  ASSERT_EQ(arm_put(1, 1), PTL_OK);
  pull();
  pull();
  EXPECT_EQ(arrived().size(), 1U);
}

TEST_F(TriggeredTest, set_triggers)
{
  ASSERT_EQ(arm_put(5), PTL_OK);
  ASSERT_EQ(api::PtlCTSet(a.process, trigger, {5, 0}), PTL_OK);
  settle();
  EXPECT_EQ(target, 5U);
}

// An arriving message triggers in the NIC, before the program can see the counter.
TEST_F(TriggeredTest, message_triggers_in_the_nic)
{
  char byte = 0;
  b.append(&byte, 1, PTL_ME_OP_PUT | PTL_ME_EVENT_CT_COMM, {.bits = 9, .counted = true});
  const ptl_handle_ct_t next = b.ct();
  ASSERT_EQ(api::PtlTriggeredCTInc(b.process, next, {1, 0}, b.target_ct, 1), PTL_OK);
  ASSERT_EQ(a.put(a.silent_md(&byte, 1), 1, b, {.bits = 9}), PTL_OK);
  while (b.process.counter(next)->nic().success == 0)
    ASSERT_TRUE(timeline.step());
  EXPECT_EQ(b.count(b.target_ct).success, 0U);
  settle();
  EXPECT_EQ(b.count(next).success, 1U);
}

// Such an operation is no command of the host.
TEST_F(TriggeredTest, operations_start_in_the_nic)
{
  ASSERT_EQ(arm_put(1), PTL_OK);
  pull();
  EXPECT_FALSE(model.started.at(0).from_host);
}

// Chains of triggers may be long.
TEST_F(TriggeredTest, chain)
{
  constexpr unsigned length = 10000;
  std::vector<ptl_handle_ct_t> counters{trigger};
  for (unsigned i = 0; i < length; ++i) {
    counters.push_back(a.ct());
    ASSERT_EQ(api::PtlTriggeredCTInc(a.process, counters[i + 1], {1, 0}, counters[i], 1), PTL_OK);
  }
  pull();
  EXPECT_EQ(a.count(counters.back()).success, 1U);
}

// PtlCTCancelTriggered destroys what waits and nothing else.
TEST_F(TriggeredTest, cancel)
{
  ASSERT_EQ(arm_put(1, 1), PTL_OK);
  ASSERT_EQ(arm_put(2, 2), PTL_OK);
  pull();
  ASSERT_EQ(api::PtlCTCancelTriggered(a.process, trigger), PTL_OK);
  pull();
  EXPECT_EQ(arrived(), (std::vector<ptl_hdr_data_t>{1}));
  EXPECT_EQ(a.count(trigger).success, 2U);
  ASSERT_EQ(arm_put(2, 3), PTL_OK);
  settle();
  EXPECT_EQ(arrived(), (std::vector<ptl_hdr_data_t>{3}));
}

TEST_F(TriggeredTest, freeing_the_counter_cancels)
{
  ASSERT_EQ(arm_put(1), PTL_OK);
  ASSERT_EQ(api::PtlCTFree(a.process, trigger), PTL_OK);
  EXPECT_EQ(a.process.interface(0)->triggered_ops, 0);
}

// The descriptor may be gone when the time comes.
TEST_F(TriggeredTest, released_descriptor)
{
  ASSERT_EQ(arm_put(1), PTL_OK);
  ASSERT_EQ(api::PtlMDRelease(a.process, md), PTL_OK);
  pull();
  EXPECT_EQ(target, 3U);
}

TEST_F(TriggeredTest, arguments)
{
  EXPECT_EQ(api::PtlTriggeredPut(a.process, md, 0, 9, PTL_NO_ACK_REQ, b.id(), 0, 0, 0, nullptr, 0, trigger, 1),
            PTL_ARG_INVALID);
  trigger = PTL_CT_NONE;
  EXPECT_EQ(arm_put(1), PTL_ARG_INVALID);
  trigger = a.target_eq;
  EXPECT_EQ(arm_put(1), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlTriggeredCTInc(a.process, PTL_CT_NONE, {1, 0}, a.target_ct, 1), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlTriggeredCTSet(a.process, a.target_ct, {1, 0}, PTL_CT_NONE, 1), PTL_ARG_INVALID);
}

class FewTriggersTest : public Machine
{
protected:
  FewTriggersTest() : Machine(PTL_NI_MATCHING | PTL_NI_LOGICAL, 0, &few()) {}
  static const ptl_ni_limits_t& few()
  {
    static const ptl_ni_limits_t limits = [] {
      ptl_ni_limits_t wanted{};
      wanted.max_triggered_ops = 3;
      wanted.max_entries = wanted.max_list_size = wanted.max_eqs = wanted.max_cts = wanted.max_mds = 4;
      return wanted;
    }();
    return limits;
  }
};

// Exactly max_triggered_ops may wait.
TEST_F(FewTriggersTest, at_most_max_triggered_ops)
{
  const ptl_handle_ct_t counter = a.ct();
  for (ptl_size_t i = 1; i <= 3; ++i)
    EXPECT_EQ(api::PtlTriggeredCTInc(a.process, counter, {1, 0}, a.target_ct, i), PTL_OK);
  EXPECT_EQ(api::PtlTriggeredCTInc(a.process, counter, {1, 0}, a.target_ct, 9), PTL_NO_SPACE);
  ASSERT_EQ(api::PtlCTInc(a.process, a.target_ct, {1, 0}), PTL_OK); // one starts
  EXPECT_EQ(api::PtlTriggeredCTInc(a.process, counter, {1, 0}, a.target_ct, 9), PTL_OK);
  EXPECT_EQ(api::PtlTriggeredCTInc(a.process, counter, {1, 0}, a.target_ct, 9), PTL_NO_SPACE);
}

TEST_F(FewTriggersTest, entry_that_cannot_be_armed_does_not_exist)
{
  ptl_me_t me{};
  me.ct_handle = PTL_CT_NONE;
  ptl_handle_me_t handle = PTL_INVALID_HANDLE;
  for (ptl_size_t i = 0; i < 3; ++i)
    ASSERT_EQ(
        api::PtlTriggeredMEAppend(a.process, a.ni, a.pt, &me, PTL_PRIORITY_LIST, nullptr, &handle, a.target_ct, 9),
        PTL_OK);
  EXPECT_EQ(api::PtlTriggeredMEAppend(a.process, a.ni, a.pt, &me, PTL_PRIORITY_LIST, nullptr, &handle, a.target_ct, 9),
            PTL_NO_SPACE);
  EXPECT_EQ(a.process.interface(0)->entries.live(), 3U);
}

// Extensions of the reference implementation: entries that are linked and unlinked by triggers.
class TriggeredEntryTest : public TriggeredTest
{
protected:
  std::uint64_t memory = 0;
  ptl_handle_me_t armed = PTL_INVALID_HANDLE;
  int arm_append(ptl_size_t threshold)
  {
    ptl_me_t me{};
    me.start = &memory;
    me.length = 8;
    me.ct_handle = PTL_CT_NONE;
    me.uid = PTL_UID_ANY;
    me.options = PTL_ME_OP_PUT;
    me.match_id.rank = PTL_RANK_ANY;
    me.match_bits = 7;
    return api::PtlTriggeredMEAppend(a.process, a.ni, a.pt, &me, PTL_PRIORITY_LIST, nullptr, &armed, trigger,
                                     threshold);
  }
  bool takes_messages()
  {
    memory = 0;
    EXPECT_EQ(a.put(md, 8, a, {.bits = 7}), PTL_OK);
    settle();
    return memory != 0;
  }
};

TEST_F(TriggeredEntryTest, append)
{
  ASSERT_EQ(arm_append(1), PTL_OK);
  EXPECT_FALSE(takes_messages());
  pull();
  EXPECT_EQ(a.target_events().at(0).type, PTL_EVENT_LINK);
  EXPECT_TRUE(takes_messages());
  EXPECT_EQ(a.unlink(armed), PTL_OK);
}

TEST_F(TriggeredEntryTest, unlink)
{
  ASSERT_EQ(arm_append(0), PTL_OK);
  ASSERT_EQ(api::PtlTriggeredMEUnlink(a.process, armed, trigger, 1), PTL_OK);
  EXPECT_TRUE(takes_messages());
  pull();
  EXPECT_FALSE(takes_messages());
  EXPECT_EQ(a.unlink(armed), PTL_ARG_INVALID);
}

TEST_F(TriggeredEntryTest, unlinking_an_armed_entry)
{
  ASSERT_EQ(arm_append(1), PTL_OK);
  EXPECT_EQ(a.unlink(armed), PTL_OK);
  pull();
  EXPECT_FALSE(takes_messages());
}

TEST_F(TriggeredEntryTest, cancelled_append)
{
  ASSERT_EQ(arm_append(1), PTL_OK);
  ASSERT_EQ(api::PtlCTCancelTriggered(a.process, trigger), PTL_OK);
  EXPECT_EQ(a.unlink(armed), PTL_ARG_INVALID);
  EXPECT_EQ(a.process.interface(0)->entries.live(), 0U);
}

TEST_F(TriggeredEntryTest, portal_table_entry_freed_before_the_trigger)
{
  ASSERT_EQ(arm_append(1), PTL_OK);
  ASSERT_EQ(api::PtlPTFree(a.process, a.ni, a.pt), PTL_OK);
  pull();
  EXPECT_EQ(a.process.interface(0)->entries.live(), 0U);
}

TEST_F(TriggeredEntryTest, arguments)
{
  EXPECT_EQ(api::PtlTriggeredMEAppend(a.process, a.ni, a.pt, nullptr, PTL_PRIORITY_LIST, nullptr, &armed, trigger, 1),
            PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlTriggeredMEUnlink(a.process, PTL_INVALID_HANDLE, trigger, 1), PTL_ARG_INVALID);
  ASSERT_EQ(arm_append(0), PTL_OK);
  EXPECT_EQ(api::PtlTriggeredMEUnlink(a.process, armed, PTL_CT_NONE, 1), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlTriggeredLEUnlink(a.process, armed, trigger, 1), PTL_ARG_INVALID); // a match list entry
}

using TriggeredListEntryTest = NonMatchingMachine;

TEST_F(TriggeredListEntryTest, append_and_unlink)
{
  char byte = 0;
  char source = 'x';
  ptl_le_t le{&byte, 1, PTL_CT_NONE, PTL_UID_ANY, PTL_LE_OP_PUT};
  ptl_handle_le_t handle = PTL_INVALID_HANDLE;
  ASSERT_EQ(api::PtlTriggeredLEAppend(b.process, b.ni, b.pt, &le, PTL_PRIORITY_LIST, nullptr, &handle, b.target_ct, 1),
            PTL_OK);
  ASSERT_EQ(api::PtlTriggeredLEUnlink(b.process, handle, b.target_ct, 2), PTL_OK);
  const ptl_handle_md_t md = a.silent_md(&source, 1);
  ASSERT_EQ(a.put(md, 1, b), PTL_OK);
  settle();
  EXPECT_EQ(byte, 0);
  ASSERT_EQ(api::PtlCTInc(b.process, b.target_ct, {1, 0}), PTL_OK);
  ASSERT_EQ(a.put(md, 1, b), PTL_OK);
  settle();
  EXPECT_EQ(byte, 'x');
  ASSERT_EQ(api::PtlCTInc(b.process, b.target_ct, {1, 0}), PTL_OK);
  ASSERT_EQ(a.put(md, 1, b), PTL_OK);
  settle();
  EXPECT_EQ(b.status(PTL_SR_DROP_COUNT), 2);
}

} // namespace
} // namespace umwelt::portals::test
