// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/portals/data/two_threads.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

namespace umwelt::portals
{

namespace
{

using namespace std::chrono_literals;

constexpr std::size_t size = std::size_t{16} << 20;

TEST(TwoThreads, DoesAllParts)
{
  TwoThreads threads;
  for (int i = 0; i < 100; ++i) {
    std::atomic<std::size_t> bytes{0};
    EXPECT_TRUE(threads.run(size, [&](std::size_t, std::size_t part) {
      bytes += part;
      return true;
    }));
    EXPECT_EQ(bytes, size);
  }
}

// What a part uses lives no longer than the call: under AddressSanitizer this found it used afterwards.
TEST(TwoThreads, NoPartRunsAfterOneHasThrown)
{
  TwoThreads threads;
  for (int i = 0; i < 200; ++i) {
    const auto caller = std::this_thread::get_id();
    auto calls = std::make_unique<std::atomic<int>>(0);
    EXPECT_THROW(threads.run(size,
                             [calls = calls.get(), caller](std::size_t, std::size_t) {
                               ++*calls;
                               if (std::this_thread::get_id() == caller)
                                 throw std::runtime_error("a part");
                               std::this_thread::sleep_for(1ms);
                               ++*calls;
                               return true;
                             }),
                 std::runtime_error);
    calls.reset();
  }
}

TEST(TwoThreads, WhatTheOtherThreadThrowsComesToTheCaller)
{
  TwoThreads threads;
  const auto caller = std::this_thread::get_id();
  for (int i = 0; i < 100; ++i) {
    std::atomic<bool> other{false};
    const auto part = [&](std::size_t, std::size_t) {
      if (std::this_thread::get_id() != caller) {
        other = true;
        throw std::runtime_error("a part");
      }
      std::this_thread::sleep_for(100us);
      return true;
    };
    try {
      threads.run(size, part);
      EXPECT_FALSE(other);
    } catch (const std::runtime_error&) {
      EXPECT_TRUE(other);
    }
  }
}

TEST(TwoThreads, NoPartRunsAfterOneHasFailed)
{
  TwoThreads threads;
  for (int i = 0; i < 1000; ++i) {
    auto calls = std::make_unique<std::atomic<int>>(0);
    EXPECT_FALSE(threads.run(size, [calls = calls.get()](std::size_t, std::size_t) { return ++*calls > 1000; }));
    calls.reset();
  }
}

} // namespace

} // namespace umwelt::portals
