// SPDX-License-Identifier: LGPL-2.1-or-later
// The %fs base ("thread pointer") and the RAII objects that cross between a rank's side and the runtime's.
//
// Every simulated thread has a thread control block of its own, so errno, pthread keys and thread_local variables of a
// rank are the rank's. Runtime code always runs on the runtime's %fs and rank code on the rank's; the only places where
// %fs changes are the two classes below. Between construction and destruction of either, nothing that depends on
// thread-local storage may be cached. wrfsbase costs about 5 ns; without FSGSBASE (AT_HWCAP2 bit 1) the arch_prctl
// system call does the same in about 100 ns, in some virtual machines 4 us. So it is written only where it changes, and
// read from where it points to.
#pragma once

#include <cstdint>

#include "runtime/engine/syscalls.h"

namespace umwelt::engine
{

using ThreadPointer = std::uintptr_t;

namespace detail
{
extern bool have_fsgsbase;
extern ThreadPointer runtime_thread_pointer;
void write_by_system_call(ThreadPointer value);
} // namespace detail

// The first word there is its own address (ELF Handling For Thread-Local Storage, 3.4.6, x86-64).
inline ThreadPointer read_thread_pointer()
{
  ThreadPointer value;
  asm volatile("mov %%fs:0, %0" : "=r"(value));
  return value;
}

inline void write_thread_pointer(ThreadPointer value)
{
  if (detail::have_fsgsbase) [[likely]] {
    asm volatile("wrfsbase %0" : : "r"(value) : "memory");
    return;
  }
  detail::write_by_system_call(value);
}

// Remembers the calling thread's %fs as the runtime's; once, before the first rank is loaded.
void adopt_runtime_thread_pointer();
inline ThreadPointer runtime_thread_pointer()
{
  return detail::runtime_thread_pointer;
}
inline bool in_runtime()
{
  return read_thread_pointer() == detail::runtime_thread_pointer;
}

// Rank -> runtime, for the duration of a gate call or a signal handler. Harmless when already on the runtime's side.
class Crossing
{
public:
  Crossing() : rank_(read_thread_pointer()), selector_(detail::syscall_selector)
  {
    detail::syscall_selector = 0;
    if (from_rank())
      write_thread_pointer(detail::runtime_thread_pointer);
  }
  ~Crossing()
  {
    if (from_rank())
      write_thread_pointer(rank_);
    detail::syscall_selector = selector_;
  }
  Crossing(const Crossing&) = delete;
  Crossing& operator=(const Crossing&) = delete;

  [[nodiscard]] bool from_rank() const { return rank_ != detail::runtime_thread_pointer; }
  [[nodiscard]] ThreadPointer rank() const { return rank_; }
  // Whether system calls of the rank come to the runtime from now on (syscalls.h).
  void watch_syscalls(bool watch) { selector_ = static_cast<char>(watch); }

private:
  ThreadPointer rank_;
  char selector_;
};

// Runtime -> rank, around code of a rank that the runtime calls (loading, entry, signal handlers).
class Excursion
{
public:
  explicit Excursion(ThreadPointer rank, bool watch_syscalls = false)
  {
    write_thread_pointer(rank);
    detail::syscall_selector = static_cast<char>(watch_syscalls);
  }
  ~Excursion()
  {
    detail::syscall_selector = 0;
    write_thread_pointer(detail::runtime_thread_pointer);
  }
  Excursion(const Excursion&) = delete;
  Excursion& operator=(const Excursion&) = delete;
};

} // namespace umwelt::engine
