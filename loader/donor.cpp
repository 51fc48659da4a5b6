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

struct Slot {
  std::atomic<std::uintptr_t> thread_pointer{0};
  std::int32_t kernel_id = 0;
};

void* park(void* argument)
{
  std::uintptr_t self = 0;
  asm("mov %%fs:0, %0" : "=r"(self));
  auto* slot = static_cast<Slot*>(argument);
  slot->kernel_id = gettid();
  slot->thread_pointer.store(self, std::memory_order_release);
  slot->thread_pointer.notify_one();
  for (;;)
    pause();
  return nullptr;
}

} // namespace

Donor::Donor()
{
  Slot slot;
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
  slot.thread_pointer.wait(0);
  thread_pointer_ = slot.thread_pointer.load(std::memory_order_acquire);
  kernel_id_ = slot.kernel_id;
}

void Donor::end_look_up() const
{
  constexpr std::size_t gscope_flag = 28; // in tcbhead_t, glibc sysdeps/x86_64/nptl/tls.h
  *reinterpret_cast<int*>(thread_pointer_ + gscope_flag) = 0;
}

} // namespace umwelt::loader
