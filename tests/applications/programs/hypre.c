// SPDX-License-Identifier: LGPL-2.1-or-later
// hypre N: the five-point Laplace operator on N x N points by conjugate gradients with algebraic multigrid; rank 0
// prints iterations, residual and a sum over the solution.
#include <HYPRE.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv)
{
  int rank, ranks, iterations;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  HYPRE_Init();
  const int n = argc > 1 ? atoi(argv[1]) : 30, order = n * n;
  const int first = (int)((long)order * rank / ranks), last = (int)((long)order * (rank + 1) / ranks) - 1;
  HYPRE_IJMatrix matrix;
  HYPRE_IJVector right, left;
  HYPRE_IJMatrixCreate(MPI_COMM_WORLD, first, last, first, last, &matrix);
  HYPRE_IJMatrixSetObjectType(matrix, HYPRE_PARCSR);
  HYPRE_IJMatrixInitialize(matrix);
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, first, last, &right);
  HYPRE_IJVectorSetObjectType(right, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(right);
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, first, last, &left);
  HYPRE_IJVectorSetObjectType(left, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(left);
  for (int i = first; i <= last; ++i) {
    int columns[5], count = 0;
    double values[5];
    const int neighbours[4] = {i >= n ? i - n : -1, i % n > 0 ? i - 1 : -1, i % n < n - 1 ? i + 1 : -1,
                               i < order - n ? i + n : -1};
    for (int k = 0; k < 4; ++k)
      if (neighbours[k] >= 0) {
        columns[count] = neighbours[k];
        values[count++] = -1;
      }
    columns[count] = i;
    values[count++] = 4;
    HYPRE_IJMatrixSetValues(matrix, 1, &count, &i, columns, values);
    HYPRE_IJVectorSetValues(right, 1, &i, &(double){1.0 / (1 + i % 7)});
    HYPRE_IJVectorSetValues(left, 1, &i, &(double){0});
  }
  HYPRE_IJMatrixAssemble(matrix);
  HYPRE_IJVectorAssemble(right);
  HYPRE_IJVectorAssemble(left);
  HYPRE_ParCSRMatrix a;
  HYPRE_ParVector b, x;
  HYPRE_IJMatrixGetObject(matrix, (void**)&a);
  HYPRE_IJVectorGetObject(right, (void**)&b);
  HYPRE_IJVectorGetObject(left, (void**)&x);
  HYPRE_Solver solver, multigrid;
  HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &solver);
  HYPRE_PCGSetMaxIter(solver, 200);
  HYPRE_PCGSetTol(solver, 1e-10);
  HYPRE_PCGSetTwoNorm(solver, 1);
  HYPRE_BoomerAMGCreate(&multigrid);
  HYPRE_BoomerAMGSetTol(multigrid, 0);
  HYPRE_BoomerAMGSetMaxIter(multigrid, 1);
  HYPRE_PCGSetPrecond(solver, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSolve, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSetup,
                      multigrid);
  HYPRE_ParCSRPCGSetup(solver, a, b, x);
  HYPRE_ParCSRPCGSolve(solver, a, b, x);
  double residual, product;
  HYPRE_PCGGetNumIterations(solver, &iterations);
  HYPRE_PCGGetFinalRelativeResidualNorm(solver, &residual);
  HYPRE_ParVectorInnerProd(x, x, &product);
  if (rank == 0)
    printf("%d iterations, residual %.12e, x.x %.15e\n", iterations, residual, product);
  HYPRE_Finalize();
  MPI_Finalize();
  return 0;
}
