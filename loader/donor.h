// SPDX-License-Identifier: LGPL-2.1-or-later
// A parked OS thread whose thread control block and thread-local storage a simulated thread uses. The thread itself never
// runs again: it exists so that glibc has set up, and will keep up when libraries are loaded later, everything that hangs
// on %fs (stack guard, pthread keys, errno, every module's thread-local variables).
#pragma once

#include <cstdint>

#include <pthread.h>

namespace umwelt::loader
{

class Donor
{
public:
  Donor(); // throws std::system_error when no thread can be had
  Donor(const Donor&) = delete;
  Donor& operator=(const Donor&) = delete;
  ~Donor() = default; // the thread stays parked: libraries may still look at its block until the process ends

  [[nodiscard]] std::uintptr_t thread_pointer() const { return thread_pointer_; }
  [[nodiscard]] pthread_t id() const { return id_; }
  // What the C library takes for the thread's id: the kernel's, of the parked thread. Mutexes note it as their owner.
  [[nodiscard]] std::int32_t kernel_id() const { return kernel_id_; }

  // Says to ld.so that this thread is not in the middle of a symbol look-up (loader/BUGS.md, "The look-up that never
  // ended"). To be called for all donors before anything is loaded or unloaded.
  void end_look_up() const;

private:
  std::uintptr_t thread_pointer_ = 0;
  pthread_t id_{};
  std::int32_t kernel_id_ = 0;
};

} // namespace umwelt::loader
