// SPDX-License-Identifier: LGPL-2.1-or-later
// Beginning and end of a process, once per rank and in the order the language promises: constructors of the library
// before those of the program, static destructors and atexit handlers last in first out, the library's destructors
// after all.
#include <cstdlib>
#include <string>
#include <vector>

#include "check.h"
#include "library.h"

namespace
{

std::string& before_main()
{
  static std::string log; // made by the first constructor that writes
  return log;
}

int& printed_rank()
{
  static int rank = -1;
  return rank;
}

struct Witness {
  explicit Witness(const char* given) : name(given) { before_main() += std::string(" +") + name; }
  ~Witness()
  {
    std::printf("[%d] destructor of %s\n", printed_rank(), name);
    std::fflush(stdout);
  }
  const char* name;
};

Witness first("first");
Witness second("second");
thread_local Witness per_thread("thread");

__attribute__((constructor(150))) void early()
{
  setenv("UMWELT_TEST_EARLY", library_constructed() ? "after" : "before", 1);
}

__attribute__((destructor)) void late()
{
  std::printf("[%d] destructor function of the program\n", printed_rank());
  std::fflush(stdout);
}

void handler_one()
{
  std::printf("[%d] atexit one\n", printed_rank());
  std::fflush(stdout);
}

void handler_two()
{
  std::printf("[%d] atexit two\n", printed_rank());
  std::fflush(stdout);
  std::atexit([] { // registered while the others run
    std::printf("[%d] atexit from atexit\n", printed_rank());
    std::fflush(stdout);
  });
}

} // namespace

int main(int argc, char** argv)
{
  static Witness in_main("main's static");
  begin(&argc, &argv);
  printed_rank() = world_rank;
  library_set_rank(world_rank);
  std::atexit(handler_one);
  std::atexit(handler_two);
  CHECK(std::string(std::getenv("UMWELT_TEST_EARLY")) == "after");
  CHECK_EQ(library_constructed(), 1);
  CHECK(std::string(per_thread.name) == "thread");
  say("constructed:%s", before_main().c_str());
  std::vector<int> on_heap(1000, world_rank);
  CHECK_EQ(on_heap.back(), world_rank);
  return finish();
}
