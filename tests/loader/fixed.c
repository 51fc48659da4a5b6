/* SPDX-License-Identifier: LGPL-2.1-or-later
 * A program that is not position-independent: what it does in its constructor would end a process where it lies
 * elsewhere. */
static int number = 1;
static int* volatile pointer = &number;

__attribute__((constructor)) static void construct(void)
{
  ++*pointer;
}

int main(void)
{
  return 0;
}
