// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/string_instructions.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <vector>

#include <gtest/gtest.h>

#include <sys/mman.h>

namespace umwelt::rank_host
{
namespace
{

greg_t address(const void* pointer)
{
  return static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(pointer));
}

// A thread that stands before this code, with these registers.
class StringInstructions : public testing::Test
{
protected:
  std::uint64_t execute(std::initializer_list<unsigned char> code, void* to, const void* from, std::uint64_t count,
                        greg_t value = 0)
  {
    std::ranges::copy(code, code_.begin());
    set(REG_RIP, address(code_.data()));
    set(REG_RDI, address(to));
    set(REG_RSI, address(from));
    set(REG_RCX, static_cast<greg_t>(count));
    set(REG_RAX, value);
    return execute_string_instruction(context_);
  }
  void set(int number, greg_t value) { context_.uc_mcontext.gregs[number] = value; }
  [[nodiscard]] greg_t get(int number) const { return context_.uc_mcontext.gregs[number]; }
  [[nodiscard]] greg_t passed() const { return get(REG_RIP) - address(code_.data()); }

private:
  ucontext_t context_{};
  std::array<unsigned char, 16> code_{};
};

TEST_F(StringInstructions, CopiesBytesAndStandsBehind)
{
  std::vector<char> from(10'000, 'a');
  std::vector<char> to(10'000, 'b');
  from[9998] = 'c';
  EXPECT_EQ(execute({0xf3, 0xa4}, to.data(), from.data(), 9999), 9999U);
  EXPECT_TRUE(std::equal(from.begin(), from.begin() + 9999, to.begin()));
  EXPECT_EQ(to[9999], 'b');
  EXPECT_EQ(passed(), 2);
  EXPECT_EQ(get(REG_RCX), 0);
  EXPECT_EQ(get(REG_RDI), address(&to[9999]));
  EXPECT_EQ(get(REG_RSI), address(&from[9999]));
}

TEST_F(StringInstructions, CopiesWords)
{
  const std::array<std::uint64_t, 4> from{1, 2, 3, 4};
  std::array<std::uint64_t, 4> to{};
  EXPECT_EQ(execute({0xf3, 0x48, 0xa5}, to.data(), from.data(), 4), 32U);
  EXPECT_EQ(to, from);
  EXPECT_EQ(passed(), 3);
  to = {};
  EXPECT_EQ(execute({0xf3, 0xa5}, to.data(), from.data(), 4), 16U) << "of 4 bytes";
  EXPECT_EQ(to, (std::array<std::uint64_t, 4>{1, 2, 0, 0}));
  EXPECT_EQ(passed(), 2);
}

TEST_F(StringInstructions, Fills)
{
  std::vector<unsigned char> to(9000, 1);
  EXPECT_EQ(execute({0xf3, 0xaa}, to.data(), nullptr, 8999, 0x1234), 8999U);
  EXPECT_TRUE(std::all_of(to.begin(), to.end() - 1, [](unsigned char c) { return c == 0x34; }));
  EXPECT_EQ(to.back(), 1);
  EXPECT_EQ(get(REG_RSI), 0);
  std::array<std::uint64_t, 700> words{};
  EXPECT_EQ(execute({0xf3, 0x48, 0xab}, words.data(), nullptr, 700, 0x123456789abcdef0), 5600U);
  EXPECT_TRUE(std::ranges::all_of(words, [](std::uint64_t w) { return w == 0x123456789abcdef0; }));
}

TEST_F(StringInstructions, OthersAreLeftToTheThread)
{
  std::array<char, 64> bytes{};
  EXPECT_EQ(execute({0xf3, 0xa4}, bytes.data(), &bytes[32], 0), 0U) << "nothing to do";
  EXPECT_EQ(execute({0xa4}, bytes.data(), &bytes[32], 8), 0U) << "not repeated";
  EXPECT_EQ(execute({0xf3, 0xa6}, bytes.data(), &bytes[32], 8), 0U) << "compares";
  EXPECT_EQ(execute({0xf3, 0x90}, bytes.data(), &bytes[32], 8), 0U) << "a pause";
  EXPECT_EQ(execute({0xf3, 0xa4}, &bytes[1], bytes.data(), 8), 0U) << "copies what it has written";
  EXPECT_EQ(passed(), 0);
  set(REG_EFL, 0x400);
  EXPECT_EQ(execute({0xf3, 0xa4}, bytes.data(), &bytes[32], 8), 0U) << "downwards";
}

TEST_F(StringInstructions, WhatFaultsIsLeftToTheThread)
{
  constexpr std::size_t page = 4096;
  void* const memory = mmap(nullptr, 2 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const bytes = static_cast<char*>(memory);
  ASSERT_EQ(mprotect(bytes, page, PROT_READ | PROT_WRITE), 0);
  std::array<char, 100> from{};
  EXPECT_EQ(execute({0xf3, 0xa4}, bytes + page - 50, from.data(), 100), 0U) << "not to be written";
  EXPECT_EQ(execute({0xf3, 0xaa}, bytes + page - 50, nullptr, 100), 0U);
  EXPECT_EQ(execute({0xf3, 0xa4}, from.data(), nullptr, 100), 0U) << "not there";
  EXPECT_EQ(passed(), 0);
  EXPECT_EQ(execute({0xf3, 0xa4}, from.data(), bytes + page - 50, 100), 100U) << "to be read";
  munmap(memory, 2 * page);
}

} // namespace
} // namespace umwelt::rank_host
