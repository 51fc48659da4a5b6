// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/needed_calls.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <string_view>

#include <fmt/format.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "runtime/base/descriptor.h"

namespace umwelt::plan
{

namespace
{

struct NeededCall {
  std::string_view name;
  std::string_view purpose;
  int (*make)(); // returns an errno, or 0
};

int make_memory_file()
{
  const Descriptor file(memfd_create("umwelt-probe", MFD_CLOEXEC));
  return file.get() < 0 ? errno : 0;
}

int make_event()
{
  const Descriptor event(eventfd(0, EFD_CLOEXEC));
  return event.get() < 0 ? errno : 0;
}

int make_timer()
{
  sigevent event{};
  event.sigev_notify = SIGEV_NONE;
  timer_t timer{};
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0)
    return errno;
  timer_delete(timer);
  return 0;
}

int make_thread()
{
  pthread_t thread{};
  const int error = pthread_create(
      &thread, nullptr, [](void* nothing) { return nothing; }, nullptr);
  if (error == 0)
    pthread_join(thread, nullptr);
  return error;
}

int read_limit()
{
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) != 0 ? errno : 0;
}

constexpr std::array needed_calls{
    NeededCall{"memfd_create(2)", "memory that processes share", make_memory_file},
    NeededCall{"eventfd(2)", "what ranks print", make_event},
    NeededCall{"timer_create(2)", "time slices of ranks", make_timer},
    NeededCall{"clone3(2)", "threads", make_thread},
    NeededCall{"prlimit64(2)", "how many files may be open", read_limit},
};

} // namespace

std::vector<std::string> refused_calls()
{
  std::vector<std::string> refused;
  for (const NeededCall& call : needed_calls)
    if (const int error = call.make(); error != 0)
      refused.push_back(fmt::format("{}, {}: {}", call.name, call.purpose, std::strerror(error)));
  return refused;
}

std::string refused_calls_text(const std::vector<std::string>& refused)
{
  return fmt::format("system calls: expected those that every run needs, got refusals\n  {}\n"
                     "    Allow them in the seccomp profile of the container (docker: --security-opt seccomp=FILE).",
                     fmt::join(refused, "\n  "));
}

} // namespace umwelt::plan
