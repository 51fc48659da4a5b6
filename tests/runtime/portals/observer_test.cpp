// SPDX-License-Identifier: LGPL-2.1-or-later
// What traces and statistics are told (runtime/portals/fabric/observer.h).
#include "tests/runtime/portals/support.h"

namespace umwelt::portals::test
{
namespace
{

class ObserverTest : public Machine, public Observer
{
protected:
  std::vector<MessageRecord> records;
  char memory[100] = {};
  ObserverTest()
  {
    fabric.set_observer(this);
    b.append(memory, sizeof memory, PTL_ME_OP_PUT | PTL_ME_OP_GET);
  }
  void message(const MessageRecord& record) override { records.push_back(record); }
};

TEST_F(ObserverTest, put_and_acknowledgement)
{
  ASSERT_EQ(a.put(a.md(memory, 100), 70, b, {.ack = PTL_ACK_REQ}), PTL_OK);
  settle();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].kind, net::TransferKind::put);
  EXPECT_EQ(records[0].initiator, 0U);
  EXPECT_EQ(records[0].target, 1U);
  EXPECT_EQ(records[0].source_node, a.process.node());
  EXPECT_EQ(records[0].target_node, b.process.node());
  EXPECT_EQ(records[0].payload, 70U);
  EXPECT_EQ(records[0].start, 0);
  EXPECT_EQ(records[0].end, model.header_delay + model.payload_delay);
  EXPECT_TRUE(records[0].delivered);
  EXPECT_EQ(records[1].kind, net::TransferKind::ack);
  EXPECT_EQ(records[1].initiator, 0U); // of the operation
  EXPECT_EQ(records[1].source_node, b.process.node());
  EXPECT_EQ(records[1].start, records[0].end);
}

TEST_F(ObserverTest, get_and_reply)
{
  ASSERT_EQ(a.get(a.md(memory, 100), 70, b), PTL_OK);
  settle();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].kind, net::TransferKind::get);
  EXPECT_EQ(records[0].payload, 0U);
  EXPECT_EQ(records[1].kind, net::TransferKind::reply);
  EXPECT_EQ(records[1].payload, 70U);
}

TEST_F(ObserverTest, lost_message)
{
  model.fate = [](const net::Transfer&) { return TestModel::Fate::fail_at_once; };
  ASSERT_EQ(a.put(a.md(memory, 100), 70, b), PTL_OK);
  settle();
  ASSERT_EQ(records.size(), 1U);
  EXPECT_FALSE(records[0].delivered);
}

TEST_F(ObserverTest, message_to_nobody)
{
  b.process.detach();
  ptl_process_t rank{};
  rank.rank = 1;
  ASSERT_EQ(api::PtlPut(a.process, a.md(memory, 100), 0, 70, PTL_NO_ACK_REQ, rank, 0, 0, 0, nullptr, 0), PTL_OK);
  settle();
  EXPECT_EQ(records.at(0).target, no_rank);
}

} // namespace
} // namespace umwelt::portals::test
