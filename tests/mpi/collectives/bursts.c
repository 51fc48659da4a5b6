/* SPDX-License-Identifier: LGPL-2.1-or-later
 * A modelled collective is one burst of the program's, the one that ends with it: for --cpu fixed=1us --collectives
 * zero, where each takes 1 us and nothing else any time. */
#include "../check.h"

int main(int argc, char** argv)
{
  enum { TIMES = 100 };
  begin(&argc, &argv);
  double mine = world_rank, sum = 0, largest = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const double begun = MPI_Wtime();
  for (int i = 0; i < TIMES; ++i)
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  double each = (MPI_Wtime() - begun) / TIMES;
  MPI_Allreduce(&each, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (world_rank == 0)
    say("%.2f us", 1e6 * largest);
  return finish();
}
