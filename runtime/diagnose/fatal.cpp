// SPDX-License-Identifier: LGPL-2.1-or-later
#define UNW_LOCAL_ONLY
#include "runtime/diagnose/fatal.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <string>

#include <fmt/format.h>
#include <libunwind.h>
#include <unistd.h>

#include "runtime/diagnose/backtrace.h"
#include "runtime/diagnose/symbols.h"

namespace umwelt::diagnose
{

namespace
{

constexpr int deepest = 48;
constexpr std::array faults = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};

const ucontext_t* interrupted_at = nullptr;
int ends_with = 0;

void write_to(int fd, std::string_view text)
{
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno != EINTR)
      return;
    text.remove_prefix(n > 0 ? static_cast<std::size_t>(n) : 0);
  }
}

void do_without_names(int)
{
  for (const int signal : faults)
    ::signal(signal, SIG_DFL);
  write_raw_backtrace(STDERR_FILENO, *interrupted_at);
  _exit(ends_with);
}

} // namespace

void write_raw(std::string_view text)
{
  write_to(STDERR_FILENO, text);
}

void write_raw_backtrace(int fd, const ucontext_t& interrupted)
{
  unw_context_t context = interrupted; // on x86-64 libunwind's context is the kernel's
  unw_cursor_t cursor;
  if (unw_init_local2(&cursor, &context, UNW_INIT_SIGNAL_FRAME) != 0)
    return;
  int number = 0;
  do {
    unw_word_t address = 0;
    if (unw_get_reg(&cursor, UNW_REG_IP, &address) != 0 || address == 0)
      break;
    const CodeLocation place = place_of(address);
    std::array<char, 512> line;
    const auto end =
        fmt::format_to_n(line.begin(), line.size(), "    #{} {}+{:#x}\n", number, place.object, place.offset);
    write_to(fd, {line.data(), static_cast<std::size_t>(end.out - line.begin())});
  } while (++number < deepest && unw_step(&cursor) > 0);
}

void end_with_backtrace(const ucontext_t& interrupted, int code, unsigned report_timeout)
{
  interrupted_at = &interrupted;
  ends_with = code;
  struct sigaction action {
  };
  action.sa_handler = do_without_names;
  action.sa_flags = SA_NODEFER | SA_ONSTACK;
  for (const int signal : faults)
    sigaction(signal, &action, nullptr);
  sigset_t unblocked;
  sigemptyset(&unblocked);
  sigprocmask(SIG_SETMASK, &unblocked, nullptr);
  alarm(report_timeout);
  const std::string text = backtrace_of(interrupted);
  write_raw(text);
  _exit(code);
}

} // namespace umwelt::diagnose
