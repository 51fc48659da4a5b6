/* SPDX-License-Identifier: LGPL-2.1-or-later
 * A library whose functions are entered (entries_test.cpp). */

int subject_counter = 7;

__attribute__((noinline)) int subject_adds(int a, int b)
{
  return a * b + subject_counter;
}

/* Its first instruction has an operand relative to the instruction pointer. */
__attribute__((naked)) int subject_reads(void)
{
  __asm__("mov subject_counter@GOTPCREL(%rip), %rax\n\t"
          "mov (%rax), %eax\n\t"
          "add $1, %eax\n\t"
          "ret");
}

/* It returns early; padding follows. */
__attribute__((naked, aligned(16))) int subject_one(void)
{
  __asm__("mov $1, %eax\n\t"
          "ret\n\t"
          ".p2align 4");
}

/* It returns before there is room, and another function follows. */
__attribute__((naked, aligned(1))) void subject_nothing(void)
{
  __asm__("ret");
}
__attribute__((naked, aligned(1))) int subject_behind_nothing(int a)
{
  __asm__("lea 1(%rdi), %eax\n\t"
          "add $1, %eax\n\t"
          "add $1, %eax\n\t"
          "ret");
}

/* Its second instruction begins a loop. */
__attribute__((naked)) int subject_loops(int times)
{
  __asm__("xor %eax, %eax\n"
          "1:\n\t"
          "add $2, %eax\n\t"
          "sub $1, %edi\n\t"
          "jne 1b\n\t"
          "ret");
}

__attribute__((naked)) int subject_branches(int a)
{
  __asm__("test %edi, %edi\n\t"
          "je 1f\n\t"
          "mov $5, %eax\n\t"
          "ret\n"
          "1:\n\t"
          "xor %eax, %eax\n\t"
          "ret");
}

__attribute__((noinline)) static double hidden(double a, int b)
{
  return a * b + subject_counter;
}

double subject_calls_hidden(double a, int b)
{
  return hidden(a, b) + 1;
}

int subject_other(int a);
__attribute__((noinline)) static int twice(int a)
{
  return 2 * a + subject_counter;
}
int subject_twice(int a)
{
  return twice(a) + subject_other(a);
}
