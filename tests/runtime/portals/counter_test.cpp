// SPDX-License-Identifier: LGPL-2.1-or-later
// Counting events (Portals 4.3, 3.14).
#include "tests/runtime/portals/support.h"

namespace umwelt::portals::test
{
namespace
{

class CounterTest : public Machine
{
protected:
  ptl_ct_event_t value{};
  unsigned which = 99;
  ptl_handle_ct_t counter = a.ct();
  int add(ptl_size_t success, ptl_size_t failure) { return api::PtlCTInc(a.process, counter, {success, failure}); }
};

TEST_F(CounterTest, starts_at_zero)
{
  EXPECT_EQ(a.count(counter).success, 0U);
  EXPECT_EQ(a.count(counter).failure, 0U);
}

TEST_F(CounterTest, increments)
{
  EXPECT_EQ(add(3, 0), PTL_OK);
  EXPECT_EQ(add(0, 2), PTL_OK);
  EXPECT_EQ(a.count(counter).success, 3U);
  EXPECT_EQ(a.count(counter).failure, 2U);
}

// Only one of the fields may be non-zero in an increment.
TEST_F(CounterTest, increment_of_both_fields)
{
  EXPECT_EQ(add(1, 1), PTL_ARG_INVALID);
  EXPECT_EQ(a.count(counter).success, 0U);
}

TEST_F(CounterTest, set)
{
  EXPECT_EQ(api::PtlCTSet(a.process, counter, {7, 8}), PTL_OK);
  EXPECT_EQ(a.count(counter).success, 7U);
  EXPECT_EQ(a.count(counter).failure, 8U);
}

TEST_F(CounterTest, wait_for_a_value_already_reached)
{
  EXPECT_EQ(add(3, 0), PTL_OK);
  EXPECT_EQ(api::PtlCTWait(a.process, counter, 2, &value), PTL_OK);
  EXPECT_EQ(value.success, 3U);
}

TEST_F(CounterTest, wait_blocks)
{
  host.while_waiting.push_back([&] { EXPECT_EQ(add(1, 0), PTL_OK); });
  host.while_waiting.push_back([&] { EXPECT_EQ(add(1, 0), PTL_OK); });
  EXPECT_EQ(api::PtlCTWait(a.process, counter, 2, &value), PTL_OK);
  EXPECT_EQ(value.success, 2U);
  EXPECT_EQ(host.waits, 2U);
}

// A failure ends the wait.
TEST_F(CounterTest, wait_ends_with_a_failure)
{
  host.while_waiting.push_back([&] { EXPECT_EQ(add(0, 1), PTL_OK); });
  EXPECT_EQ(api::PtlCTWait(a.process, counter, 2, &value), PTL_OK);
  EXPECT_EQ(value.success, 0U);
  EXPECT_EQ(value.failure, 1U);
}

TEST_F(CounterTest, poll_tells_the_counter)
{
  const ptl_handle_ct_t counters[2] = {a.target_ct, counter};
  const ptl_size_t tests[2] = {1, 2};
  EXPECT_EQ(add(1, 0), PTL_OK);
  EXPECT_EQ(api::PtlCTPoll(a.process, counters, tests, 2, 0, &value, &which), PTL_CT_NONE_REACHED);
  EXPECT_EQ(add(1, 0), PTL_OK);
  EXPECT_EQ(api::PtlCTPoll(a.process, counters, tests, 2, 0, &value, &which), PTL_OK);
  EXPECT_EQ(which, 1U);
  EXPECT_EQ(value.success, 2U);
}

TEST_F(CounterTest, poll_ends_after_its_timeout)
{
  const ptl_size_t test = 1;
  EXPECT_EQ(api::PtlCTPoll(a.process, &counter, &test, 1, 3, &value, &which), PTL_CT_NONE_REACHED);
  EXPECT_EQ(timeline.now(), 3 * sim::millisecond);
}

TEST_F(CounterTest, arguments)
{
  const ptl_size_t test = 1;
  const ptl_handle_ct_t none = PTL_CT_NONE;
  EXPECT_EQ(api::PtlCTAlloc(a.process, a.ni, nullptr), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlCTAlloc(a.process, counter, &counter), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlCTGet(a.process, counter, nullptr), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlCTGet(a.process, PTL_CT_NONE, &value), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlCTWait(a.process, a.target_eq, 1, &value), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlCTWait(a.process, counter, 1, nullptr), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlCTPoll(a.process, &none, &test, 1, 0, &value, &which), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlCTPoll(a.process, &counter, nullptr, 1, 0, &value, &which), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlCTPoll(a.process, &counter, &test, 0, 0, &value, &which), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlCTSet(a.process, PTL_INVALID_HANDLE, {1, 0}), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlCTInc(a.process, PTL_INVALID_HANDLE, {1, 0}), PTL_ARG_INVALID);
  EXPECT_EQ(api::PtlCTCancelTriggered(a.process, PTL_CT_NONE), PTL_ARG_INVALID);
}

TEST_F(CounterTest, freed)
{
  EXPECT_EQ(api::PtlCTFree(a.process, counter), PTL_OK);
  EXPECT_EQ(api::PtlCTFree(a.process, counter), PTL_ARG_INVALID);
  EXPECT_EQ(add(1, 0), PTL_ARG_INVALID);
}

TEST_F(CounterTest, freed_while_a_thread_waits)
{
  host.while_waiting.push_back([&] { EXPECT_EQ(api::PtlCTFree(a.process, counter), PTL_OK); });
  EXPECT_EQ(api::PtlCTWait(a.process, counter, 1, &value), PTL_ABORTED);
}

TEST_F(CounterTest, freed_with_messages_under_way)
{
  char memory[8] = {};
  b.append(memory, 8, PTL_ME_OP_PUT | PTL_ME_EVENT_CT_COMM, {.counted = true});
  ASSERT_EQ(a.put(a.md(memory, 8, PTL_MD_EVENT_CT_ACK), 8, b, {.ack = PTL_CT_ACK_REQ}), PTL_OK);
  EXPECT_EQ(api::PtlCTFree(a.process, a.initiator_ct), PTL_OK);
  EXPECT_EQ(api::PtlCTFree(b.process, b.target_ct), PTL_OK);
  settle();
  EXPECT_EQ(fabric.in_flight(), 0U);
}

TEST_F(CounterTest, at_most_max_cts)
{
  ptl_ni_limits_t limits{};
  limits.max_cts = 1;
  ptl_handle_ni_t ni = PTL_INVALID_HANDLE;
  ASSERT_EQ(api::PtlNIInit(a.process, 0, PTL_NI_NO_MATCHING | PTL_NI_LOGICAL, PTL_PID_ANY, &limits, nullptr, &ni),
            PTL_OK);
  EXPECT_EQ(api::PtlCTAlloc(a.process, ni, &counter), PTL_OK);
  ptl_handle_ct_t second = PTL_CT_NONE;
  EXPECT_EQ(api::PtlCTAlloc(a.process, ni, &second), PTL_NO_SPACE);
}

// A value the program sets is not disturbed by older changes of the NIC that reach host memory later.
TEST_F(CounterTest, set_overrules_counts_under_way)
{
  char memory[8] = {};
  b.append(memory, 8, PTL_ME_OP_PUT | PTL_ME_EVENT_CT_COMM, {.counted = true});
  ASSERT_EQ(a.put(a.md(memory, 8), 8, b), PTL_OK);
  const Counter& seen = *b.process.counter(b.target_ct);
  while (seen.nic().success == 0)
    ASSERT_TRUE(timeline.step());
  EXPECT_EQ(b.count(b.target_ct).success, 0U);
  EXPECT_EQ(api::PtlCTSet(b.process, b.target_ct, {10, 0}), PTL_OK);
  settle();
  EXPECT_EQ(b.count(b.target_ct).success, 10U);
}

// The program's increments and those of the NIC add up.
TEST_F(CounterTest, increments_of_both_sides)
{
  char memory[8] = {};
  b.append(memory, 8, PTL_ME_OP_PUT | PTL_ME_EVENT_CT_COMM, {.counted = true});
  ASSERT_EQ(a.put(a.md(memory, 8), 8, b), PTL_OK);
  ASSERT_EQ(api::PtlCTInc(b.process, b.target_ct, {5, 0}), PTL_OK);
  settle();
  EXPECT_EQ(b.count(b.target_ct).success, 6U);
}

} // namespace
} // namespace umwelt::portals::test
