/* SPDX-License-Identifier: LGPL-2.1-or-later
 * A program that computes nearly all the time in a static function, and a little in another (profiled.sh). */
#include <stdio.h>

static volatile double sink;

__attribute__((noinline, noclone)) static void spend_most(long rounds)
{
  for (long i = 0; i < rounds; ++i)
    sink += 1;
}

__attribute__((noinline, noclone)) void spend_little(long rounds)
{
  for (long i = 0; i < rounds; ++i)
    sink += 2;
}

int main(void)
{
  for (int i = 0; i < 10; ++i) {
    spend_most(20000000);
    spend_little(2000000);
  }
  printf("%.0f\n", sink);
  return 0;
}
