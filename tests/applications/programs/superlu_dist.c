// SPDX-License-Identifier: LGPL-2.1-or-later
// superlu_dist N: the five-point Laplace operator on N x N points, rows distributed; rank 0 prints the largest error of
// the solution.
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <superlu_ddefs.h>

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  gridinfo_t grid;
  superlu_gridinit(MPI_COMM_WORLD, 2, 2, &grid);
  const int n = argc > 1 ? atoi(argv[1]) : 20, order = n * n, ranks = 4;
  const int first = (int)((long)order * grid.iam / ranks), rows = (int)((long)order * (grid.iam + 1) / ranks) - first;
  double *values = doubleMalloc_dist(5 * rows), *x = doubleMalloc_dist(rows);
  int_t *columns = intMalloc_dist(5 * rows), *begins = intMalloc_dist(rows + 1), count = 0;
  for (int i = first; i < first + rows; ++i) {
    const int near[5] = {i >= n ? i - n : -1, i % n > 0 ? i - 1 : -1, i, i % n < n - 1 ? i + 1 : -1,
                         i < order - n ? i + n : -1};
    begins[i - first] = count;
    x[i - first] = 0;
    for (int k = 0; k < 5; ++k)
      if (near[k] >= 0) {
        columns[count] = near[k];
        values[count] = k == 2 ? 4.5 : -1;
        x[i - first] += values[count++] * (1 + near[k] % 10); /* right-hand side of a known solution */
      }
  }
  begins[rows] = count;
  SuperMatrix a;
  dCreate_CompRowLoc_Matrix_dist(&a, order, order, count, rows, first, values, columns, begins, SLU_NR_loc, SLU_D,
                                 SLU_GE);
  superlu_dist_options_t options;
  set_default_options_dist(&options);
  options.PrintStat = NO;
  dScalePermstruct_t scale;
  dLUstruct_t lu;
  dSOLVEstruct_t solve;
  SuperLUStat_t statistics;
  dScalePermstructInit(order, order, &scale);
  dLUstructInit(order, &lu);
  PStatInit(&statistics);
  double backward;
  int info;
  pdgssvx(&options, &a, &scale, x, rows, 1, &grid, &lu, &solve, &backward, &statistics, &info);
  double error = 0, largest;
  for (int i = 0; i < rows; ++i)
    error = fmax(error, fabs(x[i] - (1 + (first + i) % 10)));
  MPI_Reduce(&error, &largest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (grid.iam == 0)
    printf("info %d, largest error %s\n", info, largest < 1e-10 ? "below 1e-10" : "above 1e-10");
  superlu_gridexit(&grid);
  MPI_Finalize();
  return 0;
}
