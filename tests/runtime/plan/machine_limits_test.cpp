// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/machine_limits.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/runtime/cli/support.h"

namespace umwelt::plan
{
namespace
{
namespace test = cli::test;

// What processes of a machine see below /proc and /sys, as far as it matters.
class MachineLimitsTest : public testing::Test
{
protected:
  void write(const std::string& name, const std::string& text) const { directory.write(name, text); }
  [[nodiscard]] MachineLimits read() const { return read_machine_limits(directory.path()); }

  test::TemporaryDirectory directory;
};

TEST_F(MachineLimitsTest, NothingIsKnownOfAMachineWithoutProc)
{
  const MachineLimits limits = read();
  EXPECT_FALSE(limits.memory);
  EXPECT_FALSE(limits.maps);
  EXPECT_FALSE(limits.threads);
  EXPECT_FALSE(limits.thread_ids);
  EXPECT_FALSE(limits.cgroup_memory);
  EXPECT_FALSE(limits.cgroup_threads);
}

TEST_F(MachineLimitsTest, MemoryIsWhatIsAvailableAndSwap)
{
  write("proc/meminfo",
        "MemTotal: 8000 kB\nMemFree: 10 kB\nMemAvailable: 3000 kB\nSwapTotal: 900 kB\nSwapFree: 500 kB\n");
  EXPECT_EQ(read().memory, 3500u * 1024);
}

TEST_F(MachineLimitsTest, SettingsOfTheKernelAndThreadsThereAre)
{
  write("proc/sys/vm/max_map_count", "65530\n");
  write("proc/sys/kernel/threads-max", "1000\n");
  write("proc/sys/kernel/pid_max", "32768\n");
  write("proc/loadavg", "0.73 2.41 2.69 2/86 26647\n");
  const MachineLimits limits = read();
  EXPECT_EQ(limits.maps, 65530u);
  ASSERT_TRUE(limits.threads && limits.thread_ids);
  EXPECT_EQ(limits.threads->left(), 914u);
  EXPECT_EQ(limits.thread_ids->left(), 32768u - 86);
  EXPECT_EQ(limits.thread_ids->where, "kernel.pid_max");
}

TEST_F(MachineLimitsTest, OfNestedGroupsTheOneThatLeavesLeastCounts)
{
  write("proc/self/cgroup", "0::/user.slice/shell\n");
  write("sys/fs/cgroup/user.slice/memory.max", "1000000\n");
  write("sys/fs/cgroup/user.slice/memory.current", "700000\n");
  write("sys/fs/cgroup/user.slice/memory.stat", "anon 300000\ninactive_file 150000\nactive_file 50000\nfile 200000\n");
  write("sys/fs/cgroup/user.slice/shell/memory.max", "800000\n");
  write("sys/fs/cgroup/user.slice/shell/memory.current", "100000\n");
  write("sys/fs/cgroup/user.slice/shell/pids.max", "max\n");
  write("sys/fs/cgroup/user.slice/pids.max", "500\n");
  write("sys/fs/cgroup/user.slice/pids.current", "20\n");
  const MachineLimits limits = read();
  ASSERT_TRUE(limits.cgroup_memory && limits.cgroup_threads);
  EXPECT_EQ(limits.cgroup_memory->limit, 1000000u);
  EXPECT_EQ(limits.cgroup_memory->used, 500000u);
  EXPECT_EQ(limits.cgroup_memory->where, directory.path() / "sys/fs/cgroup/user.slice/memory.max");
  EXPECT_EQ(limits.cgroup_threads->left(), 480u);
}

TEST_F(MachineLimitsTest, GroupsOfVersionOneHaveADirectoryPerController)
{
  write("proc/self/cgroup", "9:name=systemd:/\n8:cpu,pids:/job\n4:memory:/job\n0::/\n");
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_FALSE(read().cgroup_memory) << "unlimited";
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "4096000\n");
  write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "2048000\n");
  write("sys/fs/cgroup/memory/job/memory.stat",
        "inactive_file 1\ntotal_inactive_file 48000\ntotal_active_file 1000000\n");
  write("sys/fs/cgroup/pids/job/pids.max", "100\n");
  write("sys/fs/cgroup/pids/job/pids.current", "120\n");
  const MachineLimits limits = read();
  ASSERT_TRUE(limits.cgroup_memory && limits.cgroup_threads);
  EXPECT_EQ(limits.cgroup_memory->left(), 3096000u);
  EXPECT_EQ(limits.cgroup_threads->left(), 0u);
}

TEST_F(MachineLimitsTest, AContainerSeesItsOwnGroupAtTheTop)
{
  write("proc/self/cgroup", "4:memory:/docker/0123\n0::/docker/0123\n");
  write("sys/fs/cgroup/memory.max", "5000\n");
  EXPECT_EQ(read().cgroup_memory->limit, 5000u);
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "3000\n");
  EXPECT_EQ(read().cgroup_memory->limit, 3000u);
}

TEST(MachineLimits, OfThisMachineAreFound)
{
  const MachineLimits limits = read_machine_limits();
  ASSERT_TRUE(limits.memory && limits.maps && limits.threads && limits.thread_ids);
  EXPECT_GT(*limits.memory, 1u << 20);
  EXPECT_GT(limits.threads->used, 0u);
  EXPECT_EQ(limits.user_threads.has_value(), [] {
    rlimit limit{};
    getrlimit(RLIMIT_NPROC, &limit);
    return geteuid() != 0 && limit.rlim_cur != RLIM_INFINITY;
  }());
}

// In a process of its own, since a limit may not be raised again.
TEST(MachineLimits, DescriptorsAreRaisedToWhatIsAllowed)
{
  const auto raised = [](rlim_t soft, rlim_t hard, std::uint64_t needed) {
    rlimit limit{soft, hard};
    setrlimit(RLIMIT_NOFILE, &limit);
    const std::uint64_t before = raise_descriptor_limit(needed);
    getrlimit(RLIMIT_NOFILE, &limit);
    std::fprintf(stderr, "%lu, %lu", static_cast<unsigned long>(before), static_cast<unsigned long>(limit.rlim_cur));
    _exit(0);
  };
  EXPECT_EXIT(raised(64, 200, 100), testing::ExitedWithCode(0), "^64, 100$");
  EXPECT_EXIT(raised(64, 200, 1000), testing::ExitedWithCode(0), "^64, 200$");
  EXPECT_EXIT(raised(64, 200, 50), testing::ExitedWithCode(0), "^64, 64$");
}

} // namespace
} // namespace umwelt::plan
