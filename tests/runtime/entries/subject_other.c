/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Another static function of the same name. */

int subject_other(int a);
__attribute__((noinline)) static int twice(int a)
{
  return a * a * 2 + 1;
}
int subject_other(int a)
{
  return twice(a) + 1;
}
