/* SPDX-License-Identifier: LGPL-2.1-or-later
 * A library with a little of BLAS, for tests of `umwelt calibrate kernels`: dgemm and daxpy work, dscal aborts. */
#include <stdlib.h>

void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
            const int* ldc);
void daxpy_(const int* n, const double* alpha, const double* x, const int* incx, double* y, const int* incy);
void dscal_(void);

void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
            const int* ldc)
{
  if (*transa != 'N' || *transb != 'N')
    abort();
  for (int j = 0; j < *n; ++j)
    for (int i = 0; i < *m; ++i) {
      double sum = *beta * c[i + j * *ldc];
      for (int l = 0; l < *k; ++l)
        sum += *alpha * a[i + l * *lda] * b[l + j * *ldb];
      c[i + j * *ldc] = sum;
    }
}

void daxpy_(const int* n, const double* alpha, const double* x, const int* incx, double* y, const int* incy)
{
  for (int i = 0; i < *n; ++i)
    y[i * *incy] += *alpha * x[i * *incx];
}

void dscal_(void)
{
  abort();
}
