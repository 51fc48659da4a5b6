/* SPDX-License-Identifier: LGPL-2.1-or-later
 * rows ROW CALLS BYTES: one row of the comparison with SMPI (README.md), CALLS times. The same source is compiled by
 * mpicc for Umwelt and by smpicc for SMPI. Every row checks what it received; rank 0 prints the time per call. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { window = 64, tag = 7, reply = 8 };

struct job {
  int rank;
  int ranks;
  int calls;
  int bytes;
  char* out;
  char* in;
};

static void fail(const struct job* job, const char* row, int call)
{
  fprintf(stderr, "rows: %s: rank %d received something else than was sent, call %d\n", row, job->rank, call);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Written: memory that never was would be neither copied nor there (runtime/portals/data/sparse_copy.h). */
static char* room(size_t bytes)
{
  char* got = malloc(bytes + 1);
  if (got == NULL) {
    fprintf(stderr, "rows: expected %zu bytes of memory, got none\n", bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  memset(got, 127, bytes + 1); /* no stamp is 127 */
  return got;
}

/* The last byte of each message counts the calls: copies that come too late or never are seen. */
static void stamp(char* data, int bytes, int call)
{
  if (bytes > 0)
    data[bytes - 1] = (char)(call % 101 + 1);
}

static int stamped(const char* data, int bytes, int call)
{
  return bytes == 0 || data[bytes - 1] == (char)(call % 101 + 1);
}

static void start(struct job* job)
{
  for (int i = 0; i < job->calls; ++i)
    MPI_Barrier(MPI_COMM_WORLD);
}

static void pingpong(struct job* job)
{
  const int other = 1 - job->rank;
  for (int i = 0; i < job->calls && job->rank < 2; ++i) {
    if (job->rank == 0) {
      stamp(job->out, job->bytes, i);
      MPI_Send(job->out, job->bytes, MPI_CHAR, other, tag, MPI_COMM_WORLD);
    }
    MPI_Recv(job->in, job->bytes, MPI_CHAR, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!stamped(job->in, job->bytes, i))
      fail(job, "pingpong", i);
    if (job->rank == 1) {
      stamp(job->out, job->bytes, i);
      MPI_Send(job->out, job->bytes, MPI_CHAR, other, tag, MPI_COMM_WORLD);
    }
  }
}

/* Rank i of the lower half sends 64 messages at once to its partner in the upper half, which answers when it has all.
 */
static void bandwidth(struct job* job)
{
  MPI_Request requests[window];
  const int half = job->ranks / 2;
  for (int i = 0; i < job->calls; ++i) {
    if (job->rank < half) {
      stamp(job->out, job->bytes, i);
      for (int k = 0; k < window; ++k)
        MPI_Isend(job->out, job->bytes, MPI_CHAR, job->rank + half, tag, MPI_COMM_WORLD, &requests[k]);
      MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
      MPI_Recv(job->in, 1, MPI_CHAR, job->rank + half, reply, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (job->rank < 2 * half) {
      for (int k = 0; k < window; ++k)
        MPI_Irecv(job->in, job->bytes, MPI_CHAR, job->rank - half, tag, MPI_COMM_WORLD, &requests[k]);
      MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
      if (!stamped(job->in, job->bytes, i))
        fail(job, "bandwidth", i);
      MPI_Send(job->out, 1, MPI_CHAR, job->rank - half, reply, MPI_COMM_WORLD);
    }
  }
}

static void bcast(struct job* job)
{
  for (int i = 0; i < job->calls; ++i) {
    const int root = i % job->ranks;
    if (job->rank == root)
      stamp(job->in, job->bytes, i);
    MPI_Bcast(job->in, job->bytes, MPI_CHAR, root, MPI_COMM_WORLD);
    if (!stamped(job->in, job->bytes, i))
      fail(job, "bcast", i);
  }
}

static void allreduce(struct job* job)
{
  const int count = job->bytes / (int)sizeof(double);
  double* out = (double*)job->out;
  double* in = (double*)job->in;
  for (int i = 0; i < job->calls; ++i) {
    for (int k = 0; k < count; ++k)
      out[k] = job->rank + i;
    MPI_Allreduce(out, in, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    const double sum = job->ranks * (job->ranks - 1) / 2.0 + (double)job->ranks * i;
    if (count > 0 && (in[0] != sum || in[count - 1] != sum))
      fail(job, "allreduce", i);
  }
}

static void alltoall(struct job* job)
{
  for (int i = 0; i < job->calls; ++i) {
    for (int to = 0; to < job->ranks; ++to)
      stamp(job->out + (size_t)to * (size_t)job->bytes, job->bytes, i + to + job->rank);
    MPI_Alltoall(job->out, job->bytes, MPI_CHAR, job->in, job->bytes, MPI_CHAR, MPI_COMM_WORLD);
    for (int from = 0; from < job->ranks; ++from)
      if (!stamped(job->in + (size_t)from * (size_t)job->bytes, job->bytes, i + from + job->rank))
        fail(job, "alltoall", i);
  }
}

/* Five-point stencil on a square per rank, `bytes` along each side of it; the four sides are exchanged before each
 * sweep. */
static void stencil(struct job* job)
{
  int dims[2] = {0, 0};
  const int periods[2] = {1, 1};
  MPI_Dims_create(job->ranks, 2, dims);
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  int west, east, north, south;
  MPI_Cart_shift(grid, 0, 1, &north, &south);
  MPI_Cart_shift(grid, 1, 1, &west, &east);
  const int side = job->bytes / (int)sizeof(double);
  const int row = side + 2;
  double* a = (double*)room(sizeof(double) * (size_t)(row * row));
  double* b = (double*)room(sizeof(double) * (size_t)(row * row));
  for (int i = 0; i < row * row; ++i)
    a[i] = b[i] = 1 + job->rank % 3;
  MPI_Datatype column;
  MPI_Type_vector(side, 1, row, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  for (int i = 0; i < job->calls; ++i) {
    MPI_Request requests[8];
    MPI_Irecv(a + 1, side, MPI_DOUBLE, north, 0, grid, &requests[0]);
    MPI_Irecv(a + (side + 1) * row + 1, side, MPI_DOUBLE, south, 1, grid, &requests[1]);
    MPI_Irecv(a + row, 1, column, west, 2, grid, &requests[2]);
    MPI_Irecv(a + row + side + 1, 1, column, east, 3, grid, &requests[3]);
    MPI_Isend(a + side * row + 1, side, MPI_DOUBLE, south, 0, grid, &requests[4]);
    MPI_Isend(a + row + 1, side, MPI_DOUBLE, north, 1, grid, &requests[5]);
    MPI_Isend(a + row + side, 1, column, east, 2, grid, &requests[6]);
    MPI_Isend(a + row + 1, 1, column, west, 3, grid, &requests[7]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    for (int y = 1; y <= side; ++y)
      for (int x = 1; x <= side; ++x)
        b[y * row + x] = 0.2 * (a[y * row + x] + a[y * row + x - 1] + a[y * row + x + 1] + a[(y - 1) * row + x] +
                                a[(y + 1) * row + x]);
    double* const swap = a;
    a = b;
    b = swap;
  }
  /* A sweep keeps the sum over all ranks. */
  double sums[2] = {0, (1 + job->rank % 3) * (double)side * side};
  for (int y = 1; y <= side; ++y)
    for (int x = 1; x <= side; ++x)
      sums[0] += a[y * row + x];
  double all[2];
  MPI_Allreduce(sums, all, 2, MPI_DOUBLE, MPI_SUM, grid);
  if (all[0] < all[1] * (1 - 1e-9) || all[0] > all[1] * (1 + 1e-9))
    fail(job, "stencil", job->calls);
  MPI_Type_free(&column);
  MPI_Comm_free(&grid);
  free(a);
  free(b);
}

/* Ranks in pairs. The lower one looks until a message is there that the upper one sends 20 us (simulated) later. */
static void poll_test(struct job* job)
{
  const int half = job->ranks / 2;
  for (int i = 0; i < job->calls; ++i) {
    if (job->rank < half) {
      MPI_Request request;
      int done = 0;
      MPI_Irecv(job->in, job->bytes, MPI_CHAR, job->rank + half, tag, MPI_COMM_WORLD, &request);
      MPI_Send(job->out, 0, MPI_CHAR, job->rank + half, reply, MPI_COMM_WORLD);
      while (!done)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (!stamped(job->in, job->bytes, i))
        fail(job, "test", i);
    } else if (job->rank < 2 * half) {
      MPI_Recv(job->in, 0, MPI_CHAR, job->rank - half, reply, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      usleep(20);
      stamp(job->out, job->bytes, i);
      MPI_Send(job->out, job->bytes, MPI_CHAR, job->rank - half, tag, MPI_COMM_WORLD);
    }
  }
}

static void poll_iprobe(struct job* job)
{
  const int half = job->ranks / 2;
  for (int i = 0; i < job->calls; ++i) {
    if (job->rank < half) {
      int there = 0;
      MPI_Send(job->out, 0, MPI_CHAR, job->rank + half, reply, MPI_COMM_WORLD);
      while (!there)
        MPI_Iprobe(job->rank + half, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
      MPI_Recv(job->in, job->bytes, MPI_CHAR, job->rank + half, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (!stamped(job->in, job->bytes, i))
        fail(job, "iprobe", i);
    } else if (job->rank < 2 * half) {
      MPI_Recv(job->in, 0, MPI_CHAR, job->rank - half, reply, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      usleep(20);
      stamp(job->out, job->bytes, i);
      MPI_Send(job->out, job->bytes, MPI_CHAR, job->rank - half, tag, MPI_COMM_WORLD);
    }
  }
}

/* A dense kernel on `bytes` of doubles, a sum over all ranks after each 5 of them. */
static void compute(struct job* job)
{
  const int side = job->bytes / (int)sizeof(double);
  double* a = (double*)room(sizeof(double) * (size_t)(3 * side * side));
  double* b = a + side * side;
  double* c = b + side * side;
  for (int i = 0; i < side * side; ++i) {
    a[i] = 1.0 / (1 + i % 7);
    b[i] = 1.0 / (1 + i % 5);
  }
  for (int i = 0; i < job->calls; ++i) {
    for (int again = 0; again < 5; ++again)
      for (int y = 0; y < side; ++y)
        for (int k = 0; k < side; ++k)
          for (int x = 0; x < side; ++x)
            c[y * side + x] += a[y * side + k] * b[k * side + x];
    const double mine = c[job->rank % side];
    double sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (!(sum >= mine))
      fail(job, "compute", i);
  }
  free(a);
}

static const struct row {
  const char* name;
  void (*run)(struct job*);
} all_rows[] = {
    {"start", start},    {"pingpong", pingpong},   {"bandwidth", bandwidth}, {"barrier", start},
    {"bcast", bcast},    {"allreduce", allreduce}, {"alltoall", alltoall},   {"stencil", stencil},
    {"test", poll_test}, {"iprobe", poll_iprobe},  {"compute", compute},
};

int main(int argc, char** argv)
{
  const struct row* row = NULL;
  for (size_t i = 0; argc == 4 && i < sizeof all_rows / sizeof *all_rows; ++i)
    if (strcmp(all_rows[i].name, argv[1]) == 0)
      row = &all_rows[i];
  if (row == NULL || atoi(argv[2]) < 1 || atoi(argv[3]) < 0) {
    fputs("usage: rows ROW CALLS BYTES\n", stderr);
    return 2;
  }
  struct job job = {.calls = atoi(argv[2]), .bytes = atoi(argv[3])};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
  const size_t blocks = row->run == alltoall ? (size_t)job.ranks : 1;
  job.out = room(blocks * (size_t)job.bytes);
  job.in = room(blocks * (size_t)job.bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  row->run(&job);
  if (job.rank == 0)
    printf("%.4f\n", (MPI_Wtime() - begin) / job.calls * 1e6);
  free(job.out);
  free(job.in);
  MPI_Finalize();
  return 0;
}
