// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/rank_host.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace umwelt::rank_host
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::size_t stack = 256 * 1024;

struct Ended {
}; // a request that does not return

// A process whose simulation knows the end of ranks.
class FakeRankHost final : public RankHost
{
public:
  FakeRankHost(engine::Scheduler& scheduler, Cpu& cpu) : RankHost(scheduler, cpu) {}

  [[nodiscard]] Thread* running() const override { return nullptr; }
  void request(Thread&, std::uint32_t operation, void* arguments) override
  {
    asked.push_back(operation);
    switch (operation) {
    case UMW_OP_umw_died:
      report = static_cast<umw_args_umw_died*>(arguments)->report;
      throw Ended();
    default:
      return;
    }
  }
  void on_request(int, const ucontext_t*) override {}
  void on_own_fault(int, const siginfo_t&, const ucontext_t&) override { std::abort(); }

  std::vector<std::uint32_t> asked;
  std::string report;
};

class RankHostTest : public testing::Test
{
protected:
  struct Carried {
    Carried() { rank.threads.push_back(std::make_unique<Thread>(rank)); }
    umw_gate gate{};
    Rank rank{gate};
  };

  // A rank whose main thread does this from `begin` on.
  Carried& start(SimTime begin, const std::function<void(Thread&)>& body)
  {
    Carried& carried = ranks.emplace_back();
    Thread& thread = *carried.rank.threads.front();
    thread.fiber = &scheduler.spawn(
        "rank",
        [this, begin, body, &thread] {
          scheduler.sleep(begin);
          body(thread);
        },
        stack);
    return carried;
  }

  sim::Timeline timeline;
  engine::Scheduler scheduler{timeline};
  Cpu cpu{false, 0, 0, 25 * sim::nanosecond};
  FakeRankHost rank_host{scheduler, cpu};
  std::deque<Carried> ranks;
};

TEST_F(RankHostTest, ACallBecomesARequestAndCountsAsACrossing)
{
  Carried& rank = start(0, [this](Thread& thread) {
    umw_args_umw_fence fence{};
    rank_host.call(thread, UMW_OP_umw_fence, &fence);
  });
  scheduler.run();
  EXPECT_THAT(rank_host.asked, ElementsAre(UMW_OP_umw_fence));
  EXPECT_EQ(rank.gate.crossings, 1U);
}

// --- looks at the clock
// -----------------------------------------------------------------------------------------------

class LooksTest : public RankHostTest
{
protected:
  void look(Thread& thread)
  {
    umw_args_umw_clock_path look{1, 0};
    rank_host.call(thread, UMW_OP_umw_clock_path, &look);
    EXPECT_EQ(look.result, 0);
  }
  static void compute()
  {
    volatile int sum = 0;
    for (int i = 0; i < 10'000; ++i)
      sum = sum + i;
  }

  Cpu measured{true, 0, 0, 25 * sim::nanosecond};
};

TEST_F(LooksTest, WhatLedThereIsChargedAtOnceAndPartOfTheBurst)
{
  FakeRankHost host(scheduler, measured);
  Carried& rank = start(0, [&](Thread& thread) {
    umw_clock& clock = thread.rank.gate.clock;
    thread.rank.directory = std::make_shared<Directory>(open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
    measured.use(clock, engine::CpuPolicy{}, 1);
    clock.debt_ps = 7;
    host.begin_burst(thread);
    SimTime before = clock.debt_ps;
    for (int i = 0; i < 2; ++i) {
      compute();
      host.settle_path(thread);
      EXPECT_GT(clock.debt_ps, before + sim::microsecond);
      before = clock.debt_ps;
    }
    compute();
    const Burst burst = host.end_burst(thread);
    EXPECT_GT(burst.time, before - 7 + sim::microsecond);
    EXPECT_EQ(clock.debt_ps, 7);
    EXPECT_LT(host.end_burst(thread).time, burst.time); // no part of the next one
  });
  scheduler.run();
  EXPECT_EQ(rank.gate.crossings, 0U);
}

TEST_F(LooksTest, NobodyElseIsAsked)
{
  Carried& rank = start(0, [&](Thread& thread) { look(thread); });
  scheduler.run();
  EXPECT_THAT(rank_host.asked, IsEmpty());
  EXPECT_EQ(rank.gate.crossings, 0U);
  EXPECT_EQ(rank.gate.clock.debt_ps, 0); // nothing is measured
}

// --- working directories ---------------------------------------------------------------------------------------------

class DirectoryTest : public RankHostTest
{
protected:
  DirectoryTest() : before(std::filesystem::current_path())
  {
    std::string name = (std::filesystem::temp_directory_path() / "umwelt-test-XXXXXX").string();
    root = std::filesystem::canonical(mkdtemp(name.data()));
    for (const char* directory : {"a", "b"})
      std::filesystem::create_directory(root / directory);
  }
  ~DirectoryTest() override
  {
    std::filesystem::current_path(before);
    std::filesystem::remove_all(root);
  }
  int change(Thread& thread, const char* path, int fd = -1)
  {
    umw_args_umw_change_directory change{1, path, fd};
    rank_host.call(thread, UMW_OP_umw_change_directory, &change);
    return change.result;
  }
  Carried& start_in(const std::shared_ptr<Directory>& directory, SimTime begin,
                    const std::function<void(Thread&)>& body)
  {
    Carried& carried = start(begin, [this, body](Thread& thread) {
      rank_host.begin_burst(thread);
      body(thread);
    });
    carried.rank.directory = directory;
    return carried;
  }
  [[nodiscard]] std::shared_ptr<Directory> directory(const char* name) const
  {
    return std::make_shared<Directory>(open((root / name).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }

  std::filesystem::path before;
  std::filesystem::path root;
};

TEST_F(DirectoryTest, EachRankHasItsOwn)
{
  const auto shared = directory("a");
  start_in(shared, 0, [this](Thread& thread) {
    EXPECT_EQ(std::filesystem::current_path(), root / "a");
    EXPECT_EQ(change(thread, "../b"), 0);
    EXPECT_EQ(std::filesystem::current_path(), root / "b");
    scheduler.sleep(20);
    rank_host.begin_burst(thread);
    EXPECT_EQ(std::filesystem::current_path(), root / "b");
  });
  start_in(shared, 10, [this](Thread&) { EXPECT_EQ(std::filesystem::current_path(), root / "a"); });
  scheduler.run();
  EXPECT_THAT(rank_host.asked, IsEmpty()); // no business of the simulation's
}

TEST_F(DirectoryTest, IsChangedByDescriptorToo)
{
  start_in(directory("a"), 0, [this](Thread& thread) {
    const auto other = directory("b");
    EXPECT_EQ(change(thread, nullptr, other->fd()), 0);
    EXPECT_EQ(std::filesystem::current_path(), root / "b");
  });
  scheduler.run();
}

TEST_F(DirectoryTest, StaysWhereItIsIfThereIsNoSuchDirectory)
{
  const auto a = directory("a");
  Carried& rank = start_in(a, 0, [this](Thread& thread) {
    EXPECT_EQ(change(thread, "nowhere"), -ENOENT);
    EXPECT_EQ(std::filesystem::current_path(), root / "a");
  });
  scheduler.run();
  EXPECT_EQ(rank.rank.directory, a);
}

// --- death -----------------------------------------------------------------------------------------------------------

class EndTest : public RankHostTest
{
protected:
  // What is reported of a rank that dies so; `address`: of the fault, by its thread.
  std::string report_of(int signal, const std::function<void*(const Thread&)>& address)
  {
    start(0, [this, signal, address](Thread& thread) {
      siginfo_t information{};
      information.si_addr = address(thread);
      umw_args_umw_die die{0, signal, &information, nullptr};
      EXPECT_THROW(rank_host.call(thread, UMW_OP_umw_die, &die), Ended);
    });
    scheduler.run();
    EXPECT_THAT(rank_host.asked, ElementsAre(UMW_OP_umw_died));
    return rank_host.report;
  }
};

TEST_F(EndTest, AFaultIsReportedWithItsAddressAndABacktrace)
{
  const std::string report = report_of(SIGSEGV, [](const Thread&) { return reinterpret_cast<void*>(0x10); });
  EXPECT_EQ(report.substr(0, report.find('\n')), " at address 0x10");
  EXPECT_THAT(report, HasSubstr("\n    #0 "));
  EXPECT_THAT(report, testing::Not(HasSubstr("its stack")));
}

TEST_F(EndTest, AStackThatIsUsedUpIsCalledThat)
{
  const std::string report = report_of(
      SIGSEGV, [](const Thread& thread) { return static_cast<char*>(thread.fiber->stack().top()) - stack - 1; });
  EXPECT_THAT(report, HasSubstr("its stack of 0 MiB is used up. Next step: ulimit -s"));
}

TEST_F(EndTest, OtherSignalsHaveNoAddress)
{
  const std::string report = report_of(SIGFPE, [](const Thread&) { return reinterpret_cast<void*>(0x10); });
  EXPECT_EQ(report.substr(0, report.find('\n')), "");
}

} // namespace
} // namespace umwelt::rank_host
