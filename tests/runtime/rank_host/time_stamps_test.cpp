// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/time_stamps.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace umwelt::rank_host
{
namespace
{

using Bytes = std::vector<unsigned char>;

class TimeStampsTest : public testing::Test
{
protected:
  ~TimeStampsTest() override { std::filesystem::remove(path); }

  // What is found in a file with one segment, which has this code and lies at 0x1000.
  std::vector<TimeStamps::Site> found_in(const Bytes& code, unsigned flags = PF_R | PF_X)
  {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 1;
    Elf64_Phdr segment{};
    segment.p_type = PT_LOAD;
    segment.p_flags = flags;
    segment.p_offset = sizeof header + sizeof segment;
    segment.p_vaddr = 0x1000;
    segment.p_filesz = segment.p_memsz = code.size();
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(&header), sizeof header);
    file.write(reinterpret_cast<const char*>(&segment), sizeof segment);
    file.write(reinterpret_cast<const char*>(code.data()), static_cast<std::streamsize>(code.size()));
    file.close();
    return TimeStamps::find(path);
  }

  std::string path = std::filesystem::temp_directory_path() / ("umwelt-time-stamps-" + std::to_string(getpid()));
};

TEST_F(TimeStampsTest, AreFoundWhereTheUpperHalfIsShifted)
{
  // nop; rdtsc; shl $32, %rdx; or %rdx, %rax; ret
  const auto rdtsc = found_in({0x90, 0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20, 0x48, 0x09, 0xd0, 0xc3});
  ASSERT_EQ(rdtsc.size(), 1U);
  EXPECT_EQ(rdtsc[0].address, 0x1001U);
  EXPECT_EQ(rdtsc[0].bytes, 2U);
  // rdtscp; mov %ecx, (%rdi); mov %rdx, %r9; shl $32, %r9
  const auto rdtscp = found_in({0x0f, 0x01, 0xf9, 0x89, 0x0f, 0x49, 0x89, 0xd1, 0x49, 0xc1, 0xe1, 0x20});
  ASSERT_EQ(rdtscp.size(), 1U);
  EXPECT_EQ(rdtscp[0].address, 0x1000U);
  EXPECT_EQ(rdtscp[0].bytes, 3U);
}

TEST_F(TimeStampsTest, AreFoundWhereBothHalvesArePutAside)
{
  // rdtsc; mov %edx, %r14d; mov %eax, %r15d; ret
  EXPECT_EQ(found_in({0x0f, 0x31, 0x41, 0x89, 0xd6, 0x41, 0x89, 0xc7, 0xc3}).size(), 1U);
  // rdtsc; mov %eax, %ecx; mov %edx, %esi; ret
  EXPECT_EQ(found_in({0x0f, 0x31, 0x89, 0xc1, 0x89, 0xd6, 0xc3}).size(), 1U);
  EXPECT_TRUE(found_in({0x0f, 0x31, 0x89, 0xc1, 0x89, 0xc6, 0xc3}).empty()); // the same half twice
  EXPECT_TRUE(found_in({0x0f, 0x31, 0x89, 0xd1}).empty());                   // one
}

TEST_F(TimeStampsTest, AreNotWhatTheBytesAreByChance)
{
  EXPECT_TRUE(found_in({0xe8, 0x0f, 0x31, 0x00, 0x00, 0xc3}).empty()); // call
  EXPECT_TRUE(found_in({0x0f, 0x31}).empty());
  EXPECT_TRUE(found_in({0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x1f}).empty()); // shl $31
  Bytes far(64, 0x90);
  far[0] = 0x0f;
  far[1] = 0x31;
  const Bytes shift = {0x48, 0xc1, 0xe2, 0x20};
  std::copy(shift.begin(), shift.end(), far.begin() + 40);
  EXPECT_TRUE(found_in(far).empty());
}

TEST_F(TimeStampsTest, AreNotLookedForInData)
{
  EXPECT_TRUE(found_in({0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20}, PF_R | PF_W).empty());
}

TEST_F(TimeStampsTest, AreNotFoundInWhatIsNoProgram)
{
  EXPECT_TRUE(TimeStamps::find("/nowhere").empty());
  std::ofstream(path) << "\x0f\x31\x48\xc1\xe2\x20, but this is a text that is longer than the header of an ELF file";
  EXPECT_TRUE(TimeStamps::find(path).empty());
  std::filesystem::resize_file(path, 3);
  EXPECT_TRUE(TimeStamps::find(path).empty());
}

} // namespace
} // namespace umwelt::rank_host
