/* SPDX-License-Identifier: LGPL-2.1-or-later
 * mix [SCALE]: what HPC Challenge does, in small: ping-pong in rings, transposition of a matrix (PTRANS), updates of
 * random places (RandomAccess), a distributed FFT, STREAM and DGEMM. Each part checks itself; rank 0 prints what each
 * took in simulated time. SCALE multiplies rounds; 1 unless given. */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, scale = 1, failures;

static void check(int holds, const char* what)
{
  if (!holds) {
    fprintf(stderr, "rank %d: %s: wrong result\n", rank, what);
    ++failures;
  }
}

/* The longest of all ranks. */
static void tell(const char* what, double begin)
{
  const double mine = MPI_Wtime() - begin;
  double longest = 0;
  MPI_Reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%-14s %10.6f s\n", what, longest);
}

static void* need(size_t bytes)
{
  void* memory = calloc(1, bytes);
  if (!memory)
    MPI_Abort(MPI_COMM_WORLD, 3);
  return memory;
}

/* A message goes round in natural and in strided order (b_eff's rings). */
static void rings(void)
{
  enum { longest = 1 << 14 };
  char *out = need(longest), *in = need(longest);
  const double begin = MPI_Wtime();
  for (int stride = 1; stride <= 3 && stride < size; stride += 2)
    for (int bytes = 8; bytes <= longest; bytes *= 16)
      for (int round = 0; round < 8 * scale; ++round) {
        const int to = (rank + stride) % size, from = (rank + size - stride % size) % size;
        memset(out, (rank + round) & 127, (size_t)bytes);
        MPI_Sendrecv(out, bytes, MPI_CHAR, to, bytes, in, bytes, MPI_CHAR, from, bytes, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        check(in[bytes - 1] == ((from + round) & 127), "rings");
      }
  tell("rings", begin);
  free(out);
  free(in);
}

/* Rows are spread over the ranks; block (i, j) goes to rank j and is transposed there. */
static void transpose(void)
{
  enum { block = 8 };
  const size_t workers = (size_t)block * block, all = workers * (size_t)size;
  double *matrix = need(all * sizeof(double)), *blocks = need(all * sizeof(double));
  const double begin = MPI_Wtime();
  for (int round = 0; round < 2 * scale; ++round) {
    for (int to = 0; to < size; ++to)
      for (int i = 0; i < block; ++i)
        for (int k = 0; k < block; ++k) /* element (row, column) of the whole matrix is row * 1000003 + column */
          matrix[(size_t)to * workers + (size_t)(k * block + i)] = (rank * block + i) * 1000003.0 + (to * block + k);
    MPI_Alltoall(matrix, (int)workers, MPI_DOUBLE, blocks, (int)workers, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int from = 0; from < size; ++from)
      for (int k = 0; k < block; ++k)
        for (int i = 0; i < block; ++i)
          check(blocks[(size_t)from * workers + (size_t)(k * block + i)] ==
                    (from * block + i) * 1000003.0 + (rank * block + k),
                "transpose");
  }
  tell("transpose", begin);
  free(matrix);
  free(blocks);
}

/* Updates of random places in a table spread over the ranks, sent in buckets; done twice they cancel. */
static void random_access(void)
{
  enum { places = 1 << 12, updates = 1 << 10 };
  uint64_t *table = need(places * sizeof *table), *send = need(updates * sizeof *send),
           *sorted = need(updates * sizeof *sorted);
  int *counts = need(4 * (size_t)size * sizeof *counts), *starts = counts + size, *in_counts = starts + size,
      *in_starts = in_counts + size;
  for (size_t i = 0; i < places; ++i)
    table[i] = i;
  const double begin = MPI_Wtime();
  for (int pass = 0; pass < 2; ++pass) {
    uint64_t value = 0x9e3779b97f4a7c15u * (uint64_t)(rank + 1);
    for (int round = 0; round < scale; ++round) {
      memset(counts, 0, (size_t)size * sizeof *counts);
      for (int i = 0; i < updates; ++i) {
        value = value * 6364136223846793005u + 1442695040888963407u;
        send[i] = value;
        ++counts[(value >> 40) % (uint64_t)size];
      }
      MPI_Alltoall(counts, 1, MPI_INT, in_counts, 1, MPI_INT, MPI_COMM_WORLD);
      int total = 0;
      starts[0] = in_starts[0] = 0;
      for (int i = 1; i < size; ++i) {
        starts[i] = starts[i - 1] + counts[i - 1];
        in_starts[i] = in_starts[i - 1] + in_counts[i - 1];
      }
      total = in_starts[size - 1] + in_counts[size - 1];
      for (int i = 0; i < updates; ++i) {
        const int to = (int)((send[i] >> 40) % (uint64_t)size);
        sorted[starts[to]++] = send[i];
      }
      for (int i = 0; i < size; ++i)
        starts[i] -= counts[i];
      uint64_t* received = need(((size_t)total + 1) * sizeof *received);
      MPI_Alltoallv(sorted, counts, starts, MPI_UINT64_T, received, in_counts, in_starts, MPI_UINT64_T, MPI_COMM_WORLD);
      for (int i = 0; i < total; ++i)
        table[(received[i] >> 20) % places] ^= received[i];
      free(received);
    }
  }
  tell("random access", begin);
  int wrong = 0;
  for (size_t i = 0; i < places; ++i)
    wrong += table[i] != i;
  check(wrong == 0, "random access");
  free(table);
  free(send);
  free(sorted);
  free(counts);
}

/* FFT of length 2^k in place, decimation in time; `sign` -1 forward, 1 backward. */
static void fft(double* re, double* im, int n, int sign)
{
  for (int i = 1, j = 0; i < n; ++i) {
    int bit = n >> 1;
    for (; j & bit; bit >>= 1)
      j ^= bit;
    j |= bit;
    if (i < j) {
      const double r = re[i], m = im[i];
      re[i] = re[j], im[i] = im[j];
      re[j] = r, im[j] = m;
    }
  }
  for (int half = 1; half < n; half *= 2)
    for (int k = 0; k < half; ++k) {
      const double angle = sign * M_PI * k / half, c = cos(angle), s = sin(angle);
      for (int i = k; i < n; i += 2 * half) {
        const double r = re[i + half] * c - im[i + half] * s, m = re[i + half] * s + im[i + half] * c;
        re[i + half] = re[i] - r, im[i + half] = im[i] - m;
        re[i] += r, im[i] += m;
      }
    }
}

/* Of a square field: rows, transposition over all ranks, rows again; and back. */
static void fft_2d(void)
{
  const int rows = 4;
  int n = 4;
  while (n < rows * size)
    n *= 2; /* columns; those beyond rows * size stay with the rank */
  const int part = rows * rows;
  double *re = need((size_t)(rows * n) * sizeof *re), *im = need((size_t)(rows * n) * sizeof *im);
  double *out = need((size_t)(2 * part * size) * sizeof *out), *in = need((size_t)(2 * part * size) * sizeof *in);
  for (int i = 0; i < rows; ++i)
    for (int k = 0; k < n; ++k)
      re[i * n + k] = (rank * rows + i) % 5 + k % 3;
  const double begin = MPI_Wtime();
  for (int round = 0; round < 2 * scale; ++round)
    for (int step = 0; step < 4; ++step) { /* forward, exchange, exchange, backward */
      if (step == 0 || step == 3) {
        for (int i = 0; i < rows; ++i)
          fft(re + i * n, im + i * n, n, step == 0 ? -1 : 1);
        for (int i = 0; step == 3 && i < rows * n; ++i)
          re[i] /= n, im[i] /= n;
        continue;
      }
      for (int to = 0; to < size; ++to)
        for (int i = 0; i < rows; ++i)
          for (int k = 0; k < rows; ++k) {
            out[2 * (to * part + k * rows + i)] = re[i * n + to * rows + k];
            out[2 * (to * part + k * rows + i) + 1] = im[i * n + to * rows + k];
          }
      MPI_Alltoall(out, 2 * part, MPI_DOUBLE, in, 2 * part, MPI_DOUBLE, MPI_COMM_WORLD);
      for (int from = 0; from < size; ++from)
        for (int i = 0; i < rows; ++i)
          for (int k = 0; k < rows; ++k) {
            re[i * n + from * rows + k] = in[2 * (from * part + i * rows + k)];
            im[i * n + from * rows + k] = in[2 * (from * part + i * rows + k) + 1];
          }
    }
  tell("FFT", begin);
  int wrong = 0;
  for (int i = 0; i < rows; ++i)
    for (int k = 0; k < n; ++k)
      wrong += fabs(re[i * n + k] - ((rank * rows + i) % 5 + k % 3)) > 1e-9;
  check(wrong == 0, "FFT");
  free(re);
  free(im);
  free(out);
  free(in);
}

static void stream(void)
{
  enum { length = 1 << 16 };
  double *a = need(length * sizeof *a), *b = need(length * sizeof *b), *c = need(length * sizeof *c);
  for (int i = 0; i < length; ++i)
    b[i] = i, c[i] = 1;
  const double begin = MPI_Wtime();
  for (int round = 0; round < 10 * scale; ++round) {
    for (int i = 0; i < length; ++i)
      a[i] = b[i] + 3 * c[i];
    MPI_Allreduce(MPI_IN_PLACE, c, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
  tell("STREAM", begin);
  check(a[length - 1] == length - 1 + 3.0, "STREAM");
  free(a);
  free(b);
  free(c);
}

static void dgemm(void)
{
  enum { n = 96 };
  double *a = need(n * n * sizeof *a), *b = need(n * n * sizeof *b), *c = need(n * n * sizeof *c), sum = 0;
  for (int i = 0; i < n * n; ++i)
    a[i] = i % 7, b[i] = i % 5;
  const double begin = MPI_Wtime();
  for (int round = 0; round < 4 * scale; ++round) {
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j)
          c[i * n + j] += a[i * n + k] * b[k * n + j];
    MPI_Allreduce(&c[1], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check(sum == size * c[1], "DGEMM");
  }
  tell("DGEMM", begin);
  free(a);
  free(b);
  free(c);
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1)
    scale = atoi(argv[1]);
  void (*const parts[])(void) = {rings, transpose, random_access, fft_2d, stream, dgemm};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    parts[i]();
  }
  MPI_Finalize();
  return failures != 0;
}
