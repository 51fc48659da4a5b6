// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/message_matches.h"

#include <gtest/gtest.h>

namespace umwelt::observe
{
namespace
{

umw_event record(umw_event_kind kind, std::uint64_t request, std::int32_t peer, std::int32_t tag)
{
  umw_event event{};
  event.kind = static_cast<std::uint8_t>(kind);
  event.request = request;
  event.peer = peer;
  event.tag = tag;
  return event;
}

TEST(MessageMatches, BothSidesComeToTheSameNumber)
{
  MessageMatches sender, receiver;
  sender.begin(0);
  receiver.begin(1);
  const std::uint64_t first = sender.number(record(UMW_EVENT_SEND, 0, 1, 7), 1);
  const std::uint64_t second = sender.number(record(UMW_EVENT_SEND, 0, 1, 7), 1);
  EXPECT_NE(first, second);
  EXPECT_EQ(receiver.number(record(UMW_EVENT_RECEIVED, 0, 0, 7), 0), first);
  EXPECT_EQ(receiver.number(record(UMW_EVENT_RECEIVED, 0, 0, 7), 0), second);
}

TEST(MessageMatches, ReceivesCountInTheOrderInWhichTheyWereBegun)
{
  MessageMatches sender, receiver;
  sender.begin(0);
  receiver.begin(1);
  const std::uint64_t first = sender.number(record(UMW_EVENT_SEND, 0, 1, 7), 1);
  const std::uint64_t second = sender.number(record(UMW_EVENT_SEND, 0, 1, 7), 1);
  receiver.receive_begun(record(UMW_EVENT_RECEIVE_BEGUN, 1, 0, 7));
  receiver.receive_begun(record(UMW_EVENT_RECEIVE_BEGUN, 2, 0, 7));
  EXPECT_EQ(receiver.number(record(UMW_EVENT_RECEIVED, 2, 0, 7), 0), second);
  EXPECT_EQ(receiver.number(record(UMW_EVENT_RECEIVED, 1, 0, 7), 0), first);
}

TEST(MessageMatches, CancelledReceivesTakeNoPlace)
{
  MessageMatches sender, receiver;
  sender.begin(0);
  receiver.begin(1);
  const std::uint64_t first = sender.number(record(UMW_EVENT_SEND, 0, 1, 7), 1);
  receiver.receive_begun(record(UMW_EVENT_RECEIVE_BEGUN, 1, 0, 7));
  receiver.receive_begun(record(UMW_EVENT_RECEIVE_BEGUN, 2, 0, 7));
  receiver.receive_cancelled(record(UMW_EVENT_CANCELLED, 1, -1, 0));
  EXPECT_EQ(receiver.number(record(UMW_EVENT_RECEIVED, 2, 0, 7), 0), first);
}

} // namespace
} // namespace umwelt::observe
