// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/path_ends.h"

#include <gtest/gtest.h>

#include "preload/abi/gate.h"

namespace umwelt::rank_host
{
namespace
{

TEST(PathEnds, TellDepthsAndCallsAndPollsApart)
{
  umw_args_umw_fence nothing{};
  const PathEnd end = path_ends(UMW_OP_umw_fence, &nothing, 64, 0);
  EXPECT_NE(end, 0U);
  EXPECT_EQ(end, path_ends(UMW_OP_umw_fence, &nothing, 64, 0));
  EXPECT_NE(end, path_ends(UMW_OP_umw_joined, &nothing, 64, 0));
  EXPECT_NE(end, path_ends(UMW_OP_umw_fence, &nothing, 80, 0));
  EXPECT_NE(end, path_ends(UMW_OP_umw_fence, &nothing, 64, 1));
  EXPECT_NE(path_begins(UMW_OP_umw_fence, &nothing, 64), path_begins(UMW_OP_umw_fence, &nothing, 80));
}

TEST(PathEnds, TellMessagesOfOtherLengthsApartButNotOtherData)
{
  char data[2] = {};
  umw_args_PtlPut put{};
  put.length = 8;
  const PathEnd end = path_ends(UMW_OP_PtlPut, &put, 64, 0);
  put.hdr_data = 77;
  put.user_ptr = data;
  EXPECT_EQ(end, path_ends(UMW_OP_PtlPut, &put, 64, 0));
  put.length = 9;
  EXPECT_NE(end, path_ends(UMW_OP_PtlPut, &put, 64, 0));
}

TEST(PathEnds, TellWhatAPollHasBroughtApart)
{
  ptl_event_t event{};
  umw_args_PtlEQGet get{};
  get.event = &event;
  get.result = PTL_EQ_EMPTY;
  event.mlength = 1; // of an event before
  const PathEnd empty = path_begins(UMW_OP_PtlEQGet, &get, 64);
  event.mlength = 2;
  EXPECT_EQ(empty, path_begins(UMW_OP_PtlEQGet, &get, 64));
  get.result = PTL_OK;
  const PathEnd two = path_begins(UMW_OP_PtlEQGet, &get, 64);
  EXPECT_NE(empty, two);
  event.mlength = 3;
  EXPECT_NE(two, path_begins(UMW_OP_PtlEQGet, &get, 64));
  event.mlength = 2;
  event.type = PTL_EVENT_ACK;
  const PathEnd ack = path_begins(UMW_OP_PtlEQGet, &get, 64);
  event.type = PTL_EVENT_PUT;
  EXPECT_NE(ack, path_begins(UMW_OP_PtlEQGet, &get, 64));
}

TEST(PathEnds, LooksAtTheClockAreToldApartByWhereTheProgramDoesSo)
{
  EXPECT_EQ(look_at_clock(0x1234, 64), look_at_clock(0x1234, 64));
  EXPECT_NE(look_at_clock(0x1234, 64), look_at_clock(0x1238, 64));
  EXPECT_NE(look_at_clock(0x1234, 64), look_at_clock(0x1234, 80));
  EXPECT_NE(look_at_clock(0, 64), path_begins(UMW_OP_umw_clock_settle, nullptr, 64));
}

} // namespace
} // namespace umwelt::rank_host
