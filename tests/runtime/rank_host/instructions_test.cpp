// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/instructions.h"

#include <vector>

#include <gtest/gtest.h>

namespace umwelt::rank_host
{
namespace
{

bool looks(const std::vector<unsigned char>& code)
{
  return only_looks(code);
}

TEST(Instructions, LoadsComparisonsAndJumpsOnlyLook)
{
  EXPECT_TRUE(looks({0x0f, 0xb6, 0x84, 0x24, 0xa0, 0, 0, 0})); // movzbl 0xa0(%rsp),%eax
  EXPECT_TRUE(looks({0x84, 0xc0}));                            // test %al,%al
  EXPECT_TRUE(looks({0x75, 0xf4}));                            // jne
  EXPECT_TRUE(looks({0x0f, 0x85, 0xf4, 0xff, 0xff, 0xff}));    // jne, far
  EXPECT_TRUE(looks({0x48, 0x8b, 0x07}));                      // mov (%rdi),%rax
  EXPECT_TRUE(looks({0x66, 0x83, 0x3f, 0x00}));                // cmpw $0,(%rdi)
  EXPECT_TRUE(looks({0x80, 0x3d, 0, 0, 0, 0, 0}));             // cmpb $0,x(%rip)
  EXPECT_TRUE(looks({0xf6, 0x07, 0x01}));                      // testb $1,(%rdi)
  EXPECT_TRUE(looks({0xf3, 0x90}));                            // pause
  EXPECT_TRUE(looks({0x0f, 0xae, 0xe8}));                      // lfence
}

TEST(Instructions, WhatWritesOrIsUnknownDoesNot)
{
  EXPECT_FALSE(looks({0x89, 0x07}));             // mov %eax,(%rdi)
  EXPECT_FALSE(looks({0xff, 0x07}));             // incl (%rdi)
  EXPECT_FALSE(looks({0x83, 0x07, 0x01}));       // addl $1,(%rdi)
  EXPECT_FALSE(looks({0xf7, 0x1f}));             // negl (%rdi)
  EXPECT_FALSE(looks({0xf0, 0x0f, 0xb1, 0x17})); // lock cmpxchg %edx,(%rdi)
  EXPECT_FALSE(looks({0x87, 0x07}));             // xchg %eax,(%rdi)
  EXPECT_FALSE(looks({0x0f, 0xae, 0x3f}));       // clflush (%rdi)
  EXPECT_FALSE(looks({0xe8, 0, 0, 0, 0}));       // call
  EXPECT_FALSE(looks({0xf3, 0xa4}));             // rep movsb
  EXPECT_FALSE(looks({0x0f, 0x05}));             // syscall
  EXPECT_FALSE(looks({0x0f}));
  EXPECT_FALSE(looks({}));
}

} // namespace
} // namespace umwelt::rank_host
