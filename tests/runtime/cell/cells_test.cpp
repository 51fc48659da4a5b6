// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/cell/cells.h"

#include <cerrno>
#include <csignal>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"

namespace umwelt::cell
{
namespace
{

using testing::ElementsAre;
using testing::Pair;

using Arrivals = std::vector<std::pair<unsigned, unsigned>>; // cell, slot

constexpr std::int64_t second = 1'000'000'000; // ns

// The next slot of the cell whose turn it is; in the cell.
unsigned next_turn(Board& board, unsigned cell)
{
  Mailbox& box = board.mailbox(cell);
  for (;;) {
    const std::uint32_t seen = box.doorbell.rings();
    std::uint32_t slot = 0;
    if (box.to_cell.pop(slot))
      return slot;
    box.doorbell.wait(seen, second);
  }
}

void hand_over(Board& board, unsigned cell, unsigned slot)
{
  board.mailbox(cell).to_runtime.push(slot);
  board.doorbell().ring();
}

// A cell whose threads have nothing to do.
void echo(Board& board, unsigned cell)
{
  for (;;) {
    const unsigned slot = next_turn(board, cell);
    ++board.slot(cell, slot).result;
    hand_over(board, cell, slot);
  }
}

// Waits until as many have something to say.
Arrivals arrivals(Cells& cells, std::size_t count)
{
  Arrivals all;
  while (all.size() < count)
    if (!cells.collect([&all](unsigned cell, unsigned slot) { all.emplace_back(cell, slot); }))
      cells.wait(second);
  return all;
}

Cells::Death next_death(Cells& cells)
{
  for (;;) {
    if (const auto death = cells.death())
      return *death;
    cells.collect([](unsigned, unsigned) {});
    cells.wait(second);
  }
}

// How often each cell was told that somebody may go on.
std::vector<unsigned> sent(Cells& cells)
{
  std::vector<unsigned> rings;
  for (unsigned cell = 0; cell < cells.count(); ++cell)
    rings.push_back(cells.board().mailbox(cell).doorbell.rings());
  return rings;
}

TEST(CellsTest, WhoeverIsLetGoOnComesBackWithHisAnswer)
{
  Cells cells(3, 3, 3);
  cells.start([&cells](unsigned cell) { echo(cells.board(), cell); });
  for (int round = 1; round <= 100; ++round) {
    for (unsigned cell = 0; cell < 3; ++cell)
      cells.release(cell, cell + 10);
    EXPECT_THAT(arrivals(cells, 3), testing::UnorderedElementsAre(Pair(0, 10), Pair(1, 11), Pair(2, 12)));
    EXPECT_EQ(cells.board().slot(2, 12).result, round);
  }
}

TEST(CellsTest, ThreadsOfACellComeBackInTheOrderInWhichTheyWereLetGoOn)
{
  Cells cells(1, 1, 1);
  cells.start([&cells](unsigned cell) { echo(cells.board(), cell); });
  for (const unsigned slot : {5U, 0U, 1023U, 7U})
    cells.release(0, slot);
  EXPECT_THAT(arrivals(cells, 4), ElementsAre(Pair(0, 5), Pair(0, 0), Pair(0, 1023), Pair(0, 7)));
}

TEST(CellsTest, ToCollectDoesNotWait)
{
  Cells cells(1, 1, 1);
  cells.start([](unsigned) {
    for (;;)
      pause();
  });
  cells.release(0, 0);
  EXPECT_FALSE(cells.collect([](unsigned, unsigned) { ADD_FAILURE(); }));
}

TEST(CellsTest, NoMoreThanSoManyComputeAtTheSameTime)
{
  Cells cells(4, 4, 2);
  cells.start([&cells](unsigned cell) { echo(cells.board(), cell); });
  for (const unsigned cell : {3U, 1U, 0U, 2U})
    cells.release(cell, 0);
  EXPECT_THAT(sent(cells), ElementsAre(0, 1, 0, 1));
  cells.release(1, 1); // it computes as it is
  EXPECT_THAT(sent(cells), ElementsAre(0, 2, 0, 1));
  cells.release(0, 1); // after the one before it
  EXPECT_THAT(sent(cells), ElementsAre(0, 2, 0, 1));
  Arrivals all = arrivals(cells, 6);
  std::sort(all.begin(), all.end());
  EXPECT_THAT(all, ElementsAre(Pair(0, 0), Pair(0, 1), Pair(1, 0), Pair(1, 1), Pair(2, 0), Pair(3, 0)));
}

TEST(CellsTest, WhoeverHadToWaitGoesOnWhenAnotherIsBackInTheOrderOfRelease)
{
  Cells cells(3, 3, 1);
  const int gate = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
  cells.start([&cells, gate](unsigned cell) {
    for (;;) {
      const unsigned slot = next_turn(cells.board(), cell);
      eventfd_t one = 0;
      eventfd_read(gate, &one);
      hand_over(cells.board(), cell, slot);
    }
  });
  for (const unsigned cell : {2U, 1U, 0U})
    cells.release(cell, 0);
  EXPECT_THAT(sent(cells), ElementsAre(0, 0, 1));
  eventfd_write(gate, 1);
  EXPECT_THAT(arrivals(cells, 1), ElementsAre(Pair(2, 0)));
  EXPECT_THAT(sent(cells), ElementsAre(0, 1, 1));
  eventfd_write(gate, 1);
  EXPECT_THAT(arrivals(cells, 1), ElementsAre(Pair(1, 0)));
  EXPECT_THAT(sent(cells), ElementsAre(1, 1, 1));
  eventfd_write(gate, 1);
  EXPECT_THAT(arrivals(cells, 1), ElementsAre(Pair(0, 0)));
  close(gate);
}

// --- slots -----------------------------------------------------------------------------------------------------------

TEST(CellsTest, ACellHasASlotForEachOfItsThreadsUpToItsLimit)
{
  Cells cells(2, 2, 1);
  std::set<unsigned> slots;
  for (unsigned i = 0; i < slots_per_cell; ++i) {
    const auto slot = cells.take_slot(1);
    ASSERT_TRUE(slot);
    slots.insert(*slot);
  }
  EXPECT_EQ(slots.size(), slots_per_cell);
  EXPECT_EQ(*slots.rbegin(), slots_per_cell - 1);
  EXPECT_EQ(cells.take_slot(1), std::nullopt);
  EXPECT_EQ(cells.take_slot(0), 0U);
  cells.board().slot(1, 33).used = 100; // its thread has ended in the middle of a request
  cells.give_slot(1, 33);
  EXPECT_EQ(cells.take_slot(1), 33U);
  EXPECT_EQ(cells.board().slot(1, 33).used, 0U);
  EXPECT_EQ(cells.take_slot(1), std::nullopt);
}

// --- the clock of a cell ---------------------------------------------------------------------------------------------

TEST(CellsTest, CpuTimeIsThatOfTheThreadThatComputes)
{
  Cells cells(1, 1, 1);
  cells.start([&cells](unsigned cell) {
    for (;;) {
      const unsigned slot = next_turn(cells.board(), cell);
      Slot& own = cells.board().slot(cell, slot);
      cells.board().mailbox(cell).computing.store(slot + 1);
      while (__atomic_load_n(&own.result, __ATOMIC_RELAXED) == 0)
        __builtin_ia32_pause();
      cells.board().mailbox(cell).computing.store(0);
      hand_over(cells.board(), cell, slot);
    }
  });
  EXPECT_EQ(cells.computed(0, 3), 0);
  cells.release(0, 3);
  std::int64_t before = 0;
  while (before < 1'000'000) { // 1 ms
    const std::int64_t now = cells.computed(0, 3);
    EXPECT_GE(now, before);
    before = now;
  }
  EXPECT_EQ(cells.computed(0, 4), 0) << "another thread";
  __atomic_store_n(&cells.board().slot(0, 3).result, 1, __ATOMIC_RELAXED);
  arrivals(cells, 1);
  EXPECT_EQ(cells.computed(0, 3), 0);
}

// --- the end ---------------------------------------------------------------------------------------------------------

TEST(CellsTest, ACellThatExitsIsReportedOnce)
{
  Cells cells(2, 2, 2);
  cells.start([&cells](unsigned cell) {
    next_turn(cells.board(), cell);
    _exit(7);
  });
  EXPECT_EQ(cells.death(), std::nullopt);
  cells.release(1, 0);
  const Cells::Death death = next_death(cells);
  EXPECT_EQ(death.cell, 1U);
  EXPECT_TRUE(WIFEXITED(death.status));
  EXPECT_EQ(WEXITSTATUS(death.status), 7);
  EXPECT_EQ(cells.death(), std::nullopt);
  EXPECT_EQ(cells.pid(1), -1);
  EXPECT_GT(cells.pid(0), 0);
}

TEST(CellsTest, ACellThatIsKilledIsReportedWithItsSignal)
{
  Cells cells(2, 2, 2);
  cells.start([&cells](unsigned cell) { echo(cells.board(), cell); });
  kill(cells.pid(0), SIGKILL);
  const Cells::Death death = next_death(cells);
  EXPECT_EQ(death.cell, 0U);
  ASSERT_TRUE(WIFSIGNALED(death.status));
  EXPECT_EQ(WTERMSIG(death.status), SIGKILL);
}

TEST(CellsTest, OfSeveralDeathsNoneIsLost)
{
  Cells cells(3, 3, 3);
  cells.start([&cells](unsigned cell) { echo(cells.board(), cell); });
  for (const unsigned cell : {0U, 2U}) {
    kill(cells.pid(cell), SIGKILL);
    siginfo_t ended{};
    waitid(P_PID, static_cast<id_t>(cells.pid(cell)), &ended, WEXITED | WNOWAIT);
  }
  EXPECT_EQ(next_death(cells).cell, 0U);
  EXPECT_EQ(next_death(cells).cell, 2U);
  EXPECT_EQ(cells.death(), std::nullopt);
}

TEST(CellsTest, OtherChildrenAreNobodysBusiness)
{
  Cells cells(1, 1, 1);
  cells.start([&cells](unsigned cell) { echo(cells.board(), cell); });
  test::Child other([] { _exit(5); });
  EXPECT_EQ(WEXITSTATUS(other.join()), 5);
  EXPECT_EQ(cells.death(), std::nullopt);
}

TEST(CellsTest, StopLeavesNoProcess)
{
  Cells cells(3, 3, 3);
  cells.start([](unsigned cell) {
    if (cell == 1)
      signal(SIGTERM, SIG_IGN);
    for (;;)
      pause();
  });
  std::vector<pid_t> pids;
  for (unsigned cell = 0; cell < 3; ++cell)
    pids.push_back(cells.pid(cell));
  cells.stop();
  for (const pid_t pid : pids) {
    EXPECT_EQ(kill(pid, 0), -1);
    EXPECT_EQ(errno, ESRCH);
  }
  EXPECT_EQ(cells.death(), std::nullopt) << "they were asked to";
  EXPECT_GT(cells.usage().ru_maxrss, 0);
}

// The pipe ends when nobody is left who could write to it.
TEST(CellsTest, CellsDoNotOutliveTheRuntime)
{
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  test::Child runtime([] {
    Cells cells(3, 3, 3);
    cells.start([&cells](unsigned cell) { echo(cells.board(), cell); });
    for (unsigned cell = 0; cell < 3; ++cell)
      cells.release(cell, 0);
    arrivals(cells, 3);
    _exit(0); // no destructor
  });
  close(ends[1]);
  EXPECT_EQ(runtime.join(), 0);
  char nothing = 0;
  EXPECT_EQ(read(ends[0], &nothing, 1), 0);
  close(ends[0]);
}

// --- what a cell says and has ----------------------------------------------------------------------------------------

Cells* reporting = nullptr; // of the cell that this process is
std::string to_say;

void say(int)
{
  const int file = reporting->report_file(0);
  if (ftruncate(file, 0) == 0 && pwrite(file, to_say.data(), to_say.size(), 0) > 0)
    reporting->board().mailbox(0).reports.fetch_add(1);
}

TEST(CellsTest, AReportIsWhatTheCellSaysNow)
{
  Cells cells(1, 1, 1);
  cells.start([&cells](unsigned cell) {
    reporting = &cells;
    signal(Cells::report_signal(), say);
    for (;;) {
      const unsigned slot = next_turn(cells.board(), cell);
      to_say.assign(slot == 0 ? 200'000 : 10, static_cast<char>('a' + slot));
      hand_over(cells.board(), cell, slot);
    }
  });
  cells.release(0, 0);
  arrivals(cells, 1);
  EXPECT_EQ(cells.report(0), std::string(200'000, 'a'));
  cells.release(0, 1);
  arrivals(cells, 1);
  EXPECT_EQ(cells.report(0), std::string(10, 'b'));
}

TEST(CellsTest, ACellThatCannotReportYetSurvivesBeingAsked)
{
  Cells cells(1, 1, 1);
  cells.start([&cells](unsigned cell) { echo(cells.board(), cell); });
  kill(cells.pid(0), Cells::report_signal());
  cells.release(0, 0);
  EXPECT_THAT(arrivals(cells, 1), ElementsAre(Pair(0, 0)));
}

TEST(CellsTest, ACellThatHasEndedReportsNothing)
{
  Cells cells(1, 1, 1);
  cells.start([](unsigned) { _exit(0); });
  next_death(cells);
  EXPECT_EQ(cells.report(0), "");
}

TEST(CellsTest, ADescriptorOfACellLeadsToTheSameFile)
{
  Cells cells(1, 1, 1);
  cells.start([&cells](unsigned cell) {
    const int counter = eventfd(0, EFD_CLOEXEC);
    for (;;) {
      const unsigned slot = next_turn(cells.board(), cell);
      Slot& own = cells.board().slot(cell, slot);
      eventfd_t count = 0;
      if (slot == 0)
        own.result = counter;
      else if (eventfd_read(counter, &count) == 0)
        own.result = static_cast<std::int32_t>(count);
      hand_over(cells.board(), cell, slot);
    }
  });
  cells.release(0, 0);
  arrivals(cells, 1);
  const int own = cells.descriptor_of(0, cells.board().slot(0, 0).result);
  ASSERT_GE(own, 0);
  eventfd_write(own, 42);
  close(own);
  cells.release(0, 1);
  arrivals(cells, 1);
  EXPECT_EQ(cells.board().slot(0, 1).result, 42);
}

TEST(CellsTest, ADescriptorThatACellDoesNotHaveIsAnError)
{
  Cells cells(1, 1, 1);
  cells.start([&cells](unsigned cell) { echo(cells.board(), cell); });
  EXPECT_EQ(cells.descriptor_of(0, 987), -EBADF);
}

TEST(CellsTest, OfACellThatHasEndedThereAreNoDescriptors)
{
  Cells cells(1, 1, 1);
  cells.start([](unsigned) { _exit(0); });
  next_death(cells);
  EXPECT_LT(cells.descriptor_of(0, 0), 0);
}

} // namespace
} // namespace umwelt::cell
