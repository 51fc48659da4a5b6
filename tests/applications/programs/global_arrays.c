// SPDX-License-Identifier: LGPL-2.1-or-later
// Global Arrays: blocks handed out by a shared counter are put, added to and fetched from anywhere, then matrices are
// multiplied.
#include <ga.h>
#include <macdecls.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>

enum { order = 96, block = 16 };

int main(int argc, char** argv)
{
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  GA_Initialize();
  MA_init(C_DBL, 1 << 20, 1 << 20);
  int sides[2] = {order, order}, one = 1, zero = 0;
  int a = NGA_Create(C_DBL, 2, sides, "a", NULL), b = NGA_Create(C_DBL, 2, sides, "b", NULL),
      c = NGA_Create(C_DBL, 2, sides, "c", NULL);
  int tasks = NGA_Create(C_INT, 1, &one, "tasks", NULL);
  GA_Zero(a);
  GA_Zero(b);
  GA_Zero(c);
  GA_Zero(tasks);
  const int across = order / block;
  for (long task; (task = NGA_Read_inc(tasks, &zero, 1)) < across * across;) {
    int low[2] = {task / across * block, task % across * block}, high[2] = {low[0] + block - 1, low[1] + block - 1},
        width = block;
    double values[block][block], weight = 2;
    for (int i = 0; i < block; ++i)
      for (int j = 0; j < block; ++j)
        values[i][j] = (low[0] + i) % 7 - (low[1] + j) % 5;
    NGA_Put(a, low, high, values, &width);
    int transposed_low[2] = {low[1], low[0]}, transposed_high[2] = {high[1], high[0]};
    NGA_Acc(b, transposed_low, transposed_high, values, &width, &weight);
  }
  GA_Sync();
  GA_Dgemm('n', 't', order, order, order, 1.0, a, b, 0.0, c);
  GA_Sync();
  int low[2] = {order / 2 - 8, order / 2 - 8}, high[2] = {order / 2 + 7, order / 2 + 7}, width = 16;
  double part[16][16], sum = 0; // the blocks of four ranks meet here
  NGA_Get(c, low, high, part, &width);
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j)
      sum += part[i][j] * (i + 2 * j);
  const double product = GA_Ddot(a, b), whole = GA_Ddot(c, c);
  double largest = sum, smallest = sum;
  GA_Dgop(&largest, 1, "max");
  GA_Dgop(&smallest, 1, "min");
  if (GA_Nodeid() == 0)
    printf("ranks %d, part %.15g, the same for all: %s, a.b %.15g, c.c %.15g\n", GA_Nnodes(), sum,
           largest == smallest ? "yes" : "no", product, whole);
  GA_Terminate();
  MPI_Finalize();
}
