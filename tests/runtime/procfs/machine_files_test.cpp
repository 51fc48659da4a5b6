// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/procfs/machine_files.h"

#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/procfs/file_writer.h"

namespace umwelt::procfs
{
namespace
{

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(Masks, AreWrittenAsTheKernelDoes)
{
  EXPECT_EQ(mask_words({true, true, false, true}), "0000000b");
  EXPECT_EQ(mask_words(Mask(33, true)), "00000001,ffffffff");
  EXPECT_EQ(mask_ranges({true, true, false, true}), "0-1,3");
  EXPECT_EQ(mask_ranges(Mask(128, true)), "0-127");
  EXPECT_EQ(mask_ranges(Mask(4)), "");
}

TEST(Sockets, ShareTheCoresInOrder)
{
  EXPECT_EQ(socket_of(0, 128, 2), 0U);
  EXPECT_EQ(socket_of(63, 128, 2), 0U);
  EXPECT_EQ(socket_of(64, 128, 2), 1U);
  EXPECT_EQ(socket_of(4, 5, 2), 1U);
}

class MachineFilesTest : public testing::Test
{
protected:
  MachineFilesTest()
  {
    std::string name = (fs::temp_directory_path() / "umwelt-test-XXXXXX").string();
    directory = mkdtemp(name.data());
    node.cores = 5;
    node.sockets = 2;
    node.memory = 4UL << 30;
  }
  ~MachineFilesTest() override { fs::remove_all(directory); }
  [[nodiscard]] std::string text(const std::string& path) const { return read_file(directory + path); }

  std::string directory;
  platform::Node node;
  std::string hosts = "10.0.0.1\tbxi0\n";
};

TEST_F(MachineFilesTest, AreMadeWhenTheyAreNamed)
{
  MachineFiles files(directory, node, hosts);
  EXPECT_TRUE(fs::exists(files.topology()));
  EXPECT_FALSE(fs::exists(directory + "/sys"));
  files.make("/sys/devices/system/cpu/cpu4/topology/core_id");
  EXPECT_EQ(text("/sys/devices/system/cpu/online"), "0-4\n");
  EXPECT_EQ(text("/sys/devices/system/cpu/cpu4/topology/core_id"), "1\n");
  EXPECT_EQ(text("/sys/devices/system/cpu/cpu4/topology/physical_package_id"), "1\n");
  EXPECT_EQ(text("/sys/devices/system/cpu/cpu4/topology/core_siblings_list"), "3-4\n");
  EXPECT_FALSE(fs::exists(directory + "/sys/devices/system/node"));
  files.make("/sys/devices/system/node");
  EXPECT_EQ(text("/sys/devices/system/node/node0/cpulist"), "0-2\n");
  EXPECT_EQ(text("/sys/devices/system/node/node0/distance"), "10 20\n");
  EXPECT_THAT(text("/sys/devices/system/node/node1/meminfo"), HasSubstr("Node 1 MemTotal:        2097152 kB\n"));
  EXPECT_EQ(text("/sys/devices/system/node/node1/cpu3/node1/cpulist"), "3-4\n"); // links lead to and fro
  files.make("/etc/hosts");
  EXPECT_EQ(text("/etc/hosts"), hosts);
  files.make("/proc/meminfo");
  EXPECT_THAT(text("/proc/meminfo"), HasSubstr("MemTotal:        4194304 kB\n"));
  files.make("/proc/meminfo"); // again
}

TEST_F(MachineFilesTest, ProcessorsAreNumberedInTheirSockets)
{
  MachineFiles files(directory, node, hosts);
  files.make("/proc/cpuinfo");
  const std::string all = text("/proc/cpuinfo");
  const std::size_t last = all.rfind("processor");
  EXPECT_THAT(all.substr(last), HasSubstr(": 4\n"));
  EXPECT_THAT(all.substr(last), testing::ContainsRegex("physical id\t: 1\n"));
  EXPECT_THAT(all.substr(last), testing::ContainsRegex("cpu cores\t: 2\n"));
}

TEST_F(MachineFilesTest, AreOfOneKind)
{
  const MachineFiles files(directory, node, hosts);
  EXPECT_TRUE(files.is_of(node));
  node.memory *= 2;
  EXPECT_FALSE(files.is_of(node));
}

} // namespace
} // namespace umwelt::procfs
