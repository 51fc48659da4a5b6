// SPDX-License-Identifier: LGPL-2.1-or-later
// What programs see when the network gives up or a process goes (Portals 4.3, 3.13: failure of an operation).
#include "tests/runtime/portals/support.h"

namespace umwelt::portals::test
{
namespace
{

using Fate = TestModel::Fate;

class FailureTest : public Machine
{
protected:
  char source[256] = "a message of more bytes than a header carries";
  char target[256] = {};
  const unsigned counted = PTL_MD_EVENT_CT_SEND | PTL_MD_EVENT_CT_ACK | PTL_MD_EVENT_CT_REPLY;
  FailureTest() { b.append(target, sizeof target, PTL_ME_OP_PUT | PTL_ME_OP_GET | PTL_ME_EVENT_LINK_DISABLE); }
  // Requests, or responses only.
  void fail(Fate how, bool responses = false)
  {
    model.fate = [=](const net::Transfer& transfer) {
      return net::is_response(transfer.kind) == responses ? how : Fate::deliver;
    };
  }
  void put(ptl_ack_req_t ack = PTL_ACK_REQ)
  {
    ASSERT_EQ(a.put(a.md(source, sizeof source, counted), sizeof source, b, {.ack = ack}), PTL_OK);
    settle();
    EXPECT_EQ(fabric.in_flight(), 0U);
  }
  void get()
  {
    ASSERT_EQ(a.get(a.md(source, sizeof source, counted), sizeof source, b), PTL_OK);
    settle();
    EXPECT_EQ(fabric.in_flight(), 0U);
  }
};

// ACK only follows a SEND that succeeded.
TEST_F(FailureTest, put_that_never_left)
{
  fail(Fate::fail_at_once);
  put();
  const auto events = a.initiator_events();
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_SEND}));
  EXPECT_EQ(events[0].ni_fail_type, PTL_NI_UNDELIVERABLE);
  EXPECT_EQ(a.count(a.initiator_ct).success, 0U);
  EXPECT_EQ(a.count(a.initiator_ct).failure, 1U);
  EXPECT_TRUE(b.target_events().empty());
}

// Nobody hears of SEND: the acknowledgement tells.
TEST_F(FailureTest, put_that_never_left_without_send)
{
  fail(Fate::fail_at_once);
  const ptl_handle_md_t md = a.md(source, sizeof source, PTL_MD_EVENT_SEND_DISABLE);
  ASSERT_EQ(a.put(md, sizeof source, b, {.ack = PTL_ACK_REQ}), PTL_OK);
  settle();
  const auto events = a.initiator_events();
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_ACK}));
  EXPECT_EQ(events[0].ni_fail_type, PTL_NI_UNDELIVERABLE);
}

TEST_F(FailureTest, put_lost_after_send)
{
  fail(Fate::fail_after_source);
  put();
  const auto events = a.initiator_events();
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_SEND, PTL_EVENT_ACK}));
  EXPECT_EQ(events[0].ni_fail_type, PTL_NI_OK);
  EXPECT_EQ(events[1].ni_fail_type, PTL_NI_UNDELIVERABLE);
  EXPECT_EQ(events[1].mlength, 0U);
  EXPECT_EQ(a.count(a.initiator_ct).success, 1U);
  EXPECT_EQ(a.count(a.initiator_ct).failure, 1U);
}

TEST_F(FailureTest, put_lost_after_send_without_acknowledgement)
{
  fail(Fate::fail_after_source);
  put(PTL_NO_ACK_REQ);
  EXPECT_EQ(types(a.initiator_events()), (std::vector<int>{PTL_EVENT_SEND}));
}

// Even an operation-completed acknowledgement cannot say that a lost message has completed.
TEST_F(FailureTest, operation_completed_acknowledgement)
{
  fail(Fate::fail_after_source);
  ASSERT_EQ(a.put(a.md(source, 256, PTL_MD_EVENT_CT_ACK), 256, b, {.ack = PTL_OC_ACK_REQ}), PTL_OK);
  settle();
  EXPECT_EQ(a.count(a.initiator_ct).failure, 1U);
}

// The target has matched: it hears of the failure too.
TEST_F(FailureTest, put_lost_after_matching)
{
  fail(Fate::fail_after_header);
  put();
  const auto events = b.target_events();
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_PUT}));
  EXPECT_EQ(events[0].ni_fail_type, PTL_NI_UNDELIVERABLE);
  EXPECT_EQ(events[0].mlength, 0U);
  EXPECT_EQ(target[0], 0);
}

// The data arrived, but the initiator cannot be told that its buffer is free.
TEST_F(FailureTest, put_delivered_but_never_confirmed)
{
  fail(Fate::fail_before_source);
  put();
  EXPECT_STREQ(target, source);
  EXPECT_EQ(b.target_events().at(0).ni_fail_type, PTL_NI_OK);
  const auto events = a.initiator_events();
  EXPECT_EQ(events.at(0).type, PTL_EVENT_SEND);
  EXPECT_EQ(events.at(0).ni_fail_type, PTL_NI_UNDELIVERABLE);
}

TEST_F(FailureTest, lost_acknowledgement)
{
  fail(Fate::fail_after_source, true);
  put();
  EXPECT_STREQ(target, source);
  const auto events = a.initiator_events();
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_SEND, PTL_EVENT_ACK}));
  EXPECT_EQ(events[1].ni_fail_type, PTL_NI_UNDELIVERABLE);
}

TEST_F(FailureTest, lost_get)
{
  fail(Fate::fail_at_once);
  get();
  const auto events = a.initiator_events();
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_REPLY}));
  EXPECT_EQ(events[0].ni_fail_type, PTL_NI_UNDELIVERABLE);
  EXPECT_EQ(a.count(a.initiator_ct).failure, 1U);
}

// The reply arrived; what is lost is the news for the target that its memory is free.
TEST_F(FailureTest, reply_delivered_but_never_confirmed)
{
  fail(Fate::fail_before_source, true);
  get();
  const auto events = a.initiator_events();
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_REPLY})); // once
  EXPECT_EQ(events[0].ni_fail_type, PTL_NI_OK);
  EXPECT_EQ(b.target_events().at(0).ni_fail_type, PTL_NI_UNDELIVERABLE);
}

TEST_F(FailureTest, acknowledgement_delivered_but_never_confirmed)
{
  fail(Fate::fail_before_source, true);
  put();
  const auto events = a.initiator_events();
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_SEND, PTL_EVENT_ACK}));
  EXPECT_EQ(events[1].ni_fail_type, PTL_NI_OK);
  EXPECT_EQ(b.target_events().at(0).ni_fail_type, PTL_NI_OK);
}

class LostReplyTest : public FailureTest, public ::testing::WithParamInterface<Fate>
{
};

TEST_P(LostReplyTest, initiator_and_target_hear_of_it)
{
  fail(GetParam(), true);
  get();
  const auto events = a.initiator_events();
  ASSERT_EQ(types(events), (std::vector<int>{PTL_EVENT_REPLY}));
  EXPECT_EQ(events[0].ni_fail_type, PTL_NI_UNDELIVERABLE);
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_GET}));
}

TEST_P(LostReplyTest, descriptors_are_released)
{
  fail(GetParam(), true);
  const ptl_handle_md_t md = a.md(source, sizeof source);
  ASSERT_EQ(a.get(md, sizeof source, b), PTL_OK);
  EXPECT_EQ(api::PtlMDRelease(a.process, md), PTL_OK);
}

INSTANTIATE_TEST_SUITE_P(Fates, LostReplyTest,
                         ::testing::Values(Fate::fail_at_once, Fate::fail_after_source, Fate::fail_after_header));

// A process may end at any moment of any operation; the other one is told, and nothing touches its memory any more.
struct Ending {
  Operation operation;
  bool initiator; // who ends
  TestModel::SourceRead source_read;
};

class DetachTest : public Machine, public ::testing::WithParamInterface<Ending>
{
};

TEST_P(DetachTest, at_every_step)
{
  const Ending& ending = GetParam();
  model.source_read = ending.source_read;
  for (int steps = 0; steps < 16; ++steps) {
    Peer one{fabric, 2, 2, 0};
    Peer other{fabric, 3, 3, 0};
    for (Peer* peer : {&one, &other})
      peer->open(PTL_NI_MATCHING | PTL_NI_PHYSICAL);
    auto mine = std::make_unique<char[]>(256);
    auto theirs = std::make_unique<char[]>(256);
    other.append(theirs.get(), 256, PTL_ME_OP_PUT | PTL_ME_OP_GET, {.list = PTL_OVERFLOW_LIST});
    const ptl_handle_md_t md = one.md(mine.get(), 256);
    switch (ending.operation) {
    case Operation::put:
      ASSERT_EQ(one.put(md, 256, other, {.ack = PTL_ACK_REQ}), PTL_OK);
      break;
    case Operation::get:
      ASSERT_EQ(one.get(md, 256, other), PTL_OK);
      break;
    default:
      ASSERT_EQ(one.fetch(md, md, 256, other, PTL_SUM, PTL_UINT64_T), PTL_OK);
      break;
    }
    for (int i = 0; i < steps; ++i)
      timeline.step();
    Peer& ended = ending.initiator ? one : other;
    Peer& stays = ending.initiator ? other : one;
    ended.process.detach();
    (ending.initiator ? mine : theirs).reset(); // a sanitizer sees who touches it
    EXPECT_TRUE(ended.process.detached());
    EXPECT_EQ(api::PtlInit(ended.process), PTL_FAIL);
    settle();
    EXPECT_EQ(fabric.in_flight(), 0U);
    EXPECT_EQ(model.in_flight(), 0U);
    if (!ending.initiator) { // the outcome is told exactly once
      int outcomes = 0;
      for (const ptl_event_t& event : stays.initiator_events())
        outcomes += event.type == PTL_EVENT_ACK || event.type == PTL_EVENT_REPLY ? 1 : 0;
      EXPECT_EQ(outcomes, 1);
    }
    EXPECT_EQ(stays.process.interface(Ni::physical)->unexpected_headers,
              static_cast<int>(stays.process.interface(Ni::physical)->pt(0)->unexpected.size()));
  }
  EXPECT_EQ(fabric.headers().in_use(), 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Endings, DetachTest,
    ::testing::Values(Ending{Operation::put, false, TestModel::SourceRead::before_header},
                      Ending{Operation::put, false, TestModel::SourceRead::before_delivery},
                      Ending{Operation::put, false, TestModel::SourceRead::after_delivery},
                      Ending{Operation::put, true, TestModel::SourceRead::before_header},
                      Ending{Operation::put, true, TestModel::SourceRead::before_delivery},
                      Ending{Operation::put, true, TestModel::SourceRead::after_delivery},
                      Ending{Operation::get, false, TestModel::SourceRead::before_header},
                      Ending{Operation::get, false, TestModel::SourceRead::before_delivery},
                      Ending{Operation::get, false, TestModel::SourceRead::after_delivery},
                      Ending{Operation::get, true, TestModel::SourceRead::before_delivery},
                      Ending{Operation::get, true, TestModel::SourceRead::after_delivery},
                      Ending{Operation::fetch_atomic, false, TestModel::SourceRead::before_header},
                      Ending{Operation::fetch_atomic, false, TestModel::SourceRead::after_delivery},
                      Ending{Operation::fetch_atomic, true, TestModel::SourceRead::before_header},
                      Ending{Operation::fetch_atomic, true, TestModel::SourceRead::after_delivery}));

// Closing the interface instead of ending the process.
TEST_F(FailureTest, interface_closed_with_messages_under_way)
{
  ASSERT_EQ(a.put(a.md(source, 256), 256, b, {.ack = PTL_ACK_REQ}), PTL_OK);
  while (model.deposited == 0)
    ASSERT_TRUE(timeline.step());
  EXPECT_EQ(api::PtlNIFini(b.process, b.ni), PTL_OK);
  settle();
  EXPECT_EQ(a.initiator_events().at(1).ni_fail_type, PTL_NI_UNDELIVERABLE);
}

TEST_F(FailureTest, initiator_closes_its_interface)
{
  ASSERT_EQ(a.put(a.md(source, 256), 256, b, {.ack = PTL_ACK_REQ}), PTL_OK);
  EXPECT_EQ(api::PtlNIFini(a.process, a.ni), PTL_OK);
  settle();
  EXPECT_EQ(fabric.in_flight(), 0U);
  EXPECT_EQ(types(b.target_events()), (std::vector<int>{PTL_EVENT_PUT}));
  EXPECT_EQ(target[0], 0); // the source was gone before it was read
}

// PTL_TARGET_BIND_INACCESSIBLE: an entry may span memory that does not exist; using that part fails.
TEST_F(FailureTest, memory_that_is_not_mapped)
{
  ptl_pt_index_t index = 0;
  ASSERT_EQ(api::PtlPTAlloc(b.process, b.ni, 0, b.target_eq, 1, &index), PTL_OK);
  b.pt = index;
  b.append(nullptr, PTL_SIZE_MAX, PTL_ME_OP_PUT | PTL_ME_OP_GET | PTL_ME_EVENT_LINK_DISABLE);
  const ptl_handle_md_t md = a.md(source, sizeof source, PTL_MD_EVENT_SEND_DISABLE);
  ASSERT_EQ(a.put(md, 8, b, {.ack = PTL_ACK_REQ, .remote_offset = 16, .pt = index}), PTL_OK);
  settle();
  EXPECT_EQ(a.initiator_events().at(0).ni_fail_type, PTL_NI_SEGV);
  EXPECT_EQ(b.target_events().at(0).ni_fail_type, PTL_NI_SEGV);
  ASSERT_EQ(a.put(md, 8, b, {.ack = PTL_ACK_REQ, .remote_offset = reinterpret_cast<ptl_size_t>(target), .pt = index}),
            PTL_OK);
  settle();
  EXPECT_EQ(a.initiator_events().at(0).ni_fail_type, PTL_NI_OK);
  EXPECT_EQ(std::string(target, 8), std::string(source, 8));
}

} // namespace
} // namespace umwelt::portals::test
