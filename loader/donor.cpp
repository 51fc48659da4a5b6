// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loader/donor.h"

#include <atomic>
#include <csignal>
#include <system_error>

#include <unistd.h>

namespace umwelt::loader
{

namespace
{

void* park(void* argument)
{
  std::uintptr_t self = 0;
  asm("mov %%fs:0, %0" : "=r"(self));
  auto* slot = static_cast<std::atomic<std::uintptr_t>*>(argument);
  slot->store(self, std::memory_order_release);
  slot->notify_one();
  for (;;)
    pause();
  return nullptr;
}

} // namespace

Donor::Donor()
{
  std::atomic<std::uintptr_t> slot{0};
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); // signals are for the thread that runs the simulation
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  const int error = pthread_create(&id_, &attributes, park, &slot);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0)
    throw std::system_error(error, std::generic_category(), "thread control block of a simulated thread");
  slot.wait(0);
  thread_pointer_ = slot.load(std::memory_order_acquire);
}

void Donor::end_look_up() const
{
  constexpr std::size_t gscope_flag = 28; // in tcbhead_t, glibc sysdeps/x86_64/nptl/tls.h
  *reinterpret_cast<int*>(thread_pointer_ + gscope_flag) = 0;
}

} // namespace umwelt::loader
