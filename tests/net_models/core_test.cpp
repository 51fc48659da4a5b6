// SPDX-License-Identifier: LGPL-2.1-or-later
#include <vector>

#include <gtest/gtest.h>

#include "net_models/catalogue.h"
#include "net_models/core/host_writes.h"
#include "net_models/core/pipe.h"

namespace umwelt
{
namespace
{

TEST(Catalogue, SaysWhatEveryParameterMeans)
{
  for (const net::ModelEntry& model : net::models())
    for (const ParameterInfo& info : model.parameters) {
      EXPECT_FALSE(info.help.empty()) << model.name << ' ' << info.key;
      EXPECT_EQ(info.standard.find(','), std::string::npos);
    }
}

TEST(Pipe, LongMessagesFollowEachOther)
{
  sim::Pipe pipe;
  EXPECT_EQ(pipe.book_long(0, 100), 0);
  EXPECT_EQ(pipe.book_long(10, 100), 100);
  EXPECT_EQ(pipe.book_long(500, 100), 500);
}

TEST(Pipe, AShortMessageSlipsInBetweenPackets)
{
  sim::Pipe pipe;
  pipe.book_long(0, 1000);
  EXPECT_EQ(pipe.book_short(100, 5, 20), 110); // half a packet later
  EXPECT_EQ(pipe.book_long(100, 1000), 1005);  // the long ones pay for it
}

TEST(Pipe, ShortMessagesQueueBehindEachOther)
{
  sim::Pipe pipe;
  EXPECT_EQ(pipe.book_short(0, 5, 20), 0);
  EXPECT_EQ(pipe.book_short(0, 5, 20), 5);
  EXPECT_EQ(pipe.book_long(0, 100), 10);
}

TEST(HostWrites, BecomeVisibleInTheOrderOfPosting)
{
  struct Write final : net::HostWrite {
    Write(std::vector<int>& l, int n) : log(l), name(n) {}
    void visible() override { log.push_back(name); }
    std::vector<int>& log;
    int name;
  };
  sim::Timeline timeline;
  net::HostWrites writes;
  std::vector<int> log;
  Write first(log, 1);
  Write second(log, 2);
  writes.post(timeline, 100, first);
  writes.post(timeline, 50, second);
  ASSERT_TRUE(timeline.step());
  EXPECT_EQ(timeline.now(), 100);
  ASSERT_TRUE(timeline.step());
  EXPECT_EQ(timeline.now(), 100);
  EXPECT_EQ(log, (std::vector<int>{1, 2}));
}

} // namespace
} // namespace umwelt
