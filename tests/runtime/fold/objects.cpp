// SPDX-License-Identifier: LGPL-2.1-or-later
// operator new: who calls it allocates (--fold function=make_vector).
#include <cstdio>
#include <ctime>
#include <memory>
#include <vector>

extern "C" __attribute__((noinline)) void make_vector(std::size_t size, std::unique_ptr<double[]>* made)
{
  double* volatile array = new double[size];
  made->reset(array);
}

int main()
{
  constexpr std::size_t size = 1 << 20;
  std::unique_ptr<double[]> array;
  make_vector(size, &array);
  for (std::size_t i = 0; i < size; ++i)
    array[i] = 1;
  const std::vector<double> other(size, 2); // not by that function
  for (int i = 0; i < 100; ++i) {
    const timespec time{0, 1000};
    nanosleep(&time, nullptr);
  }
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < size; ++i)
    wrong += (array[i] != 0 && array[i] != 1) || other[i] != 2 ? 1 : 0;
  std::printf("%zu wrong\n", wrong);
}
