// SPDX-License-Identifier: LGPL-2.1-or-later
// Requests with more behind a pointer than one object, and those that do not fit.
#include "runtime/worker/arguments.h"

#include <array>
#include <csignal>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/portals/data/atomics.h"
#include "tests/runtime/worker/in_arena.h"

namespace umwelt::worker
{
namespace
{

using test::in_arena;
using testing::ElementsAre;

class ArgumentsTest : public testing::Test
{
protected:
  // The arguments as the runtime finds them.
  template <class Args> static Args& arrived(const Arguments& request) { return *static_cast<Args*>(request.copy()); }

  std::unique_ptr<Slot> slot = std::make_unique<Slot>();
};

TEST_F(ArgumentsTest, AddressesOfTheRankStayWhatTheyAre)
{
  int mine = 0;
  ptl_me_t me{};
  me.start = &mine;
  me.length = sizeof mine;
  ptl_handle_me_t handle = 0;
  umw_args_PtlMEAppend original{0, 1, 2, &me, PTL_OVERFLOW_LIST, &mine, &handle};
  Arguments request(*slot, UMW_OP_PtlMEAppend, &original);
  auto& copy = arrived<umw_args_PtlMEAppend>(request);
  EXPECT_EQ(copy.user_ptr, &mine);
  EXPECT_EQ(copy.me->start, &mine);
  EXPECT_EQ(copy.ptl_list, PTL_OVERFLOW_LIST);
  *copy.me_handle = 77;
  request.bring_back();
  EXPECT_EQ(handle, 77U);
  EXPECT_EQ(original.me, &me);
  EXPECT_EQ(original.me_handle, &handle);
}

TEST_F(ArgumentsTest, FutexWordsAndNewThreadsAreNotLookedBehind)
{
  auto* nowhere = reinterpret_cast<std::uint32_t*>(0x10);
  umw_args_umw_futex futex{0, nowhere, 1, 2, 3, nowhere, 4};
  Arguments waits(*slot, UMW_OP_umw_futex, &futex);
  EXPECT_EQ(arrived<umw_args_umw_futex>(waits).word, nowhere);
  EXPECT_EQ(arrived<umw_args_umw_futex>(waits).second_word, nowhere);
  waits.bring_back();
  EXPECT_EQ(futex.word, nowhere);

  const umw_thread_start start = [](void*) {};
  umw_args_umw_thread_create create{0, start, nowhere, 1 << 20, 5, 6};
  Arguments creates(*slot, UMW_OP_umw_thread_create, &create);
  auto& copy = arrived<umw_args_umw_thread_create>(creates);
  EXPECT_EQ(copy.start, start);
  EXPECT_EQ(copy.argument, nowhere);
  EXPECT_EQ(copy.thread_pointer, 5U);
  EXPECT_EQ(copy.kernel_tid, 6);
}

TEST_F(ArgumentsTest, AMapOfProcessesIsCarriedWhole)
{
  std::vector<ptl_process_t> map(1000);
  for (std::size_t i = 0; i < map.size(); ++i)
    map[i].phys = {static_cast<ptl_nid_t>(i), 7};
  umw_args_PtlSetMap original{0, 1, map.size(), map.data()};
  const Arguments request(*slot, UMW_OP_PtlSetMap, &original);
  const ptl_process_t* copy = arrived<umw_args_PtlSetMap>(request).mapping;
  EXPECT_TRUE(in_arena(*slot, copy));
  EXPECT_EQ(std::memcmp(copy, map.data(), map.size() * sizeof map[0]), 0);
}

TEST_F(ArgumentsTest, OfAResultThatIsAnArrayOnlyWhatWasWrittenChanges)
{
  std::vector<ptl_process_t> map(4);
  for (ptl_process_t& process : map)
    process.phys = {9, 9};
  ptl_size_t actual = 0;
  umw_args_PtlGetMap original{0, 1, map.size(), map.data(), &actual};
  Arguments request(*slot, UMW_OP_PtlGetMap, &original);
  auto& copy = arrived<umw_args_PtlGetMap>(request);
  for (std::size_t i = 0; i < 2; ++i) // there are no more
    copy.mapping[i].phys = {static_cast<ptl_nid_t>(i), 5};
  *copy.actual_map_size = 2;
  request.bring_back();
  EXPECT_EQ(actual, 2U);
  EXPECT_EQ(map[1].phys.nid, 1U);
  EXPECT_EQ(map[1].phys.pid, 5U);
  EXPECT_EQ(map[2].phys.nid, 9U);
  EXPECT_EQ(map[3].phys.pid, 9U);
}

TEST_F(ArgumentsTest, QueuesThatArePolledArriveAndTheEventComesBack)
{
  std::array<ptl_handle_eq_t, 3> queues{11, 12, 13};
  ptl_event_t event{};
  unsigned which = 9;
  umw_args_PtlEQPoll original{0, queues.data(), queues.size(), 100, &event, &which};
  Arguments request(*slot, UMW_OP_PtlEQPoll, &original);
  auto& copy = arrived<umw_args_PtlEQPoll>(request);
  EXPECT_THAT(std::vector(copy.eq_handles, copy.eq_handles + 3), ElementsAre(11, 12, 13));
  copy.event->mlength = 64;
  *copy.which = 2;
  request.bring_back();
  EXPECT_EQ(event.mlength, 64U);
  EXPECT_EQ(which, 2U);
}

TEST_F(ArgumentsTest, CountersThatArePolledArriveWithTheirTests)
{
  std::array<ptl_handle_ct_t, 2> counters{21, 22};
  std::array<ptl_size_t, 2> tests{5, 6};
  ptl_ct_event_t event{};
  umw_args_PtlCTPoll original{0, counters.data(), tests.data(), counters.size(), 100, &event, nullptr};
  Arguments request(*slot, UMW_OP_PtlCTPoll, &original);
  auto& copy = arrived<umw_args_PtlCTPoll>(request);
  EXPECT_THAT(std::vector(copy.ct_handles, copy.ct_handles + 2), ElementsAre(21, 22));
  EXPECT_THAT(std::vector(copy.tests, copy.tests + 2), ElementsAre(5, 6));
  copy.event->success = 5;
  request.bring_back();
  EXPECT_EQ(event.success, 5U);
}

// Memory whose end nothing can be read behind.
class MemoryEnd
{
public:
  MemoryEnd() : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE)))
  {
    begin_ = static_cast<char*>(mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(begin_ + page_, page_, PROT_NONE);
  }
  MemoryEnd(const MemoryEnd&) = delete;
  MemoryEnd& operator=(const MemoryEnd&) = delete;
  ~MemoryEnd() { munmap(begin_, 2 * page_); }
  // The last bytes.
  [[nodiscard]] char* last(std::size_t bytes) const { return begin_ + page_ - bytes; }

private:
  std::size_t page_;
  char* begin_;
};

TEST_F(ArgumentsTest, NothingIsReadBehindTheOperandOfASwap)
{
  const MemoryEnd memory;
  for (int datatype = 0; datatype < 256; ++datatype) {
    const auto type = static_cast<ptl_datatype_t>(datatype);
    const std::size_t size = portals::atomics::item_size(type); // 0: no datatype
    char* operand = memory.last(size);
    std::iota(operand, operand + size, static_cast<char>(datatype));
    umw_args_PtlSwap swap{};
    swap.operand = operand;
    swap.datatype = type;
    const Arguments request(*slot, UMW_OP_PtlSwap, &swap);
    EXPECT_EQ(std::memcmp(arrived<umw_args_PtlSwap>(request).operand, operand, size), 0) << datatype;
    umw_args_PtlTriggeredSwap triggered{};
    triggered.operand = operand;
    triggered.datatype = type;
    const Arguments later(*slot, UMW_OP_PtlTriggeredSwap, &triggered);
    EXPECT_EQ(std::memcmp(arrived<umw_args_PtlTriggeredSwap>(later).operand, operand, size), 0) << datatype;
  }
}

TEST_F(ArgumentsTest, TextsAndDataAreReadNoFurtherThanTheyGo)
{
  const MemoryEnd texts;
  const MemoryEnd bytes;
  umw_args_umw_key_put original{0, std::strcpy(texts.last(4), "key"), std::strcpy(bytes.last(3), "ab"), 3};
  const Arguments request(*slot, UMW_OP_umw_key_put, &original);
  const auto& copy = arrived<umw_args_umw_key_put>(request);
  EXPECT_STREQ(copy.key, "key");
  EXPECT_EQ(std::memcmp(copy.data, "ab", 3), 0);
}

TEST_F(ArgumentsTest, AValueComesBackAsLongAsItIs)
{
  std::string buffer(8, '.');
  umw_args_umw_key_get original{0, "umwelt", 3, "key", buffer.data(), buffer.size(), 1};
  Arguments request(*slot, UMW_OP_umw_key_get, &original);
  auto& copy = arrived<umw_args_umw_key_get>(request);
  EXPECT_STREQ(copy.key, "key");
  std::memcpy(copy.buffer, "abcdefgh", 8);
  copy.result = 3;
  request.bring_back();
  EXPECT_EQ(original.result, 3);
  EXPECT_EQ(buffer, "abc.....");
}

TEST_F(ArgumentsTest, OfALongerValueComesBackWhatFits)
{
  std::string buffer(4, '.');
  umw_args_umw_key_get original{0, "umwelt", 3, "key", buffer.data(), buffer.size(), 1};
  Arguments request(*slot, UMW_OP_umw_key_get, &original);
  auto& copy = arrived<umw_args_umw_key_get>(request);
  std::memcpy(copy.buffer, "abcd", 4);
  copy.result = 1000;
  request.bring_back();
  EXPECT_EQ(original.result, 1000);
  EXPECT_EQ(buffer, "abcd");
}

TEST_F(ArgumentsTest, ARequestThatFailsLeavesTheResultsAsTheyWere)
{
  std::string buffer(4, '.');
  umw_args_umw_key_get get{0, "", 3, "key", buffer.data(), buffer.size(), 0};
  Arguments asks(*slot, UMW_OP_umw_key_get, &get);
  arrived<umw_args_umw_key_get>(asks).result = -ENOENT;
  asks.bring_back();
  EXPECT_EQ(buffer, "....");

  const std::array<std::int64_t, 2> setting{1, 2};
  std::array<std::int64_t, 2> old{3, 4};
  umw_args_umw_timer_set set{0, 99, 0, setting.data(), old.data()};
  Arguments sets(*slot, UMW_OP_umw_timer_set, &set);
  arrived<umw_args_umw_timer_set>(sets).result = -EINVAL;
  sets.bring_back();
  EXPECT_THAT(old, ElementsAre(3, 4));
}

TEST_F(ArgumentsTest, ASignalComesBackWithAllThatIsKnownOfIt)
{
  std::uint64_t mask = 6;
  siginfo_t information{};
  umw_args_umw_signal_take original{0, 1, &mask, &information};
  Arguments request(*slot, UMW_OP_umw_signal_take, &original);
  auto& copy = arrived<umw_args_umw_signal_take>(request);
  EXPECT_EQ(*copy.mask, 6U);
  siginfo_t taken{};
  taken.si_signo = SIGUSR1;
  taken.si_value.sival_int = 42;
  std::memcpy(copy.information, &taken, sizeof taken);
  *copy.mask = 8;
  copy.result = SIGUSR1;
  request.bring_back();
  EXPECT_EQ(original.result, SIGUSR1);
  EXPECT_EQ(mask, 8U);
  EXPECT_EQ(information.si_signo, SIGUSR1);
  EXPECT_EQ(information.si_value.sival_int, 42);
}

TEST_F(ArgumentsTest, SettingsOfTimersArePairs)
{
  const std::array<std::int64_t, 2> setting{100, 200};
  std::array<std::int64_t, 2> old{};
  umw_args_umw_timer_set set{0, 1, 0, setting.data(), old.data()};
  Arguments sets(*slot, UMW_OP_umw_timer_set, &set);
  auto& copy = arrived<umw_args_umw_timer_set>(sets);
  EXPECT_EQ(copy.setting[0], 100);
  EXPECT_EQ(copy.setting[1], 200);
  copy.old[0] = 300;
  copy.old[1] = 400;
  sets.bring_back();
  EXPECT_THAT(old, ElementsAre(300, 400));

  umw_args_umw_timer_get get{0, 1, old.data()};
  Arguments gets(*slot, UMW_OP_umw_timer_get, &get);
  arrived<umw_args_umw_timer_get>(gets).setting[1] = 500;
  gets.bring_back();
  EXPECT_EQ(old[1], 500);
}

TEST_F(ArgumentsTest, AffinityIsAsLongAsTheCallerSays)
{
  std::array<unsigned char, 16> bits{1, 2, 3};
  umw_args_umw_affinity_set set{0, 0, bits.data(), bits.size()};
  const Arguments sets(*slot, UMW_OP_umw_affinity_set, &set);
  EXPECT_EQ(std::memcmp(arrived<umw_args_umw_affinity_set>(sets).bits, bits.data(), bits.size()), 0);
  umw_args_umw_affinity_get get{0, 0, bits.data(), bits.size()};
  Arguments gets(*slot, UMW_OP_umw_affinity_get, &get);
  arrived<umw_args_umw_affinity_get>(gets).bits[15] = 9;
  gets.bring_back();
  EXPECT_EQ(bits[15], 9);
}

TEST_F(ArgumentsTest, ANestedRequestLeavesTheOuterOneAlone)
{
  ptl_event_t event{};
  umw_args_PtlEQWait outer{0, 5, &event};
  Arguments waits(*slot, UMW_OP_PtlEQWait, &outer);
  const std::uint32_t used = slot->used;
  {
    const std::string text(1000, 'x');
    umw_args_umw_warn inner{0, text.c_str()};
    Arguments warns(*slot, UMW_OP_umw_warn, &inner);
    EXPECT_EQ(arrived<umw_args_umw_warn>(warns).text, text);
    EXPECT_GE(slot->used, used + text.size());
    warns.bring_back();
  }
  EXPECT_EQ(slot->used, used);
  EXPECT_EQ(arrived<umw_args_PtlEQWait>(waits).eq_handle, 5U);
  arrived<umw_args_PtlEQWait>(waits).event->mlength = 8;
  waits.bring_back();
  EXPECT_EQ(event.mlength, 8U);
}

class RoomTest : public ArgumentsTest
{
protected:
  // A request with data of so many bytes; what it needs, if it fits.
  std::optional<std::size_t> needed_with(std::size_t bytes)
  {
    const std::vector<char> data(bytes, 'x');
    umw_args_umw_key_put original{0, nullptr, data.data(), bytes};
    const Arguments request(*slot, UMW_OP_umw_key_put, &original);
    EXPECT_EQ(slot->used, request.fit() ? request.needed() : 0);
    return request.fit() ? std::optional(request.needed()) : std::nullopt;
  }
};

TEST_F(RoomTest, IsUsedToTheLastByte)
{
  const auto empty = needed_with(0);
  ASSERT_TRUE(empty);
  EXPECT_EQ(needed_with(arena_bytes - *empty), arena_bytes);
  EXPECT_EQ(needed_with(arena_bytes - *empty + 1), std::nullopt);
  EXPECT_EQ(slot->used, 0U);
}

TEST_F(RoomTest, ARequestThatIsTooLargeSaysWhatItWouldNeed)
{
  const std::vector<char> data(300'000, 'x');
  umw_args_umw_key_put original{0, "key", data.data(), data.size()};
  const Arguments request(*slot, UMW_OP_umw_key_put, &original);
  EXPECT_FALSE(request.fit());
  EXPECT_GE(request.needed(), data.size() + sizeof original + 4);
  EXPECT_LT(request.needed(), data.size() + sizeof original + 100);
  EXPECT_EQ(slot->used, 0U);
}

// A program may say any number; nothing is looked at then.
TEST_F(RoomTest, NoSizeIsSoLargeThatItFits)
{
  const MemoryEnd memory;
  for (const ptl_size_t size : {PTL_SIZE_MAX, PTL_SIZE_MAX / 8 + 1, PTL_SIZE_MAX / 8 - 100, PTL_SIZE_MAX / 2 + 1}) {
    umw_args_PtlSetMap map{0, 1, size, reinterpret_cast<ptl_process_t*>(memory.last(0))};
    EXPECT_FALSE(Arguments(*slot, UMW_OP_PtlSetMap, &map).fit()) << size;
    umw_args_umw_key_put put{0, "key", memory.last(0), size};
    EXPECT_FALSE(Arguments(*slot, UMW_OP_umw_key_put, &put).fit()) << size;
  }
}

} // namespace
} // namespace umwelt::worker
