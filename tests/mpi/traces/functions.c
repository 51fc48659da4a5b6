/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Functions for --trace-functions: one within the other, with calls of MPI in between; one that calls itself; one that
 * is left by longjmp(3); one that MPI calls, which belongs to that call; one of a thread of its own; and before and
 * after MPI. */
#include "../check.h"

#include <pthread.h>
#include <setjmp.h>

#define FUNCTION __attribute__((noinline, noclone))

FUNCTION void inner(void)
{
  MPI_Barrier(MPI_COMM_WORLD);
}

FUNCTION void outer(void)
{
  inner();
  inner();
  MPI_Barrier(MPI_COMM_WORLD);
}

FUNCTION int again(int depth)
{
  if (depth == 0)
    return 0;
  int below = again(depth - 1);
  __asm__ volatile("" : "+r"(below)); /* or it would be a loop */
  return below + 1;
}

static jmp_buf back;

FUNCTION void jumps(void)
{
  longjmp(back, 1);
}

FUNCTION void lands(void)
{
  if (setjmp(back) == 0)
    jumps();
  inner();
}

FUNCTION void larger(void* a, void* b, int* count, MPI_Datatype* type)
{
  (void)type;
  for (int i = 0; i < *count; ++i)
    ((int*)b)[i] = ((int*)a)[i] > ((int*)b)[i] ? ((int*)a)[i] : ((int*)b)[i];
}

static volatile int count; /* functions of less than 8 bytes are refused */

FUNCTION void* elsewhere(void* argument)
{
  count = count + 1;
  return argument;
}

FUNCTION void alone(void)
{
  count = count + 2;
  count = count + 3;
}

int main(int argc, char** argv)
{
  alone();
  begin(&argc, &argv);
  for (int i = 0; i < 3; ++i)
    outer();
  CHECK_EQ(again(4), 4);
  lands();
  MPI_Op operation;
  MPI_Op_create(larger, 1, &operation);
  larger(&world_rank, &world_rank, &(int){1}, NULL);
  int largest = -1;
  MPI_Allreduce(&world_rank, &largest, 1, MPI_INT, operation, MPI_COMM_WORLD);
  MPI_Op_free(&operation);
  pthread_t thread;
  pthread_create(&thread, NULL, elsewhere, NULL);
  pthread_join(thread, NULL);
  const int wrong = finish();
  alone();
  return wrong;
}
