/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Thread-local variables of a library that is opened when threads have been made already. */
static __thread int numbers[1000] = {41};

int next_number(void);
int next_number(void)
{
  numbers[999] += 7;
  return ++numbers[0] + numbers[999];
}
