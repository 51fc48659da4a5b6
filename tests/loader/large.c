/* SPDX-License-Identifier: LGPL-2.1-or-later
 * More thread-local variables than a namespace has room for. */
static __thread char large[20000];

int main(int argc, char** argv)
{
  (void)argv;
  large[argc] = 1;
  return large[0];
}
