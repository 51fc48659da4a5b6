// SPDX-License-Identifier: LGPL-2.1-or-later
// Ranks in worker processes that only say what those of programs would: requests, and how long the burst before each
// was. What they saw is in memory that they share with the test.
#include "runtime/job/channel.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/gate/dispatch.h"
#include "runtime/rank_host/program_change.h"
#include "runtime/rank_host/slices.h"
#include "runtime/worker/workers.h"
#include "tests/runtime/job/programs.h"

namespace umwelt::job::test
{
namespace
{

using testing::ElementsAre;
using testing::Pair;
using worker::Slot;

constexpr SimTime ms = sim::millisecond;
constexpr std::uint32_t tell = UMW_OP_COUNT; // a request of the test's own

class FakeWorker
{
public:
  FakeWorker(worker::Workers& workers, unsigned index)
      : board_(workers.board()), mailbox_(board_.mailbox(index)), index_(index)
  {
    ::signal(rank_host::Slices::signal_number(), SIG_IGN); // who is in a hurry has to wait
  }

  [[nodiscard]] Slot& slot(unsigned number = 0) { return board_.slot(index_, number); }
  // Whether the turn of a thread has come within some milliseconds.
  bool has_turn(unsigned number, unsigned milliseconds)
  {
    for (unsigned i = 0; i < milliseconds && !turn_[number]; ++i, usleep(1000))
      hear();
    return turn_[number];
  }
  void await_turn(unsigned number = 0)
  {
    for (;;) {
      const std::uint32_t seen = mailbox_.doorbell.rings();
      hear();
      if (std::exchange(turn_[number], false))
        break;
      mailbox_.doorbell.wait(seen, 1'000'000'000);
    }
    mailbox_.computing.store(++turns_ << 32 | (number + 1));
  }
  // The thread of that slot asks, after a burst of so many ps; it goes on with its next turn.
  template <class Arguments>
  void ask(unsigned number, std::uint32_t operation, const Arguments& arguments, SimTime burst = 0)
  {
    Slot& own = slot(number);
    own.operation = operation;
    own.arguments = std::memcpy(own.arena.data() + own.used, &arguments, sizeof arguments);
    own.burst = {burst};
    own.turn = Slot::Turn::request;
    hand_over(number);
  }
  // The main thread does, and waits for the answer.
  template <class Arguments> Arguments request(std::uint32_t operation, Arguments arguments, SimTime burst = 0)
  {
    Slot& own = slot();
    ask(0, operation, arguments, burst);
    const void* const copy = own.arguments;
    own.used += 256; // a handler may ask, too
    for (await_turn(); own.turn == Slot::Turn::deliver; await_turn()) {
      own.result = handlers();
      own.burst = {};
      own.turn = Slot::Turn::delivered;
      hand_over(0);
    }
    own.used -= 256;
    std::memcpy(&arguments, copy, sizeof arguments);
    return arguments;
  }

  std::function<int()> handlers; // of signals

private:
  void hear()
  {
    std::uint32_t number = 0;
    while (mailbox_.to_worker.pop(number))
      turn_[number] = true;
  }
  void hand_over(unsigned number)
  {
    mailbox_.computing.store(0);
    mailbox_.to_runtime.push(number);
    board_.doorbell().ring();
  }

  worker::Board& board_;
  worker::Mailbox& mailbox_;
  const unsigned index_;
  std::uint64_t turns_ = 0;
  std::array<bool, worker::slots_per_worker> turn_{};
};

struct Nothing {
  int value;
};

class ChannelTest : public JobTest
{
protected:
  // In memory that all processes have in common.
  struct Seen {
    std::atomic<int> told;         // how many have been served
    std::atomic<int> here, failed; // the test's own
    std::atomic<SimTime> result;
  };

  ChannelTest()
      : seen(
            *static_cast<Seen*>(mmap(nullptr, sizeof(Seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)))
  {
    test = this;
    options.jobs = 4;
    in_workers = true;
  }
  ~ChannelTest() override { munmap(&seen, sizeof seen); }

  using Script = std::function<void(FakeWorker&)>;
  // The scripts of ranks, each in its worker process.
  Outcome play(const std::vector<Script>& scripts)
  {
    Server server{serve};
    server.program = [&scripts](Rank& rank) {
      FakeWorker self(*rank.job.workers(), rank.worker);
      self.await_turn();
      self.request(UMW_OP_umw_started, umw_args_umw_started{});
      scripts[rank.worker](self);
      self.request(UMW_OP_umw_exit, umw_args_umw_exit{});
      for (;;)
        pause();
    };
    return run(server, scripts.size());
  }
  static bool serve(Rank& rank, std::uint32_t operation, void* arguments, const rank_host::Burst& measured)
  {
    if (operation != tell)
      return gate::server().serve(rank, operation, arguments, measured);
    rank.enter(false, false, measured);
    test->said_at.emplace_back(rank.index + static_cast<int>(rank.running().number), now(rank));
    ++test->seen.told;
    if (test->on_tell)
      test->on_tell(rank);
    return false;
  }
  // In a worker process: waits for `count` to come there, at most for some seconds.
  void await(const std::atomic<int>& count, int value)
  {
    for (unsigned i = 0; count < value; ++i, usleep(1000))
      if (i == 5000) {
        ++seen.failed;
        return;
      }
  }
  void measure() { options.cpu.kind = engine::CpuPolicy::Kind::measured; }

  static ChannelTest* test;
  Seen& seen;
  std::vector<std::pair<int, SimTime>> said_at; // number of rank, or thread of the first; time
  std::function<void(Rank&)> on_tell;
};

ChannelTest* ChannelTest::test = nullptr;

// --- exact turns -----------------------------------------------------------------------------------------------------

TEST_F(ChannelTest, RequestsAreServedInTheOrderOfRanksWhoeverIsFirst)
{
  play({[this](FakeWorker& self) {
          await(seen.here, 1); // both are under way
          usleep(20'000);
          self.request(tell, Nothing{});
          self.request(UMW_OP_umw_sleep, umw_args_umw_sleep{0, 2 * ms});
          self.request(tell, Nothing{});
        },
        [this](FakeWorker& self) {
          ++seen.here;
          self.request(tell, Nothing{});
          seen.result = self.request(UMW_OP_umw_sleep, umw_args_umw_sleep{-1, ms}).result;
          usleep(20'000);
          self.request(tell, Nothing{});
        }});
  EXPECT_EQ(seen.failed, 0);
  EXPECT_THAT(said_at, ElementsAre(Pair(0, 0), Pair(1, 0), Pair(1, ms), Pair(0, 2 * ms)));
  EXPECT_EQ(seen.result, 0); // what is left of it
}

TEST_F(ChannelTest, HandlersRunInTheMiddleOfARequest)
{
  SimTime after = 0;
  bool final = false;
  on_tell = [&](Rank& rank) {
    siginfo_t information{};
    information.si_signo = SIGUSR1;
    if (seen.told > 1) { // the handler
      EXPECT_EQ(rank.take_signal(~SignalSet{0}, information), SIGUSR1);
      return;
    }
    EXPECT_FALSE(rank.act_on_signals());
    rank.gate.deliver_pending = [](void*) { return false; };
    rank.send_signal(information);
    final = rank.act_on_signals();
    after = now(rank);
    EXPECT_FALSE(rank.act_on_signals());
  };
  for (const bool measured : {false, true}) {
    said_at.clear();
    seen.told = 0;
    if (measured)
      measure();
    play({[&](FakeWorker& self) {
      self.handlers = [&] {
        self.request(tell, Nothing{});
        self.request(UMW_OP_umw_sleep, umw_args_umw_sleep{0, ms});
        return 1;
      };
      seen.result = self.request(tell, Nothing{5}).value;
    }});
    EXPECT_THAT(said_at, ElementsAre(Pair(0, 0), Pair(0, 0)));
    EXPECT_EQ(seen.result, 5);
    EXPECT_EQ(after, ms);
    EXPECT_TRUE(final);
  }
}

// --- measured bursts -------------------------------------------------------------------------------------------------

TEST_F(ChannelTest, BurstsGoOnAtTheSameTimeEachForAsLongAsItWas)
{
  measure();
  play({[this](FakeWorker& self) {
          await(seen.here, 1);
          self.request(tell, Nothing{}, 9 * ms);
        },
        [this](FakeWorker& self) {
          ++seen.here;
          usleep(20'000);
          self.request(tell, Nothing{}, 3 * ms);
          self.request(UMW_OP_umw_sleep, umw_args_umw_sleep{0, ms});
          self.request(tell, Nothing{}, 2 * ms);
        }});
  EXPECT_EQ(seen.failed, 0);
  EXPECT_THAT(said_at, ElementsAre(Pair(1, 3 * ms), Pair(1, 6 * ms), Pair(0, 9 * ms)));
  EXPECT_EQ(record.ranks[0].statistics.compute, 9 * ms);
  EXPECT_EQ(record.ranks[1].statistics.compute, 5 * ms);
}

TEST_F(ChannelTest, TimeDoesNotPassABurstThatIsUnderWay)
{
  measure();
  play({[](FakeWorker& self) {
          self.request(UMW_OP_umw_sleep, umw_args_umw_sleep{0, ms});
          self.request(tell, Nothing{});
        },
        [](FakeWorker& self) {
          usleep(30'000);
          self.request(tell, Nothing{}, ms / 2);
        }});
  EXPECT_THAT(said_at, ElementsAre(Pair(1, ms / 2), Pair(0, ms)));
}

TEST_F(ChannelTest, TimeGoesOnAsFarAsABurstHasGot)
{
  measure();
  play({[](FakeWorker& self) {
          self.request(UMW_OP_umw_sleep, umw_args_umw_sleep{0, ms});
          self.request(tell, Nothing{});
        },
        [this](FakeWorker& self) {
          self.slot().computed = 2 * ms;
          await(seen.told, 1);
          self.request(tell, Nothing{}, 3 * ms);
        }});
  EXPECT_EQ(seen.failed, 0);
  EXPECT_THAT(said_at, ElementsAre(Pair(0, ms), Pair(1, 3 * ms)));
}

TEST_F(ChannelTest, TheCpuTimeOfTheWorkerProcessCountsWhileItComputes)
{
  measure();
  play({[](FakeWorker& self) {
          self.request(UMW_OP_umw_sleep, umw_args_umw_sleep{0, ms});
          self.request(tell, Nothing{});
        },
        [this](FakeWorker& self) {
          while (seen.told == 0)
            continue;
          self.request(tell, Nothing{}, sim::second);
        }});
  EXPECT_EQ(seen.failed, 0);
  EXPECT_THAT(said_at, ElementsAre(Pair(0, ms), Pair(1, sim::second)));
}

TEST_F(ChannelTest, TheJobEndsWhateverIsUnderWay)
{
  measure();
  const Outcome outcome = play({[](FakeWorker&) {
                                  for (;;)
                                    pause();
                                },
                                [](FakeWorker& self) {
                                  self.request(UMW_OP_umw_exit, umw_args_umw_exit{0, 3, UMW_EXIT_NORMAL, nullptr});
                                }});
  EXPECT_EQ(outcome.exit_code, 3);
}

// The gate speaks of one thread: another one goes on when the burst that is under way has been taken note of.
TEST_F(ChannelTest, ThreadsOfARankTakeTurns)
{
  measure();
  play({[this](FakeWorker& self) {
    constexpr unsigned soon = 5000;
    self.request(UMW_OP_umw_thread_create, umw_args_umw_thread_create{0, nullptr, nullptr, 1 << 20, 4096, 1});
    const auto second = static_cast<unsigned>(self.slot().result);
    const auto expect = [this](bool right) { seen.failed += right ? 0 : 1; };
    expect(!self.has_turn(second, 20));
    self.ask(0, tell, Nothing{}, ms);
    expect(self.has_turn(second, soon));
    self.await_turn(second);
    expect(!self.has_turn(0, 20)); // time does not pass
    self.ask(second, tell, Nothing{}, 2 * ms);
    expect(self.has_turn(0, soon));
    self.await_turn(0);
    expect(!self.has_turn(second, 20)); // it has been served, but the gate is the main thread's
    self.ask(0, UMW_OP_umw_sleep, umw_args_umw_sleep{0, 10 * ms}, 4 * ms);
    expect(self.has_turn(second, soon));
    self.await_turn(second);
    self.ask(second, UMW_OP_umw_thread_end, umw_args_umw_thread_end{});
    self.await_turn(0);
  }});
  EXPECT_EQ(seen.failed, 0);
  EXPECT_THAT(said_at, ElementsAre(Pair(0, 2 * ms), Pair(1, 4 * ms))); // they share a core
}

// One computes, or has just been promised that it may.
TEST_F(ChannelTest, ThreadsEndWithTheProgram)
{
  measure();
  const std::string next =
      rank_host::ProgramChange{"/bin/next", "/lib64/ld-linux-x86-64.so.2", {}, {"next"}, {}}.packed();
  for (const bool computes : {false, true}) {
    said_at.clear();
    play({[&, this](FakeWorker& self) {
      constexpr unsigned soon = 5000;
      const auto expect = [this](bool right) { seen.failed += right ? 0 : 1; };
      const auto make_thread = [&self] {
        self.request(UMW_OP_umw_thread_create, umw_args_umw_thread_create{0, nullptr, nullptr, 1 << 20, 4096, 1});
        return static_cast<unsigned>(self.slot().result);
      };
      const unsigned second = make_thread();
      self.ask(0, UMW_OP_umw_exec_done, umw_args_umw_exec_done{0, next.data(), next.size()}, computes ? ms : 0);
      if (computes) { // while the burst of the main thread counts
        expect(self.has_turn(second, soon));
        self.await_turn(second);
        self.slot(second).computed = sim::second;
      }
      expect(self.has_turn(0, soon));
      self.await_turn();
      if (computes)
        self.ask(second, tell, Nothing{}); // in vain
      self.request(tell, Nothing{});
      expect(make_thread() == second); // its slot is free
    }});
    EXPECT_EQ(seen.failed, 0);
    EXPECT_THAT(said_at, ElementsAre(Pair(0, computes ? 2 * ms : 0))); // on the same core
  }
}

// What they compute counts for nothing any longer.
TEST_F(ChannelTest, ARankEndsWithItsOtherThreads)
{
  measure();
  for (const bool has_begun : {false, true}) {
    said_at.clear();
    const Outcome outcome = play(
        {[&](FakeWorker& self) {
           self.request(UMW_OP_umw_thread_create, umw_args_umw_thread_create{0, nullptr, nullptr, 1 << 20, 4096, 1});
           const auto second = static_cast<unsigned>(self.slot().result);
           if (!has_begun) // it waits for the gate
             return;
           self.ask(0, UMW_OP_umw_exit, umw_args_umw_exit{}, ms);
           self.await_turn(second);
           self.slot(second).computed = sim::second; // it has got that far at least
           self.await_turn(second);
         },
         [](FakeWorker& self) {
           self.request(UMW_OP_umw_sleep, umw_args_umw_sleep{0, 10 * ms});
           self.request(tell, Nothing{});
         }});
    EXPECT_EQ(outcome.exit_code, 0) << said;
    EXPECT_THAT(said_at, ElementsAre(Pair(1, 10 * ms)));
    EXPECT_EQ(record.ranks[0].statistics.compute, has_begun ? ms : 0);
    EXPECT_EQ(record.ranks[0].finished, has_begun ? 2 * ms : 0); // on the same core
  }
}

} // namespace
} // namespace umwelt::job::test
