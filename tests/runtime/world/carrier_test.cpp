// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/world/carrier.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace umwelt::world
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::size_t stack = 256 * 1024;
char* no_arguments[] = {nullptr};

struct Ended {
}; // a request that does not return

// A process whose simulation knows the lock of the loader and the end of ranks.
class FakeCarrier final : public Carrier
{
public:
  FakeCarrier(engine::Scheduler& scheduler, Cpu& cpu) : Carrier(scheduler, cpu, no_arguments) {}

  [[nodiscard]] Thread* running() const override { return nullptr; }
  void request(Thread& thread, std::uint32_t operation, void* arguments) override
  {
    asked.push_back(operation);
    switch (operation) {
    case UMW_OP_umw_loader_wait:
      while (releases <= static_cast<umw_args_umw_loader_wait*>(arguments)->seen) {
        queue.push_back(thread.fiber);
        fibers().block();
      }
      return;
    case UMW_OP_umw_loader_released:
      releases = static_cast<umw_args_umw_loader_released*>(arguments)->count;
      fibers().wake(*queue.front());
      queue.pop_front();
      return;
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

private:
  std::uint64_t releases = 0;
  std::deque<engine::Actor*> queue;
};

class CarrierTest : public testing::Test
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
  void note(const std::string& what) { log.push_back(fmt::format("{} {}", what, scheduler.now())); }

  sim::Timeline timeline;
  engine::Scheduler scheduler{timeline};
  Cpu cpu{{cli::CpuPolicy::Kind::none}, 0, 0};
  FakeCarrier carrier{scheduler, cpu};
  std::deque<Carried> ranks;
  std::vector<std::string> log;
};

TEST_F(CarrierTest, ACallBecomesARequestAndCountsAsACrossing)
{
  Carried& rank = start(0, [this](Thread& thread) {
    umw_args_umw_fence fence{};
    carrier.call(thread, UMW_OP_umw_fence, &fence);
  });
  scheduler.run();
  EXPECT_THAT(carrier.asked, ElementsAre(UMW_OP_umw_fence));
  EXPECT_EQ(rank.gate.crossings, 1U);
}

// --- the lock of the loader ------------------------------------------------------------------------------------------

class LoaderLockTest : public CarrierTest
{
protected:
  void set(Thread& thread, int take)
  {
    umw_args_umw_loader_lock lock{-1, take};
    carrier.call(thread, UMW_OP_umw_loader_lock, &lock);
    EXPECT_EQ(lock.result, 0);
  }
  void lock(Thread& thread) { set(thread, 1); }
  void unlock(Thread& thread) { set(thread, 0); }
  // A rank that holds the lock for `duration`.
  void load(const std::string& name, SimTime begin, SimTime duration)
  {
    start(begin, [this, name, duration](Thread& thread) {
      lock(thread);
      note(name);
      scheduler.sleep(duration);
      unlock(thread);
    });
  }
};

TEST_F(LoaderLockTest, RanksTakeTurns)
{
  load("a", 0, 100);
  load("b", 10, 100);
  load("c", 20, 100);
  scheduler.run();
  EXPECT_THAT(log, ElementsAre("a 0", "b 100", "c 200"));
}

TEST_F(LoaderLockTest, IsNobodysBusinessIfNobodyWaits)
{
  load("a", 0, 100);
  load("b", 100, 100);
  scheduler.run();
  EXPECT_THAT(carrier.asked, IsEmpty());
  EXPECT_EQ(ranks.front().gate.crossings, 0U);
}

TEST_F(LoaderLockTest, IsReleasedAsOftenAsItWasTaken)
{
  start(0, [this](Thread& thread) {
    lock(thread);
    lock(thread);
    scheduler.sleep(100);
    unlock(thread);
    scheduler.sleep(100);
    unlock(thread);
  });
  load("b", 10, 0);
  scheduler.run();
  EXPECT_THAT(log, ElementsAre("b 200"));
}

TEST_F(LoaderLockTest, IsNotReleasedByWhoeverDoesNotHoldIt)
{
  load("a", 0, 100);
  start(10, [this](Thread& thread) { unlock(thread); });
  load("c", 20, 0);
  scheduler.run();
  EXPECT_THAT(log, ElementsAre("a 0", "c 100"));
}

TEST_F(LoaderLockTest, WhoeverComesBeforeTheOneThatWasWokenHasIt)
{
  start(0, [this](Thread& thread) {
    lock(thread);
    scheduler.sleep(100);
    unlock(thread); // b is woken, but a goes on
    lock(thread);
    note("a");
    scheduler.sleep(100);
    unlock(thread);
  });
  load("b", 10, 0);
  scheduler.run();
  EXPECT_THAT(log, ElementsAre("a 100", "b 200"));
}

TEST_F(LoaderLockTest, TheGateSaysWhoHoldsIt)
{
  const Carried& rank = start(0, [this](Thread& thread) {
    EXPECT_EQ(thread.rank.gate.loading, 0U);
    lock(thread);
    EXPECT_EQ(thread.rank.gate.loading, 1U);
    lock(thread);
    unlock(thread);
    EXPECT_EQ(thread.rank.gate.loading, 1U);
    unlock(thread);
  });
  start(0, [this](Thread& thread) { // waits at first
    lock(thread);
    EXPECT_EQ(thread.rank.gate.loading, 1U);
    EXPECT_EQ(ranks.front().gate.loading, 0U);
    unlock(thread);
    EXPECT_EQ(thread.rank.gate.loading, 0U);
  });
  scheduler.run();
  EXPECT_EQ(rank.gate.loading, 0U);
}

// --- working directories ---------------------------------------------------------------------------------------------

class FolderTest : public CarrierTest
{
protected:
  FolderTest() : before(std::filesystem::current_path())
  {
    std::string name = (std::filesystem::temp_directory_path() / "umwelt-test-XXXXXX").string();
    root = std::filesystem::canonical(mkdtemp(name.data()));
    for (const char* folder : {"a", "b"})
      std::filesystem::create_directory(root / folder);
  }
  ~FolderTest() override
  {
    std::filesystem::current_path(before);
    std::filesystem::remove_all(root);
  }
  int change(Thread& thread, const char* path, int fd = -1)
  {
    umw_args_umw_change_directory change{1, path, fd};
    carrier.call(thread, UMW_OP_umw_change_directory, &change);
    return change.result;
  }
  Carried& start_in(const std::shared_ptr<Folder>& folder, SimTime begin, const std::function<void(Thread&)>& body)
  {
    Carried& carried = start(begin, [this, body](Thread& thread) {
      carrier.begin_burst(thread);
      body(thread);
    });
    carried.rank.folder = folder;
    return carried;
  }
  [[nodiscard]] std::shared_ptr<Folder> folder(const char* name) const
  {
    return std::make_shared<Folder>(open((root / name).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }

  std::filesystem::path before;
  std::filesystem::path root;
};

TEST_F(FolderTest, EachRankHasItsOwn)
{
  const auto shared = folder("a");
  start_in(shared, 0, [this](Thread& thread) {
    EXPECT_EQ(std::filesystem::current_path(), root / "a");
    EXPECT_EQ(change(thread, "../b"), 0);
    EXPECT_EQ(std::filesystem::current_path(), root / "b");
    scheduler.sleep(20);
    carrier.begin_burst(thread);
    EXPECT_EQ(std::filesystem::current_path(), root / "b");
  });
  start_in(shared, 10, [this](Thread&) { EXPECT_EQ(std::filesystem::current_path(), root / "a"); });
  scheduler.run();
  EXPECT_THAT(carrier.asked, IsEmpty()); // no business of the simulation's
}

TEST_F(FolderTest, IsChangedByDescriptorToo)
{
  start_in(folder("a"), 0, [this](Thread& thread) {
    const auto other = folder("b");
    EXPECT_EQ(change(thread, nullptr, other->fd()), 0);
    EXPECT_EQ(std::filesystem::current_path(), root / "b");
  });
  scheduler.run();
}

TEST_F(FolderTest, StaysWhereItIsIfThereIsNoSuchFolder)
{
  const auto a = folder("a");
  Carried& rank = start_in(a, 0, [this](Thread& thread) {
    EXPECT_EQ(change(thread, "nowhere"), -ENOENT);
    EXPECT_EQ(std::filesystem::current_path(), root / "a");
  });
  scheduler.run();
  EXPECT_EQ(rank.rank.folder, a);
}

// --- death -----------------------------------------------------------------------------------------------------------

class EndTest : public CarrierTest
{
protected:
  // What is reported of a rank that dies so; `address`: of the fault, by its thread.
  std::string report_of(int signal, const std::function<void*(const Thread&)>& address)
  {
    start(0, [this, signal, address](Thread& thread) {
      siginfo_t information{};
      information.si_addr = address(thread);
      umw_args_umw_die die{0, signal, &information, nullptr};
      EXPECT_THROW(carrier.call(thread, UMW_OP_umw_die, &die), Ended);
    });
    scheduler.run();
    EXPECT_THAT(carrier.asked, ElementsAre(UMW_OP_umw_died));
    return carrier.report;
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
} // namespace umwelt::world
