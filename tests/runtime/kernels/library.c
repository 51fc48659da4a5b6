/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "library.h"

double library_kernel(int n)
{
  double sum = 0;
  for (int i = 1; i <= n; ++i)
    sum += i * 0.5;
  return sum;
}

double nobody_calls_this(int n)
{
  return library_kernel(n) / (n + 1);
}
