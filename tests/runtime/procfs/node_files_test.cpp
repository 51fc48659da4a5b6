// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/procfs/node_files.h"

#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "runtime/procfs/file_writer.h"

namespace umwelt::procfs
{
namespace
{

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

class NodeFilesTest : public testing::Test
{
protected:
  NodeFilesTest()
  {
    std::string name = testing::TempDir() + "umwelt-node-files-XXXXXX";
    directory_ = mkdtemp(name.data());
    std::vector<platform::Node> nodes(2);
    nodes[0].name = "bxi0";
    nodes[1].name = "bxi1";
    for (platform::Node& node : nodes)
      node.cores = 4;
    platform_ = std::make_unique<platform::Platform>("two", nodes);
    files_ = std::make_unique<NodeFiles>(*platform_, hostnames_, directory_);
    now_ = {.node = 1,
            .session = files_->session(1),
            .host_name = "bxi1",
            .cores = 4,
            .sockets = 1,
            .now = 2 * sim::second,
            .uptime_origin_ns = 10'000'000'000,
            .realtime_origin_ns = 1'000'000'000'000'000'000,
            .looking = 1000,
            .launcher = 999,
            .processes = {}};
    add(1000, 0, 50);
    add(1001, 3, 150);
  }
  ~NodeFilesTest() override { fs::remove_all(directory_); }

  void add(int pid, unsigned core, std::int64_t ticks)
  {
    now_.processes.push_back({pid, core, ticks, false, [pid] {
                                return ProcessFacts{.pid = pid,
                                                    .parent = 999,
                                                    .session = 999,
                                                    .host_pid = getpid(),
                                                    .program = "/bin/app",
                                                    .argv = {"app", "-x"},
                                                    .environment = {},
                                                    .directory = "/",
                                                    .started_ticks = 1000,
                                                    .cpu_ticks = 50,
                                                    .sockets = 1,
                                                    .threads = {{pid, 'R', Mask(4, true), 0}}};
                              }});
  }
  std::string shown(const std::string& path)
  {
    files_->make(now_, path);
    return read_file(now_.session + "/files" + path);
  }

  std::string directory_;
  std::vector<std::string> hostnames_{"bxi0", "bxi1"};
  std::unique_ptr<platform::Platform> platform_;
  std::unique_ptr<NodeFiles> files_;
  NodeNow now_;
};

TEST_F(NodeFilesTest, UptimeIsThatOfTheNodeAndIdleIsWhatNobodyComputed)
{
  EXPECT_EQ(shown("/proc/uptime"), "12.00 46.00\n"); // 4 cores for 12 s, less 0.5 and 1.5 s
}

TEST_F(NodeFilesTest, StatisticsCountWhatARankComputedForItsCore)
{
  const std::string text = shown("/proc/stat");
  EXPECT_THAT(text, StartsWith("cpu  200 0 0 4600 "));
  EXPECT_THAT(text, HasSubstr("\ncpu3 150 0 0 1050 "));
  EXPECT_THAT(text, HasSubstr("\nbtime 999999990\n"));
}

TEST_F(NodeFilesTest, LoadRisesWithTheProcessesThatRun)
{
  EXPECT_EQ(shown("/proc/loadavg"), "0.07 0.01 0.00 2/3 1000\n");
  now_.processes.back().ended = true;
  EXPECT_THAT(shown("/proc/loadavg"), HasSubstr(" 1/2 1000\n"));
}

TEST_F(NodeFilesTest, ProcListsTheNodesProcessesAndTheirLauncher)
{
  now_.processes.back().ended = true;
  files_->make(now_, "/proc");
  const fs::path proc = now_.session + "/files/proc";
  EXPECT_TRUE(fs::is_directory(proc / "1000"));
  EXPECT_TRUE(fs::is_directory(proc / "999"));
  EXPECT_FALSE(fs::exists(proc / "1001"));
}

TEST_F(NodeFilesTest, AProcessShowsItsOwnArguments)
{
  EXPECT_EQ(shown("/proc/1001/cmdline"), std::string("app\0-x\0", 7));
  NodeFiles::ended(now_.session, 1001);
  EXPECT_FALSE(fs::exists(now_.session + "/files/proc/1001"));
}

TEST_F(NodeFilesTest, TheLauncherIsUmwelt)
{
  EXPECT_EQ(shown("/proc/999/comm"), "umwelt\n");
}

TEST_F(NodeFilesTest, HostsNameEveryNode)
{
  files_->make(now_, "/etc/hosts");
  EXPECT_THAT(read_file(files_->machine(1).directory() + "/etc/hosts"), HasSubstr("\tbxi1\n"));
}

TEST_F(NodeFilesTest, NodesHaveBootIdsOfTheirOwn)
{
  const std::string one = shown("/proc/sys/kernel/random/boot_id");
  now_.node = 0;
  now_.session = files_->session(0);
  EXPECT_NE(shown("/proc/sys/kernel/random/boot_id"), one);
}

} // namespace
} // namespace umwelt::procfs
