// SPDX-License-Identifier: LGPL-2.1-or-later
// Calls of a thread that is ahead of the timeline: what it does happens at its own time (Host::now).
#include <gmock/gmock.h>

#include "tests/runtime/portals/support.h"

namespace umwelt::portals::test
{
namespace
{

using sim::nanosecond;

class AheadTest : public Machine
{
protected:
  AheadTest()
  {
    host.runs_ahead = true;
    model.issue = 100 * nanosecond;
    model.fate = [this](const net::Transfer& transfer) {
      if (transfer.kind == net::TransferKind::put)
        times.push_back(timeline.now());
      return TestModel::Fate::deliver;
    };
    b.append(&target, 1, PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE);
    md = a.silent_md(&byte, 1);
  }

  std::vector<sim::SimTime> times; // at which the NIC was handed puts
  ptl_handle_md_t md = PTL_INVALID_HANDLE;
  char byte = 0;
  char target = 0;
};

TEST_F(AheadTest, commands_reach_the_nic_at_their_times)
{
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(a.put(md, 1, b), PTL_OK);
  EXPECT_EQ(timeline.now(), 0);
  EXPECT_THAT(times, testing::IsEmpty());
  settle();
  EXPECT_THAT(times, testing::ElementsAre(100 * nanosecond, 200 * nanosecond, 300 * nanosecond));
  EXPECT_EQ(b.target_events().size(), 3U);
}

TEST_F(AheadTest, taking_an_event_counts_too)
{
  model.take = 30 * nanosecond;
  EXPECT_EQ(a.put(md, 1, b), PTL_OK);
  settle();
  const sim::SimTime arrived = timeline.now();
  EXPECT_EQ(b.target_events().size(), 1U);
  EXPECT_EQ(host.ahead_until, arrived + 30 * nanosecond);
  EXPECT_EQ(a.put(md, 1, b), PTL_OK);
  settle();
  EXPECT_THAT(times, testing::ElementsAre(100 * nanosecond, arrived + 130 * nanosecond));
}

// The command carries what the buffer held when the program called, whatever it writes there before the time.
TEST_F(AheadTest, short_data_is_taken_with_the_call)
{
  const ptl_md_t description{&byte, 1, PTL_MD_VOLATILE, PTL_EQ_NONE, PTL_CT_NONE};
  ASSERT_EQ(api::PtlMDBind(a.process, a.ni, &description, &md), PTL_OK);
  byte = 'a';
  EXPECT_EQ(a.put(md, 1, b), PTL_OK);
  byte = 'b';
  settle();
  EXPECT_EQ(target, 'a');
}

TEST_F(AheadTest, arguments_are_checked_with_the_call)
{
  EXPECT_EQ(a.put(md, 2, b), PTL_ARG_INVALID);
  EXPECT_EQ(fabric.in_flight(), 0U);
}

TEST_F(AheadTest, a_full_queue_is_waited_for)
{
  model.queue_depth = 2;
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(a.put(md, 1, b), PTL_OK);
  EXPECT_GT(timeline.now(), 0);
  settle();
  EXPECT_EQ(b.target_events().size(), 10U);
  EXPECT_EQ(model.commands(), 0U);
}

TEST_F(AheadTest, a_process_that_ends_before_issues_nothing)
{
  EXPECT_EQ(a.put(md, 1, b), PTL_OK);
  EXPECT_EQ(model.commands(), 1U);
  a.process.detach();
  EXPECT_EQ(model.commands(), 0U);
  EXPECT_EQ(fabric.in_flight(), 0U);
  settle();
  EXPECT_THAT(times, testing::IsEmpty());
}

TEST_F(AheadTest, another_thread_closes_the_interface_before)
{
  EXPECT_EQ(a.put(md, 1, b), PTL_OK);
  EXPECT_EQ(api::PtlNIFini(a.process, a.ni), PTL_OK);
  settle();
  EXPECT_THAT(times, testing::IsEmpty());
  EXPECT_EQ(model.commands(), 0U);
  EXPECT_EQ(fabric.in_flight(), 0U);
}

TEST_F(AheadTest, time_outs_count_from_the_time_of_the_caller)
{
  EXPECT_EQ(a.put(md, 1, b), PTL_OK);
  ptl_event_t event{};
  unsigned which = 0;
  EXPECT_EQ(api::PtlEQPoll(a.process, &a.target_eq, 1, 1, &event, &which), PTL_EQ_EMPTY);
  EXPECT_EQ(timeline.now(), sim::millisecond + 100 * nanosecond);
}

} // namespace
} // namespace umwelt::portals::test
