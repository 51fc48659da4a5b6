/* SPDX-License-Identifier: LGPL-2.1-or-later
 * A static function that has the name of another one. */
#include "library.h"

__attribute__((noinline, noclone)) static int twice(int n)
{
  volatile int sum = n;
  sum = sum + n;
  return sum + 1;
}

int twice_elsewhere(int n)
{
  return twice(n);
}
