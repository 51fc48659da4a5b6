// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/worker/workers.h"

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

namespace umwelt::worker
{
namespace
{

using testing::ElementsAre;
using testing::Pair;

using Arrivals = std::vector<std::pair<unsigned, unsigned>>; // worker process, slot

constexpr std::int64_t second = 1'000'000'000; // ns

// The next slot of the worker process whose turn it is; in the worker process.
unsigned next_turn(Board& board, unsigned worker)
{
  Mailbox& box = board.mailbox(worker);
  for (;;) {
    const std::uint32_t seen = box.doorbell.rings();
    std::uint32_t slot = 0;
    if (box.to_worker.pop(slot))
      return slot;
    box.doorbell.wait(seen, second);
  }
}

void hand_over(Board& board, unsigned worker, unsigned slot)
{
  board.mailbox(worker).to_runtime.push(slot);
  board.doorbell().ring();
}

// A worker process whose threads have nothing to do.
void echo(Board& board, unsigned worker)
{
  for (;;) {
    const unsigned slot = next_turn(board, worker);
    ++board.slot(worker, slot).result;
    hand_over(board, worker, slot);
  }
}

// Waits until as many have something to say.
Arrivals arrivals(Workers& workers, std::size_t count)
{
  Arrivals all;
  while (all.size() < count)
    if (!workers.collect([&all](unsigned worker, unsigned slot) { all.emplace_back(worker, slot); }))
      workers.wait(second);
  return all;
}

Workers::Death next_death(Workers& workers)
{
  for (;;) {
    if (const auto death = workers.death())
      return *death;
    workers.collect([](unsigned, unsigned) {});
    workers.wait(second);
  }
}

// How often each worker process was told that somebody may go on.
std::vector<unsigned> sent(Workers& workers)
{
  std::vector<unsigned> rings;
  for (unsigned worker = 0; worker < workers.count(); ++worker)
    rings.push_back(workers.board().mailbox(worker).doorbell.rings());
  return rings;
}

TEST(WorkersTest, WhoeverIsLetGoOnComesBackWithHisAnswer)
{
  Workers workers(3, 3, 3);
  workers.start([&workers](unsigned worker) { echo(workers.board(), worker); });
  for (int round = 1; round <= 100; ++round) {
    for (unsigned worker = 0; worker < 3; ++worker)
      workers.release(worker, worker + 10);
    EXPECT_THAT(arrivals(workers, 3), testing::UnorderedElementsAre(Pair(0, 10), Pair(1, 11), Pair(2, 12)));
    EXPECT_EQ(workers.board().slot(2, 12).result, round);
  }
}

TEST(WorkersTest, ThreadsOfAWorkerComeBackInTheOrderInWhichTheyWereLetGoOn)
{
  Workers workers(1, 1, 1);
  workers.start([&workers](unsigned worker) { echo(workers.board(), worker); });
  for (const unsigned slot : {5U, 0U, 1023U, 7U})
    workers.release(0, slot);
  EXPECT_THAT(arrivals(workers, 4), ElementsAre(Pair(0, 5), Pair(0, 0), Pair(0, 1023), Pair(0, 7)));
}

TEST(WorkersTest, ToCollectDoesNotWait)
{
  Workers workers(1, 1, 1);
  workers.start([](unsigned) {
    for (;;)
      pause();
  });
  workers.release(0, 0);
  EXPECT_FALSE(workers.collect([](unsigned, unsigned) { ADD_FAILURE(); }));
}

TEST(WorkersTest, NoMoreThanSoManyComputeAtTheSameTime)
{
  Workers workers(4, 4, 2);
  workers.start([&workers](unsigned worker) { echo(workers.board(), worker); });
  for (const unsigned worker : {3U, 1U, 0U, 2U})
    workers.release(worker, 0);
  EXPECT_THAT(sent(workers), ElementsAre(0, 1, 0, 1));
  workers.release(1, 1); // it computes as it is
  EXPECT_THAT(sent(workers), ElementsAre(0, 2, 0, 1));
  workers.release(0, 1); // after the one before it
  EXPECT_THAT(sent(workers), ElementsAre(0, 2, 0, 1));
  Arrivals all = arrivals(workers, 6);
  std::sort(all.begin(), all.end());
  EXPECT_THAT(all, ElementsAre(Pair(0, 0), Pair(0, 1), Pair(1, 0), Pair(1, 1), Pair(2, 0), Pair(3, 0)));
}

TEST(WorkersTest, WhoeverHadToWaitGoesOnWhenAnotherIsBackInTheOrderOfRelease)
{
  Workers workers(3, 3, 1);
  const int gate = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
  workers.start([&workers, gate](unsigned worker) {
    for (;;) {
      const unsigned slot = next_turn(workers.board(), worker);
      eventfd_t one = 0;
      eventfd_read(gate, &one);
      hand_over(workers.board(), worker, slot);
    }
  });
  for (const unsigned worker : {2U, 1U, 0U})
    workers.release(worker, 0);
  EXPECT_THAT(sent(workers), ElementsAre(0, 0, 1));
  eventfd_write(gate, 1);
  EXPECT_THAT(arrivals(workers, 1), ElementsAre(Pair(2, 0)));
  EXPECT_THAT(sent(workers), ElementsAre(0, 1, 1));
  eventfd_write(gate, 1);
  EXPECT_THAT(arrivals(workers, 1), ElementsAre(Pair(1, 0)));
  EXPECT_THAT(sent(workers), ElementsAre(1, 1, 1));
  eventfd_write(gate, 1);
  EXPECT_THAT(arrivals(workers, 1), ElementsAre(Pair(0, 0)));
  close(gate);
}

// --- slots -----------------------------------------------------------------------------------------------------------

TEST(WorkersTest, AWorkerHasASlotForEachOfItsThreadsUpToItsLimit)
{
  Workers workers(2, 2, 1);
  std::set<unsigned> slots;
  for (unsigned i = 0; i < slots_per_worker; ++i) {
    const auto slot = workers.take_slot(1);
    ASSERT_TRUE(slot);
    slots.insert(*slot);
  }
  EXPECT_EQ(slots.size(), slots_per_worker);
  EXPECT_EQ(*slots.rbegin(), slots_per_worker - 1);
  EXPECT_EQ(workers.take_slot(1), std::nullopt);
  EXPECT_EQ(workers.take_slot(0), 0U);
  workers.board().slot(1, 33).used = 100; // its thread has ended in the middle of a request
  workers.give_slot(1, 33);
  EXPECT_EQ(workers.take_slot(1), 33U);
  EXPECT_EQ(workers.board().slot(1, 33).used, 0U);
  EXPECT_EQ(workers.take_slot(1), std::nullopt);
}

// --- the clock of a worker process -----------------------------------------------------------------------------------

TEST(WorkersTest, CpuTimeIsThatOfTheThreadThatComputes)
{
  Workers workers(1, 1, 1);
  workers.start([&workers](unsigned worker) {
    for (;;) {
      const unsigned slot = next_turn(workers.board(), worker);
      Slot& own = workers.board().slot(worker, slot);
      workers.board().mailbox(worker).computing.store(slot + 1);
      while (__atomic_load_n(&own.result, __ATOMIC_RELAXED) == 0)
        __builtin_ia32_pause();
      workers.board().mailbox(worker).computing.store(0);
      hand_over(workers.board(), worker, slot);
    }
  });
  EXPECT_EQ(workers.computed(0, 3), 0);
  workers.release(0, 3);
  std::int64_t before = 0;
  while (before < 1'000'000) { // 1 ms
    const std::int64_t now = workers.computed(0, 3);
    EXPECT_GE(now, before);
    before = now;
  }
  EXPECT_EQ(workers.computed(0, 4), 0) << "another thread";
  __atomic_store_n(&workers.board().slot(0, 3).result, 1, __ATOMIC_RELAXED);
  arrivals(workers, 1);
  EXPECT_EQ(workers.computed(0, 3), 0);
}

// --- the end ---------------------------------------------------------------------------------------------------------

TEST(WorkersTest, AWorkerThatExitsIsReportedOnce)
{
  Workers workers(2, 2, 2);
  workers.start([&workers](unsigned worker) {
    next_turn(workers.board(), worker);
    _exit(7);
  });
  EXPECT_EQ(workers.death(), std::nullopt);
  workers.release(1, 0);
  const Workers::Death death = next_death(workers);
  EXPECT_EQ(death.worker, 1U);
  EXPECT_TRUE(WIFEXITED(death.status));
  EXPECT_EQ(WEXITSTATUS(death.status), 7);
  EXPECT_EQ(workers.death(), std::nullopt);
  EXPECT_EQ(workers.pid(1), -1);
  EXPECT_GT(workers.pid(0), 0);
}

TEST(WorkersTest, AWorkerThatIsKilledIsReportedWithItsSignal)
{
  Workers workers(2, 2, 2);
  workers.start([&workers](unsigned worker) { echo(workers.board(), worker); });
  kill(workers.pid(0), SIGKILL);
  const Workers::Death death = next_death(workers);
  EXPECT_EQ(death.worker, 0U);
  ASSERT_TRUE(WIFSIGNALED(death.status));
  EXPECT_EQ(WTERMSIG(death.status), SIGKILL);
}

TEST(WorkersTest, OfSeveralDeathsNoneIsLost)
{
  Workers workers(3, 3, 3);
  workers.start([&workers](unsigned worker) { echo(workers.board(), worker); });
  for (const unsigned worker : {0U, 2U}) {
    kill(workers.pid(worker), SIGKILL);
    siginfo_t ended{};
    waitid(P_PID, static_cast<id_t>(workers.pid(worker)), &ended, WEXITED | WNOWAIT);
  }
  EXPECT_EQ(next_death(workers).worker, 0U);
  EXPECT_EQ(next_death(workers).worker, 2U);
  EXPECT_EQ(workers.death(), std::nullopt);
}

TEST(WorkersTest, OtherChildrenAreNobodysBusiness)
{
  Workers workers(1, 1, 1);
  workers.start([&workers](unsigned worker) { echo(workers.board(), worker); });
  test::Child other([] { _exit(5); });
  EXPECT_EQ(WEXITSTATUS(other.join()), 5);
  EXPECT_EQ(workers.death(), std::nullopt);
}

TEST(WorkersTest, StopLeavesNoProcess)
{
  Workers workers(3, 3, 3);
  workers.start([](unsigned worker) {
    if (worker == 1)
      signal(SIGTERM, SIG_IGN);
    for (;;)
      pause();
  });
  std::vector<pid_t> pids;
  for (unsigned worker = 0; worker < 3; ++worker)
    pids.push_back(workers.pid(worker));
  workers.stop();
  for (const pid_t pid : pids) {
    EXPECT_EQ(kill(pid, 0), -1);
    EXPECT_EQ(errno, ESRCH);
  }
  EXPECT_EQ(workers.death(), std::nullopt) << "they were asked to";
  EXPECT_GT(workers.usage().ru_maxrss, 0);
}

// The pipe ends when nobody is left who could write to it.
TEST(WorkersTest, WorkersDoNotOutliveTheRuntime)
{
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  test::Child runtime([] {
    Workers workers(3, 3, 3);
    workers.start([&workers](unsigned worker) { echo(workers.board(), worker); });
    for (unsigned worker = 0; worker < 3; ++worker)
      workers.release(worker, 0);
    arrivals(workers, 3);
    _exit(0); // no destructor
  });
  close(ends[1]);
  EXPECT_EQ(runtime.join(), 0);
  char nothing = 0;
  EXPECT_EQ(read(ends[0], &nothing, 1), 0);
  close(ends[0]);
}

// --- what a worker process says and has ------------------------------------------------------------------------------

Workers* reporting = nullptr; // of the worker process that this process is
std::string to_say;

void say(int)
{
  const int file = reporting->report_file(0);
  if (ftruncate(file, 0) == 0 && pwrite(file, to_say.data(), to_say.size(), 0) > 0)
    reporting->board().mailbox(0).reports.fetch_add(1);
}

TEST(WorkersTest, AReportIsWhatTheWorkerSaysNow)
{
  Workers workers(1, 1, 1);
  workers.start([&workers](unsigned worker) {
    reporting = &workers;
    signal(Workers::report_signal(), say);
    for (;;) {
      const unsigned slot = next_turn(workers.board(), worker);
      to_say.assign(slot == 0 ? 200'000 : 10, static_cast<char>('a' + slot));
      hand_over(workers.board(), worker, slot);
    }
  });
  workers.release(0, 0);
  arrivals(workers, 1);
  EXPECT_EQ(workers.report(0), std::string(200'000, 'a'));
  workers.release(0, 1);
  arrivals(workers, 1);
  EXPECT_EQ(workers.report(0), std::string(10, 'b'));
}

TEST(WorkersTest, AWorkerThatCannotReportYetSurvivesBeingAsked)
{
  Workers workers(1, 1, 1);
  workers.start([&workers](unsigned worker) { echo(workers.board(), worker); });
  kill(workers.pid(0), Workers::report_signal());
  workers.release(0, 0);
  EXPECT_THAT(arrivals(workers, 1), ElementsAre(Pair(0, 0)));
}

TEST(WorkersTest, AWorkerThatHasEndedReportsNothing)
{
  Workers workers(1, 1, 1);
  workers.start([](unsigned) { _exit(0); });
  next_death(workers);
  EXPECT_EQ(workers.report(0), "");
}

TEST(WorkersTest, ADescriptorOfAWorkerLeadsToTheSameFile)
{
  Workers workers(1, 1, 1);
  workers.start([&workers](unsigned worker) {
    const int counter = eventfd(0, EFD_CLOEXEC);
    for (;;) {
      const unsigned slot = next_turn(workers.board(), worker);
      Slot& own = workers.board().slot(worker, slot);
      eventfd_t count = 0;
      if (slot == 0)
        own.result = counter;
      else if (eventfd_read(counter, &count) == 0)
        own.result = static_cast<std::int32_t>(count);
      hand_over(workers.board(), worker, slot);
    }
  });
  workers.release(0, 0);
  arrivals(workers, 1);
  const int own = workers.descriptor_of(0, workers.board().slot(0, 0).result);
  ASSERT_GE(own, 0);
  eventfd_write(own, 42);
  close(own);
  workers.release(0, 1);
  arrivals(workers, 1);
  EXPECT_EQ(workers.board().slot(0, 1).result, 42);
}

TEST(WorkersTest, ADescriptorThatAWorkerDoesNotHaveIsAnError)
{
  Workers workers(1, 1, 1);
  workers.start([&workers](unsigned worker) { echo(workers.board(), worker); });
  EXPECT_EQ(workers.descriptor_of(0, 987), -EBADF);
}

TEST(WorkersTest, OfAWorkerThatHasEndedThereAreNoDescriptors)
{
  Workers workers(1, 1, 1);
  workers.start([](unsigned) { _exit(0); });
  next_death(workers);
  EXPECT_LT(workers.descriptor_of(0, 0), 0);
}

} // namespace
} // namespace umwelt::worker
