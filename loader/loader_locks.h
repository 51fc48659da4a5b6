// SPDX-License-Identifier: LGPL-2.1-or-later
// The locks of ld.so, which all namespaces of a process share. Whoever holds one must go on until it is released: another rank
// that asked for it would stop the one OS thread that runs everything.
#pragma once

#include <cstdint>

#include <pthread.h>

namespace umwelt::loader
{

// Whether the interrupted thread holds the mutex, or may: whoever takes one says who it is an instruction or two later, and takes
// that back before it releases it (glibc's nptl/pthread_mutex_lock.c, pthread_mutex_unlock.c).
[[nodiscard]] bool may_be_held_by(const pthread_mutex_t& mutex, std::int32_t thread);

class LoaderLocks
{
public:
  // Looks for them. They are not part of any interface: in glibc 2.35 to 2.41 they lie next to each other in _rtld_global
  // (sysdeps/generic/ldsodefs.h: _dl_load_lock, _dl_load_write_lock, _dl_load_tls_lock). Where they are not found, none
  // counts as held.
  LoaderLocks();

  [[nodiscard]] bool found() const { return first_ != nullptr; }
  // Whether the thread with that id, as the kernel has it, holds one. Safe in a signal handler.
  [[nodiscard]] bool held_by(std::int32_t thread) const;

private:
  static constexpr int count = 3;
  const pthread_mutex_t* first_ = nullptr;
};

} // namespace umwelt::loader
