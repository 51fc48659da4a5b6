// SPDX-License-Identifier: LGPL-2.1-or-later
// The standard library's own per-process state: streams (copy relocations of std::cout and friends), locale, allocator
// handlers, thread_local objects, type information across ranks of one program.
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <sstream>
#include <typeinfo>

#include "check.h"

namespace
{

thread_local std::map<int, std::string> per_thread;

struct Base {
  virtual ~Base() = default;
  virtual int who() const { return 0; }
};
struct Derived : Base {
  int who() const override { return world_rank; }
};

int handler_calls = 0;
void give_up()
{
  ++handler_calls;
  std::set_new_handler(nullptr);
}

} // namespace

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  std::cout << "[" << world_rank << "] cout " << std::hex << 255 << std::dec << " " << std::setprecision(3) << 3.14159
            << std::endl;
  std::cerr << "[" << world_rank << "] cerr " << std::boolalpha << true << std::endl;
  std::clog << "[" << world_rank << "] clog" << std::endl;
  if (world_rank == 0) {
    std::cout << std::fixed; // only rank 0's cout
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_EQ((std::cout.flags() & std::ios::fixed) != 0, world_rank == 0);
  CHECK(std::cin.rdbuf() != nullptr);

  for (int i = 0; i < 100; ++i) {
    per_thread[i] = std::to_string(i * world_rank);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(per_thread[99] == std::to_string(99 * world_rank));

  const std::unique_ptr<Base> object = std::make_unique<Derived>();
  CHECK_EQ(object->who(), world_rank);
  CHECK(dynamic_cast<Derived*>(object.get()) != nullptr);
  CHECK(typeid(*object) == typeid(Derived));

  std::set_new_handler(give_up);
  volatile std::size_t too_much = std::size_t(1) << 60;
  try {
    const std::unique_ptr<char[]> memory(new char[too_much]);
    CHECK(memory == nullptr);
  } catch (const std::bad_alloc&) {
    CHECK_EQ(handler_calls, 1);
  }

  std::mt19937 generator(world_rank);
  std::vector<unsigned> numbers(1000);
  std::generate(numbers.begin(), numbers.end(), generator);
  std::sort(numbers.begin(), numbers.end());
  CHECK(std::is_sorted(numbers.begin(), numbers.end()));
  std::ostringstream text;
  text << numbers.front() << " " << numbers.back();
  std::cout << "[" << world_rank << "] " << text.str() << "\n";
  return finish();
}
