/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
            const int* ldc);
void cblas_dgemm(int order, int transa, int transb, int m, int n, int k, double alpha, const double* a, int lda,
                 const double* b, int ldb, double beta, double* c, int ldc);
void daxpy_(const int* n, const double* alpha, const double* x, const int* incx, double* y, const int* incy);
