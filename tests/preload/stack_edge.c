/* SPDX-License-Identifier: LGPL-2.1-or-later
 * A coroutine with a stack of its own that computes for a while with a few hundred bytes of that left, which is no
 * fault: signals that Umwelt sends itself need more. Then it uses up the rest, which is one. Same output natively and
 * simulated. */
#define _GNU_SOURCE
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { PAGE = 4096, STACK = 256 << 10, LEFT = 512, ROUNDS = 300000000 };

static char* lowest;
static sigjmp_buf out;

__attribute__((noinline)) static unsigned compute(void)
{
  unsigned value = 1;
  for (int i = 0; i < ROUNDS; ++i)
    __asm__ volatile("imul $1664525, %0, %0; add $1013904223, %0" : "+r"(value));
  return value;
}

__attribute__((noinline)) static unsigned at_the_edge(void)
{
  char here;
  volatile char* room = alloca((size_t)(&here - lowest) - LEFT);
  room[0] = 1;
  return compute();
}

__attribute__((noinline)) static int beyond(int depth)
{
  volatile char room[64];
  room[0] = (char)depth;
  return depth < 1 << 20 ? beyond(depth + 1) + room[0] : 0;
}

static void on_fault(int number, siginfo_t* information, void* context)
{
  const char* address = information->si_addr;
  (void)context;
  printf("signal %d, code %d, below the stack %d\n", number, information->si_code,
         address >= lowest - PAGE && address < lowest);
  siglongjmp(out, 1);
}

static void live(void)
{
  printf("computed %u\n", at_the_edge());
  if (sigsetjmp(out, 1) == 0)
    printf("not reached: %d\n", beyond(0));
}

int main(void)
{
  static char alternate[64 << 10];
  const stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
  sigaltstack(&stack, NULL);
  char* memory = mmap(NULL, STACK + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(memory, PAGE, PROT_NONE);
  lowest = memory + PAGE;
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigaction(SIGSEGV, &action, NULL);
  static ucontext_t own, other;
  getcontext(&other);
  other.uc_stack = (stack_t){.ss_sp = lowest, .ss_size = STACK};
  other.uc_link = &own;
  makecontext(&other, live, 0);
  swapcontext(&own, &other);
  return 0;
}
