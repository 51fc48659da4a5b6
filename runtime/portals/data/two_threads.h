// SPDX-License-Identifier: LGPL-2.1-or-later
// Work that the runtime's thread shares with another one while it waits for it to be done: copying between worker
// processes, whose ranks cannot go on anyway. Whoever is free takes the next part, so a helper that gets no CPU holds
// nobody up for long.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace umwelt::portals
{

class TwoThreads
{
public:
  static constexpr std::size_t worthwhile = std::size_t{1} << 20; // bytes; waking the other costs some microseconds

  using Part = std::function<bool(std::size_t offset, std::size_t size)>;

  // Started with the first call. With one CPU there is no other thread.
  static TwoThreads& instance();
  TwoThreads();
  ~TwoThreads();
  TwoThreads(const TwoThreads&) = delete;
  TwoThreads& operator=(const TwoThreads&) = delete;

  // part() for all parts of [0, size), which must not depend on each other. False: one of them was, and others may not
  // have been tried. What a part throws is thrown here, by whichever thread it was thrown. No part runs any more when
  // this returns or throws.
  bool run(std::size_t size, const Part& part);

private:
  void help();
  void take_parts();
  bool try_part(std::size_t offset);

  std::mutex mutex_;
  std::condition_variable changed_;
  const Part* part_ = nullptr; // under way
  bool helping_ = false;
  bool ends_ = false;
  std::size_t size_ = 0;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> done_{true}; // all of them successfully, so far
  std::exception_ptr thrown_;    // by the first that did
  std::thread helper_;
};

} // namespace umwelt::portals
