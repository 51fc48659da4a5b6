/* SPDX-License-Identifier: LGPL-2.1-or-later
 * A little of BLAS for watched.sh: dgemm by Fortran's and CBLAS' name, of which one calls the other, and daxpy. */
#include "watched_library.h"

void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
            const int* ldc)
{
  (void)transa;
  (void)transb;
  for (int j = 0; j < *n; ++j)
    for (int i = 0; i < *m; ++i) {
      double sum = *beta * c[i + j * *ldc];
      for (int l = 0; l < *k; ++l)
        sum += *alpha * a[i + l * *lda] * b[l + j * *ldb];
      c[i + j * *ldc] = sum;
    }
}

void cblas_dgemm(int order, int transa, int transb, int m, int n, int k, double alpha, const double* a, int lda,
                 const double* b, int ldb, double beta, double* c, int ldc)
{
  (void)order;
  (void)transa;
  (void)transb;
  dgemm_("N", "N", &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
}

void daxpy_(const int* n, const double* alpha, const double* x, const int* incx, double* y, const int* incy)
{
  for (int i = 0; i < *n; ++i)
    y[i * *incy] += *alpha * x[i * *incx];
}
