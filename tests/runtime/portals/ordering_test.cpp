// SPDX-License-Identifier: LGPL-2.1-or-later
// Order of messages between two processes (Portals 4.3, 2.5 and 3.6 max_waw_ordered_size, max_war_ordered_size,
// PTL_TOTAL_DATA_ORDERING): what they do to the target's memory is what it would be if each were over before the next
// began, whatever the network does.
#include <array>
#include <numeric>
#include <random>

#include "tests/runtime/portals/support.h"

namespace umwelt::portals::test
{
namespace
{

constexpr unsigned all_operations = PTL_ME_OP_PUT | PTL_ME_OP_GET | PTL_ME_EVENT_LINK_DISABLE;

std::string name_of(const ::testing::TestParamInfo<TestModel::SourceRead>& test)
{
  constexpr const char* names[] = {"before_header", "before_delivery", "after_delivery"};
  return names[static_cast<int>(test.param)];
}

class OrderingTest : public Machine, public ::testing::WithParamInterface<TestModel::SourceRead>
{
protected:
  OrderingTest()
  {
    model.source_read = GetParam();
    // The first message is slow, those behind it are not.
    model.slowness = [this](const net::Transfer& transfer) {
      return !net::is_response(transfer.kind) && requests++ == 0 ? sim::millisecond : 0;
    };
    b.append(memory.data(), memory.size(), all_operations);
    std::iota(first.begin(), first.end(), std::uint8_t{1});
    second.fill(99);
  }
  void run_until(sim::SimTime time)
  {
    while (timeline.next() <= time)
      timeline.step();
  }
  template <class Bytes> ptl_handle_md_t md_of(Bytes& bytes) { return a.silent_md(bytes.data(), bytes.size()); }

  unsigned requests = 0;
  std::array<std::uint8_t, 64> memory{};
  std::array<std::uint8_t, 64> first{};
  std::array<std::uint8_t, 64> second{};
  std::array<std::uint8_t, 64> result{};
};

TEST_P(OrderingTest, write_after_write)
{
  ASSERT_EQ(a.put(md_of(first), 64, b), PTL_OK);
  ASSERT_EQ(a.put(md_of(second), 8, b), PTL_OK);
  settle();
  EXPECT_EQ(memory[0], 99);
  EXPECT_EQ(memory[7], 99);
  EXPECT_EQ(memory[8], 9);
}

TEST_P(OrderingTest, read_after_write)
{
  ASSERT_EQ(a.put(md_of(first), 64, b), PTL_OK);
  ASSERT_EQ(a.get(md_of(result), 64, b), PTL_OK);
  settle();
  EXPECT_EQ(result, first);
}

TEST_P(OrderingTest, write_after_read)
{
  // The request is fast, the reply is read late.
  model.slowness = [](const net::Transfer& t) { return t.kind == net::TransferKind::reply ? sim::millisecond : 0; };
  memory = first;
  ASSERT_EQ(a.get(md_of(result), 64, b), PTL_OK);
  ASSERT_EQ(a.put(md_of(second), 64, b), PTL_OK);
  settle();
  EXPECT_EQ(result, first);
  EXPECT_EQ(memory, second);
}

TEST_P(OrderingTest, atomic_after_write)
{
  ASSERT_EQ(a.put(md_of(first), 64, b), PTL_OK);
  ASSERT_EQ(a.atomic(md_of(second), 64, b, PTL_SUM, PTL_UINT8_T), PTL_OK);
  settle();
  EXPECT_EQ(memory[0], 100);
  EXPECT_EQ(memory[63], 64 + 99);
}

TEST_P(OrderingTest, fetch_after_atomic)
{
  ASSERT_EQ(a.atomic(md_of(first), 64, b, PTL_SUM, PTL_UINT8_T), PTL_OK);
  ASSERT_EQ(a.fetch(md_of(result), md_of(second), 64, b, PTL_SUM, PTL_UINT8_T), PTL_OK);
  settle();
  EXPECT_EQ(result, first);
}

// PTL_TOTAL_DATA_ORDERING, which the engine offers: long messages as well.
TEST_P(OrderingTest, short_write_after_long_write)
{
  std::vector<std::uint8_t> large(100000, 7);
  std::vector<std::uint8_t> target(large.size());
  b.append(target.data(), target.size(), all_operations, {.bits = 1});
  ASSERT_EQ(a.put(md_of(large), large.size(), b, {.bits = 1}), PTL_OK);
  ASSERT_EQ(a.put(md_of(second), 8, b, {.bits = 1, .remote_offset = 99992}), PTL_OK);
  settle();
  EXPECT_EQ(target[99991], 7);
  EXPECT_EQ(target[99992], 99);
}

TEST_P(OrderingTest, messages_that_do_not_touch_are_not_held_up)
{
  ASSERT_EQ(a.put(md_of(first), 32, b), PTL_OK);
  ASSERT_EQ(a.put(md_of(second), 32, b, {.remote_offset = 32}), PTL_OK);
  run_until(100 * sim::microsecond);
  EXPECT_EQ(memory[32], 99);
  EXPECT_EQ(memory[0], 0);
  settle();
  EXPECT_EQ(memory[0], 1);
}

TEST_P(OrderingTest, unordered_messages_may_overtake)
{
  const ptl_handle_md_t late = a.silent_md(first.data(), 64, PTL_MD_UNORDERED);
  ASSERT_EQ(a.put(late, 64, b), PTL_OK);
  ASSERT_EQ(a.put(md_of(second), 64, b), PTL_OK);
  settle();
  EXPECT_EQ(memory, first);
}

TEST_P(OrderingTest, messages_of_others_may_overtake)
{
  std::array<std::uint8_t, 64> own{};
  own.fill(3);
  const ptl_handle_md_t md = b.silent_md(own.data(), own.size());
  ASSERT_EQ(a.put(md_of(first), 64, b), PTL_OK);
  ASSERT_EQ(b.put(md, 64, b), PTL_OK);
  settle();
  EXPECT_EQ(memory, first);
}

TEST_P(OrderingTest, interface_closed_while_messages_wait_for_each_other)
{
  ASSERT_EQ(a.put(md_of(first), 64, b), PTL_OK);
  ASSERT_EQ(a.get(md_of(result), 64, b), PTL_OK);
  run_until(model.header_delay);
  ASSERT_EQ(api::PtlNIFini(b.process, b.ni), PTL_OK);
  settle();
  EXPECT_EQ(fabric.in_flight(), 0U);
}

INSTANTIATE_TEST_SUITE_P(SourceRead, OrderingTest,
                         ::testing::Values(TestModel::SourceRead::before_header, TestModel::SourceRead::before_delivery,
                                           TestModel::SourceRead::after_delivery),
                         name_of);

// Random operations on a few bytes, against the same operations one after the other.
class RandomOrdering : public Machine, public ::testing::WithParamInterface<unsigned>
{
protected:
  static constexpr std::size_t area = 160;
  static constexpr std::size_t most = 100; // bytes of an operation
  struct Issued {
    std::array<std::uint8_t, most> sent{};
    std::array<std::uint8_t, most> got{};
    std::array<std::uint8_t, most> expected{};
  };
  std::mt19937 random{GetParam()};
  std::size_t pick(std::size_t count) { return random() % count; }

  std::array<std::uint8_t, area> memory{};
  std::array<std::uint8_t, area> reference{};
  std::deque<Issued> issued;

  void issue();
};

void RandomOrdering::issue()
{
  Issued& operation = issued.emplace_back();
  for (std::uint8_t& byte : operation.sent)
    byte = static_cast<std::uint8_t>(random());
  const std::size_t length = 1 + pick(most);
  const std::size_t at = pick(area - length + 1);
  const ptl_handle_md_t sent = a.silent_md(operation.sent.data(), most);
  const ptl_handle_md_t got = a.silent_md(operation.got.data(), most);
  const PutArguments where{.remote_offset = at};
  std::uint8_t* target = &reference[at];
  const auto sum = [&] {
    for (std::size_t i = 0; i < length; ++i)
      target[i] = static_cast<std::uint8_t>(target[i] + operation.sent[i]);
  };
  switch (pick(4)) {
  case 0:
    ASSERT_EQ(a.put(sent, length, b, where), PTL_OK);
    std::copy_n(operation.sent.begin(), length, target);
    break;
  case 1:
    ASSERT_EQ(a.get(got, length, b, where), PTL_OK);
    std::copy_n(target, length, operation.expected.begin());
    break;
  case 2:
    ASSERT_EQ(a.atomic(sent, length, b, PTL_SUM, PTL_UINT8_T, where), PTL_OK);
    sum();
    break;
  default:
    ASSERT_EQ(a.fetch(got, sent, length, b, PTL_SUM, PTL_UINT8_T, where), PTL_OK);
    std::copy_n(target, length, operation.expected.begin());
    sum();
    break;
  }
}

TEST_P(RandomOrdering, as_if_one_after_the_other)
{
  constexpr TestModel::SourceRead modes[] = {TestModel::SourceRead::before_header,
                                             TestModel::SourceRead::before_delivery,
                                             TestModel::SourceRead::after_delivery};
  model.source_read = modes[GetParam() % 3];
  model.slowness = [this](const net::Transfer&) { return static_cast<sim::SimTime>(pick(5000)) * sim::nanosecond; };
  std::array<ptl_iovec_t, 3> pieces{{{&memory[0], 50}, {&memory[50], 30}, {&memory[80], area - 80}}};
  if (pick(2))
    b.append(memory.data(), area, all_operations);
  else
    b.append(pieces.data(), pieces.size(), all_operations | PTL_IOVEC);
  for (int i = 0; i < 60; ++i) {
    issue();
    for (std::size_t steps = pick(4); steps > 0; --steps)
      timeline.step();
  }
  settle();
  EXPECT_EQ(memory, reference);
  for (std::size_t i = 0; i < issued.size(); ++i)
    EXPECT_EQ(issued[i].got, issued[i].expected) << "operation " << i;
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomOrdering, ::testing::Range(0U, 30U));

} // namespace
} // namespace umwelt::portals::test
