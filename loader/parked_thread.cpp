// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loader/parked_thread.h"

#include <array>
#include <atomic>
#include <climits>
#include <csignal>
#include <system_error>

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "loader/raw_call.h"

namespace umwelt::loader
{

namespace
{

// Threads that are loading, by which a fault finds its own.
struct Loading {
  std::atomic<std::int32_t> thread;
  umw_handover* handover;
};
constexpr std::size_t most_loading = 64;
std::array<Loading, most_loading> all_loading;

Loading* find(std::int32_t thread)
{
  for (Loading& each : all_loading)
    if (each.thread.load(std::memory_order_acquire) == thread)
      return &each;
  return nullptr;
}

struct Begin {
  void (*function)(void*);
  void* argument;
  umw_handover* handover;
};

__attribute__((no_sanitize("address", "undefined"))) void* begin(void* argument)
{
  const Begin what = *static_cast<Begin*>(argument);
  delete static_cast<Begin*>(argument);
  sigset_t faults;
  sigemptyset(&faults);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT})
    sigaddset(&faults, signal);
  pthread_sigmask(SIG_UNBLOCK, &faults, nullptr);
  what.handover->kernel_tid = gettid();
  for (Loading& each : all_loading) {
    std::int32_t none = 0;
    if (each.thread.compare_exchange_strong(none, -1)) {
      each.handover = what.handover;
      each.thread.store(what.handover->kernel_tid, std::memory_order_release);
      break;
    }
  }
  what.function(what.argument);
  __builtin_unreachable();
}

} // namespace

void start_parked_thread(void (*function)(void*), void* argument, std::size_t stack_bytes, umw_handover& handover)
{
  handover.state = UMW_LOADING;
  handover.all_signals = ~std::uint64_t{0};
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  auto* what = new Begin{function, argument, &handover};
  pthread_t id{};
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&id, &attributes, begin, what);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    delete what;
    throw std::system_error(error, std::generic_category(), "thread of a rank");
  }
}

void wait_for_handover(umw_handover& handover)
{
  while (__atomic_load_n(&handover.state, __ATOMIC_ACQUIRE) == UMW_LOADING)
    syscall(SYS_futex, &handover.state, FUTEX_WAIT, UMW_LOADING, nullptr, nullptr, 0);
  if (Loading* own = find(handover.kernel_tid))
    own->thread.store(0);
}

void end_parked_thread(umw_handover& handover, umw_loading ending, int status)
{
  const auto address = [](const void* p) { return reinterpret_cast<long>(p); };
  raw_call(SYS_rt_sigprocmask, SIG_SETMASK, address(&handover.all_signals), 0, sizeof handover.all_signals);
  handover.status = status;
  __atomic_store_n(&handover.state, ending, __ATOMIC_RELEASE);
  raw_call(SYS_futex, address(&handover.state), FUTEX_WAKE, INT_MAX);
  for (;;)
    raw_call(SYS_pause);
}

void fault_of_parked_thread(int signal)
{
  if (const Loading* own = find(static_cast<std::int32_t>(raw_call(SYS_gettid))))
    end_parked_thread(*own->handover, UMW_LINKER_DIED, signal);
}

} // namespace umwelt::loader
