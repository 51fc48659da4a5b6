/* SPDX-License-Identifier: LGPL-2.1-or-later
 * A program that calls functions of BLAS so and so often (watched.sh): dgemm of 12 sizes, by both of its names, daxpy
 * of one size, a function of its own, and one whose name Fortran's dcopy could have, but that takes other arguments. */
#include <stdio.h>

#include "watched_library.h"

enum { LARGEST = 64 };

static double a[LARGEST * LARGEST], b[LARGEST * LARGEST], c[LARGEST * LARGEST];
static volatile double sink;

__attribute__((noinline, noclone)) void own_work(int n)
{
  for (int i = 0; i < n; ++i)
    sink += i;
}

__attribute__((noinline, noclone)) void dcopy(long n, double value)
{
  sink += value * (double)n;
}

int main(void)
{
  const double one = 1;
  const int step = 1;
  const int leading = LARGEST;
  for (int i = 0; i < LARGEST * LARGEST; ++i)
    a[i] = b[i] = 1.0 / LARGEST;
  for (int i = 1; i <= 12; ++i) {
    const int m = 4 * i, n = 50 - 3 * i, k = 8 + i % 5;
    dgemm_("N", "N", &m, &n, &k, &one, a, &leading, b, &leading, &one, c, &leading);
    cblas_dgemm(102, 111, 111, m, n, k, one, a, leading, b, leading, one, c, leading);
  }
  for (int i = 0; i < 3; ++i)
    daxpy_(&leading, &one, a, &step, c, &step);
  for (int i = 0; i < 5; ++i)
    own_work(1000);
  dcopy(7, 0.5);
  printf("%.3f\n", c[5]);
  return 0;
}
