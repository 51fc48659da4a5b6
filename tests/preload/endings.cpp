// SPDX-License-Identifier: LGPL-2.1-or-later
// What runs at the end of a process and in which order: endings HOW.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <err.h>
#include <unistd.h>

struct Global {
  explicit Global(const char* n) : name(n) {}
  ~Global() { std::printf("destructor of %s\n", name); }
  const char* name;
};
static Global first("first"), second("second");
static thread_local Global of_thread("the thread");

__attribute__((destructor)) static void fini()
{
  std::printf("fini\n");
}

int main(int, char** argv)
{
  of_thread.name = "the main thread";
  std::atexit([] { std::printf("atexit 1\n"); });
  std::atexit([] { std::printf("atexit 2\n"); });
  at_quick_exit([] {
    std::printf("at_quick_exit\n");
    std::fflush(stdout);
  });
  std::printf("not flushed by hand;");
  const char* how = argv[1];
  if (!std::strcmp(how, "exit"))
    std::exit(3);
  if (!std::strcmp(how, "quick_exit"))
    std::quick_exit(4);
  if (!std::strcmp(how, "errx"))
    errx(5, "an error");
  if (!std::strcmp(how, "_exit")) {
    std::fflush(stdout);
    _exit(6);
  }
  return 0;
}
