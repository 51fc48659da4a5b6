// SPDX-License-Identifier: LGPL-2.1-or-later
// A library in C++ that a program in C opens: the C++ library is not among what the program has loaded itself.
#include <vector>

extern "C" unsigned long plugin_sum(unsigned long count)
{
  std::vector<unsigned long> numbers(count, 1);
  unsigned long sum = 0;
  for (const unsigned long number : numbers)
    sum += number;
  return sum;
}
