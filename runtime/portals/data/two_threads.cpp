// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/portals/data/two_threads.h"

#include <algorithm>
#include <csignal>
#include <system_error>
#include <utility>

#include <sched.h>

namespace umwelt::portals
{

namespace
{
constexpr std::size_t part_bytes = std::size_t{256} << 10;
}

TwoThreads& TwoThreads::instance()
{
  static TwoThreads threads;
  return threads;
}

TwoThreads::TwoThreads()
{
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) == 0 && CPU_COUNT(&usable) < 2)
    return;
  sigset_t all;
  sigset_t before;
  sigfillset(&all); // signals are the runtime's thread's
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    helper_ = std::thread([this] { help(); });
  } catch (const std::system_error&) { // then without
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TwoThreads::~TwoThreads()
{
  if (!helper_.joinable())
    return;
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  helper_.join();
}

bool TwoThreads::run(std::size_t size, const Part& part)
{
  {
    const std::scoped_lock lock(mutex_);
    part_ = &part;
    size_ = size;
    next_ = 0;
    done_ = true;
    thrown_ = nullptr;
  }
  if (helper_.joinable())
    changed_.notify_all();
  take_parts();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !helping_; });
  part_ = nullptr; // if it comes too late, there is nothing left
  if (thrown_)
    std::rethrow_exception(std::exchange(thrown_, nullptr));
  return done_;
}

bool TwoThreads::try_part(std::size_t offset)
{
  try {
    return (*part_)(offset, std::min(part_bytes, size_ - offset));
  } catch (...) {
    const std::scoped_lock lock(mutex_);
    if (!thrown_)
      thrown_ = std::current_exception();
    return false;
  }
}

void TwoThreads::take_parts()
{
  for (;;) {
    const std::size_t offset = next_.fetch_add(part_bytes, std::memory_order_relaxed);
    if (offset >= size_)
      return;
    if (!try_part(offset)) {
      done_ = false;
      next_ = size_; // for the other one as well
      return;
    }
  }
}

void TwoThreads::help()
{
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ends_ || (part_ != nullptr && next_ < size_); });
    if (ends_)
      return;
    helping_ = true;
    lock.unlock();
    take_parts();
    lock.lock();
    helping_ = false;
    changed_.notify_all();
  }
}

} // namespace umwelt::portals
