/* SPDX-License-Identifier: LGPL-2.1-or-later
 * A kernel of a library that the program opens. */
int plugin_kernel(int n);
int plugin_kernel(int n)
{
  volatile int tens = 0;
  for (int i = 0; i < n; ++i)
    tens = tens + 10;
  return tens;
}
