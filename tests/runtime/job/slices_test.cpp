// SPDX-License-Identifier: LGPL-2.1-or-later
// Code of ranks that goes on and on without a call. It runs on the rank's side, on a thread control block of its own
// and from a page of its own: of this executable's code none is ever interrupted.
#include "runtime/rank_host/slices.h"

#include <array>
#include <csignal>
#include <cstring>
#include <ctime>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/base/exit_codes.h"
#include "runtime/engine/thread_pointer.h"
#include "tests/runtime/job/programs.h"

// Copied to where it is executed, and called with %rdi: the variables.
asm(R"(
    .text
    .macro slices_code name
    .balign 16
    .globl \name
    .hidden \name
\name:
    .endm

    # Until a variable is set.
    slices_code slices_pauses
    pause
    cmpl $0, (%rdi)
    je slices_pauses
    ret
    slices_code slices_looks
    cmpl $0, (%rdi)
    je slices_looks
    ret
    slices_code slices_loops
    jmp slices_loops

    # The same, and it counts.
    slices_code slices_computes
    lea 1(%rax), %rax
    cmpl $0, (%rdi)
    je slices_computes
    ret

    # So many times.
    slices_code slices_counts_pauses
    mov 4(%rdi), %ecx
1:  pause
    dec %ecx
    jnz 1b
    ret

    slices_code slices_counts
    mov 4(%rdi), %ecx
1:  dec %ecx
    jnz 1b
    ret

    # tgkill(2), as another process does it.
    slices_code slices_is_hurried
    mov %rdi, %r8
    mov $234, %eax
    mov 8(%r8), %edi
    mov 8(%r8), %esi
    mov 12(%r8), %edx
    syscall
    ret

    slices_code slices_end
)");

extern "C" {
using Code = const unsigned char[];
extern Code slices_pauses, slices_looks, slices_loops, slices_computes, slices_counts_pauses, slices_counts,
    slices_is_hurried, slices_end;
}

namespace umwelt::job::test
{
namespace
{

using testing::ElementsAre;

constexpr SimTime ms = sim::millisecond;
constexpr unsigned char int3 = 0xcc;

// Lends its thread control block.
class Lender
{
public:
  Lender()
      : thread_([this] {
          pointer_.set_value(engine::read_thread_pointer());
          end_.get_future().wait();
        })
  {
  }
  ~Lender()
  {
    end_.set_value();
    thread_.join();
  }
  engine::ThreadPointer pointer()
  {
    if (value_ == 0)
      value_ = pointer_.get_future().get();
    return value_;
  }

private:
  engine::ThreadPointer value_ = 0;
  std::promise<engine::ThreadPointer> pointer_;
  std::promise<void> end_;
  std::thread thread_;
};

SimTime cpu_time()
{
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * sim::second + time.tv_nsec * sim::nanosecond;
}

class SlicesTest : public JobTest
{
protected:
  SlicesTest()
      : code(static_cast<unsigned char*>(
            mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)))
  {
    std::memcpy(code, slices_pauses, static_cast<std::size_t>(slices_end - slices_pauses));
    mprotect(code, page, PROT_READ | PROT_EXEC);
    at = this;
  }
  ~SlicesTest() override { munmap(code, page); }

  // Where the test's code lies that the rank executes.
  [[nodiscard]] unsigned char* place(const unsigned char* of) const { return code + (of - slices_pauses); }
  // The running thread of the rank executes it.
  void execute(Rank& rank, const unsigned char* what)
  {
    ++rank.gate.crossings; // it comes from a call
    const engine::Excursion excursion(lender.pointer());
    reinterpret_cast<void (*)(volatile int*)>(place(what))(variables.data());
  }
  // The NIC writes.
  void set(Rank& rank)
  {
    variables[0] = 1;
    rank.memory_changed();
  }
  // A thread of the rank that does this, on the runtime's side.
  struct Start {
    Rank& rank;
    Program body;
  };
  void start_thread(Start& start)
  {
    request(start.rank, UMW_OP_umw_thread_create,
            umw_args_umw_thread_create{0,
                                       [](void* argument) {
                                         const engine::Crossing crossing;
                                         auto& begun = *static_cast<Start*>(argument);
                                         begun.body(begun.rank);
                                         request(begun.rank, UMW_OP_umw_thread_end, umw_args_umw_thread_end{});
                                       },
                                       &start, 1 << 20, lender.pointer(), 0});
  }

  void spin_until_set(const unsigned char* loop)
  {
    Rank* spins = nullptr;
    run({[&](Rank& rank) {
           spins = &rank;
           execute(rank, loop);
           EXPECT_EQ(now(rank), ms);
         },
         [&](Rank& rank) {
           sleep(rank, ms);
           EXPECT_EQ(*place(loop), int3);
           set(*spins);
           sleep(rank, ms);
         }});
    EXPECT_EQ(record.ranks[0].finished, ms);
    EXPECT_EQ(record.ranks[0].statistics.compute, 0);
    EXPECT_EQ(record.ranks[0].statistics.waiting, ms);
  }

  // As the shim does.
  static bool act_on_signal(void* context)
  {
    const engine::Crossing crossing;
    EXPECT_TRUE(crossing.from_rank());
    EXPECT_NE(context, nullptr);
    siginfo_t information{};
    EXPECT_EQ(at->signalled->take_signal(~SignalSet{0}, information), SIGUSR1);
    at->signalled->gate.signal_due = 0;
    at->variables[0] = 1;
    return false;
  }

  static constexpr std::size_t page = 4096;
  static SlicesTest* at;
  std::array<volatile int, 4> variables{};
  Rank* signalled = nullptr;
  Lender lender;
  unsigned char* const code;
};

SlicesTest* SlicesTest::at = nullptr;

TEST_F(SlicesTest, WhoPausesIsBlockedUntilSomethingChanges)
{
  spin_until_set(slices_pauses);
}

// Not soon: it might end by itself, and not only as long as no tick comes.
TEST_F(SlicesTest, WhoLooksIsBlockedUntilSomethingChanges)
{
  const SimTime begin = cpu_time();
  spin_until_set(slices_looks);
  EXPECT_GT(cpu_time() - begin, 40 * ms);
}

TEST_F(SlicesTest, ALoopThatHasWaitedIsKnownTheNextTime)
{
  for (const unsigned char* loop : {slices_pauses, slices_looks}) {
    Rank* spins = nullptr;
    std::vector<SimTime> times;
    SimTime cpu = 0;
    run({[&](Rank& rank) {
           spins = &rank;
           for (unsigned i = 0; i < 40; ++i) {
             variables[0] = 0;
             execute(rank, loop);
             times.push_back(now(rank));
             if (i == 0)
               cpu = -cpu_time();
           }
           cpu += cpu_time();
         },
         [&](Rank& rank) {
           for (unsigned i = 0; i < 40; ++i) {
             sleep(rank, ms);
             set(*spins);
           }
         }});
    std::vector<SimTime> expected;
    for (unsigned i = 0; i < 40; ++i)
      expected.push_back((i + 1) * ms);
    EXPECT_EQ(times, expected);
    EXPECT_LT(cpu, 100 * ms); // three ticks and more each time
  }
}

TEST_F(SlicesTest, WhatIsSetUnseenIsFoundWhenNothingElseIsLeft)
{
  run({[this](Rank& rank) {
         execute(rank, slices_pauses);
         EXPECT_EQ(now(rank), ms);
       },
       [this](Rank& rank) {
         sleep(rank, ms);
         variables[0] = 1;
       }});
}

TEST_F(SlicesTest, WhatNobodySetsIsADeadlock)
{
  const Outcome outcome = run([this](Rank& rank) { execute(rank, slices_pauses); }, 1);
  EXPECT_EQ(outcome.exit_code, exit_code::deadlock);
  EXPECT_THAT(said, testing::HasSubstr("deadlock at simulated time 0.000000 s"));
}

TEST_F(SlicesTest, ALoopWithoutEndKeepsNobodyFromEndingTheJob)
{
  const Outcome outcome = run({[this](Rank& rank) { execute(rank, slices_loops); },
                               [this](Rank& rank) {
                                 sleep(rank, ms);
                                 EXPECT_EQ(*place(slices_loops), int3);
                                 rank.job.exited(rank, 3);
                               }});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(record.simulated, ms);
}

TEST_F(SlicesTest, AThreadSpinsUntilAnotherOfItsRankSetsIt)
{
  run(
      [this](Rank& rank) {
        SimTime seen = 0;
        Start spinner{rank, [&](Rank& of) {
                        execute(of, slices_pauses);
                        seen = now(of);
                      }};
        start_thread(spinner);
        sleep(rank, ms);
        EXPECT_EQ(seen, 0);
        variables[0] = 1;
        sleep(rank, ms);
        EXPECT_EQ(seen, ms + rank.job.node_parameters().line);
      },
      1);
}

// In the middle of its loop, on its stack as it stands.
TEST_F(SlicesTest, WhoSpinsActsOnSignals)
{
  for (const unsigned char* loop : {slices_pauses, slices_looks}) {
    variables[0] = 0;
    Rank* spins = nullptr;
    run({[&](Rank& rank) {
           spins = &rank;
           rank_host::RankHost::here().running()->thread_pointer = lender.pointer(); // act_on_signal() runs on it
           rank.gate.deliver_pending = act_on_signal;
           execute(rank, loop);
           EXPECT_EQ(now(rank), ms);
         },
         [&](Rank& rank) {
           sleep(rank, ms);
           siginfo_t information{};
           information.si_signo = SIGUSR1;
           signalled = spins;
           spins->send_signal(information);
         }});
    EXPECT_EQ(variables[0], 1);
  }
}

TEST_F(SlicesTest, WhoIsNotToBeInterruptedIsNot)
{
  for (const bool not_now : {true, false})
    run(
        [&](Rank& rank) {
          rank.gate.no_preempt = not_now ? 1 : 0;
          variables[1] = 3'000'000;
          execute(rank, slices_counts_pauses);
          const unsigned char pause = *(place(slices_counts_pauses) + 3);
          EXPECT_EQ(pause, not_now ? 0xf3 : int3);
        },
        1);
}

TEST_F(SlicesTest, WhatIsCopiedByForkIsTheProgramsOwnCode)
{
  Rank* spins = nullptr;
  run({[&](Rank& rank) {
         spins = &rank;
         execute(rank, slices_pauses);
         const auto original_code = [&rank](int original) {
           umw_args_umw_original_code arguments{0, original};
           rank.job.rank_host().call(*rank.running().here, UMW_OP_umw_original_code, &arguments);
         };
         EXPECT_EQ(*place(slices_pauses), int3);
         original_code(1);
         EXPECT_EQ(*place(slices_pauses), 0xf3);
         original_code(0);
         EXPECT_EQ(*place(slices_pauses), int3);
         // Who does not say that it is over has it back with the second tick from then on.
         original_code(1);
         for (const SimTime end = cpu_time() + 1000 * ms; cpu_time() < end && *place(slices_pauses) != int3;)
           execute(rank, slices_counts_pauses);
         EXPECT_EQ(*place(slices_pauses), int3);
       },
       [&](Rank& rank) {
         sleep(rank, ms);
         variables[1] = 10'000;
         set(*spins);
       }});
}

TEST_F(SlicesTest, AThreadThatIsHurriedLetsOthersRun)
{
  std::vector<int> order;
  run({[&](Rank& rank) {
         variables[2] = getpid();
         variables[3] = rank_host::Slices::signal_number();
         execute(rank, slices_is_hurried);
         order.push_back(rank.index);
       },
       [&](Rank& rank) { order.push_back(rank.index); }});
  EXPECT_THAT(order, ElementsAre(1, 0));
}

// --- measured --------------------------------------------------------------------------------------------------------

class MeasuredSlicesTest : public SlicesTest
{
protected:
  MeasuredSlicesTest() { options.cpu.kind = engine::CpuPolicy::Kind::measured; }
};

// It would compute for ever.
TEST_F(MeasuredSlicesTest, WhoComputesIsCutForTheOthers)
{
  run({[&](Rank& rank) { execute(rank, slices_computes); }, [&](Rank&) { variables[0] = 1; }});
  EXPECT_GT(record.ranks[0].statistics.compute, ms); // what it has computed has become simulated time
  EXPECT_EQ(*place(slices_computes), slices_computes[0]);
}

TEST_F(MeasuredSlicesTest, WhoIsNotToBeInterruptedIsNotCut)
{
  std::vector<int> order;
  run({[&](Rank& rank) {
         rank.gate.no_preempt = 1;
         variables[1] = 3'000'000;
         execute(rank, slices_counts_pauses);
         order.push_back(rank.index);
       },
       [&](Rank& rank) { order.push_back(rank.index); }});
  EXPECT_THAT(order, ElementsAre(0, 1));
}

// Whoever looks for something, in vain, does so in short bursts, and ticks meet some of them.
TEST_F(MeasuredSlicesTest, AShortBurstThatATickMeetsIsNoProgress)
{
  run(
      [&](Rank& rank) {
        variables[1] = 1'000;
        rank.gate.alone = 1;
        unsigned bursts_of_progress = 0;
        for (const SimTime end = cpu_time() + 60 * ms; cpu_time() < end;) {
          execute(rank, slices_counts);
          bursts_of_progress += std::exchange(rank.gate.made_progress, 0U);
        }
        EXPECT_EQ(bursts_of_progress, 0U);
      },
      1);
}

TEST_F(MeasuredSlicesTest, AThreadThatComputesIsCutForTheOthersOfItsRank)
{
  run(
      [this](Rank& rank) {
        Start computing{rank, [&](Rank& of) { execute(of, slices_computes); }};
        start_thread(computing);
        sleep(rank, ms);
        variables[0] = 1;
        sleep(rank, ms);
      },
      1);
  EXPECT_GT(record.ranks[0].statistics.compute, ms);
}

TEST_F(MeasuredSlicesTest, WhoSpinsIsNotChargedForIt)
{
  Rank* spins = nullptr;
  run({[&](Rank& rank) {
         spins = &rank;
         execute(rank, slices_looks);
       },
       [&](Rank& rank) {
         sleep(rank, sim::second);
         set(*spins);
       }});
  EXPECT_GE(record.ranks[0].finished, sim::second);
  EXPECT_GT(record.ranks[0].statistics.waiting, 900 * ms);
  EXPECT_LT(record.ranks[0].statistics.compute, ms); // it was found in the second tick
}

} // namespace
} // namespace umwelt::job::test
