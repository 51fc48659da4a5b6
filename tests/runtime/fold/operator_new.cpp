// SPDX-License-Identifier: LGPL-2.1-or-later
// C++'s ways to allocate. In run.sh a rule means make_array's alone.
#include "pattern.h"

#include <memory>
#include <new>
#include <vector>

namespace
{

struct alignas(256) Wide {
  char bytes[256];
};

} // namespace

extern "C" __attribute__((noinline)) unsigned char* make_array()
{
  auto* volatile array = new unsigned char[SIZE];
  return array;
}

int main()
{
  unsigned char* array = make_array();
  use("new[]", array, SIZE);
  delete[] array;

  void* plain = ::operator new(SIZE);
  use("operator new", plain, SIZE);
  ::operator delete(plain);

  array = new (std::nothrow) unsigned char[SIZE];
  use("new[] (nothrow)", array, SIZE);
  delete[] array;

  const std::size_t count = SIZE / sizeof(Wide);
  auto* wide = new Wide[count];
  if (reinterpret_cast<std::uintptr_t>(wide) % alignof(Wide) != 0)
    ++failures;
  use("new[] (aligned)", wide, count * sizeof(Wide));
  delete[] wide;

  {
    std::vector<unsigned char> vector(SIZE);
    use("vector", vector.data(), SIZE);
  }
  {
    std::vector<unsigned char> vector;
    while (vector.size() < 100)
      vector.push_back(pattern(vector.size()));
    while (vector.size() < SIZE)
      vector.push_back(0);
    make_calls();
    for (std::size_t i = 0; i < 100; ++i)
      failures += vector[i] != pattern(i);
    std::printf("vector that grows\n");
  }

  volatile std::size_t huge = PTRDIFF_MAX;
  try {
    ::operator delete(::operator new(huge));
    std::printf("got it\n");
  } catch (const std::bad_alloc&) {
    std::printf("bad_alloc\n");
  }
  void* nothing = ::operator new(huge, std::nothrow);
  std::printf("%s\n", nothing == nullptr ? "null" : "got it");
  array = new unsigned char[SIZE]; // the exception has left nothing behind
  use("new[] after bad_alloc", array, SIZE);
  delete[] array;
  std::printf("%lu failures\n", failures);
  return failures != 0 ? 1 : 0;
}
