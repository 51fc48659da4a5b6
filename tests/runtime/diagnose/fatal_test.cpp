// SPDX-License-Identifier: LGPL-2.1-or-later
// What is said from a signal handler that has interrupted malloc: here malloc is ours, and either counts or never comes
// back.
#include "runtime/diagnose/fatal.h"

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // those have a malloc of their own

namespace
{

enum class Malloc { usual, counts, hangs };
volatile Malloc how = Malloc::usual;
volatile int calls = 0;

void called()
{
  if (how == Malloc::counts)
    calls = calls + 1;
  while (how == Malloc::hangs)
    pause();
}

} // namespace

extern "C" {
void* __libc_malloc(std::size_t size);                // NOLINT
void* __libc_calloc(std::size_t n, std::size_t size); // NOLINT
void* __libc_realloc(void* old, std::size_t size);    // NOLINT
void __libc_free(void* memory);                       // NOLINT

void* malloc(std::size_t size)
{
  called();
  return __libc_malloc(size);
}
void* calloc(std::size_t n, std::size_t size)
{
  called();
  return __libc_calloc(n, size);
}
void* realloc(void* old, std::size_t size)
{
  called();
  return __libc_realloc(old, size);
}
void free(void* memory)
{
  called();
  __libc_free(memory);
}
}

namespace umwelt::diagnose
{

namespace
{

int output = -1;

void on_signal(int, siginfo_t*, void* context)
{
  how = Malloc::counts;
  write_raw_backtrace(output, *static_cast<const ucontext_t*>(context));
  how = Malloc::usual;
}

void on_fault(int, siginfo_t*, void* context)
{
  how = Malloc::hangs;
  write_raw("it failed\n");
  end_with_backtrace(*static_cast<const ucontext_t*>(context), 125, 1);
}

void raise_with(void (*handler)(int, siginfo_t*, void*))
{
  struct sigaction action {
  };
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR1, &action, nullptr);
  raise(SIGUSR1);
}

TEST(Fatal, ARawBacktraceNeedsNoMemory)
{
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  output = ends[1];
  raise_with(on_signal);
  close(ends[1]);
  std::string text;
  for (char c = 0; read(ends[0], &c, 1) == 1;)
    text += c;
  close(ends[0]);
  EXPECT_EQ(calls, 0);
  EXPECT_NE(text.find("    #0 "), std::string::npos) << text;
  EXPECT_NE(text.find("umwelt+0x"), std::string::npos) << text; // this executable
}

TEST(FatalDeathTest, EndsThoughMallocNeverComesBack)
{
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(raise_with(on_fault), testing::ExitedWithCode(125), "it failed\n    #0 .*umwelt.0x");
}

} // namespace

} // namespace umwelt::diagnose

#endif
