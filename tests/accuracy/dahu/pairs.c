/* SPDX-License-Identifier: LGPL-2.1-or-later
 * pairs BYTES...: what mpi_calibration.csv of Dahu tells of two ranks, rank 0's (recv: rank 1's) mean seconds per call:
 *   send      MPI_Send, the receiver waits in MPI_Recv
 *   isend     MPI_Isend alone
 *   recv      MPI_Recv of a message that was sent long before
 *   pingpong  a round trip of MPI_Send and MPI_Recv
 * CSV: experiment,bytes,seconds */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { warm_up = 2, repetitions = 5, pause_us = 100 };

struct pair {
  int rank, bytes;
  char *out, *in;
};

/* Both are here, and nothing is under way. The other one's barrier must not come while this one still measures. */
static void settle(void)
{
  usleep(20 * pause_us);
  MPI_Barrier(MPI_COMM_WORLD);
  usleep(pause_us);
}

static void receive(const struct pair* pair)
{
  MPI_Recv(pair->in, pair->bytes, MPI_CHAR, 1 - pair->rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send(const struct pair* pair)
{
  MPI_Send(pair->out, pair->bytes, MPI_CHAR, 1 - pair->rank, 0, MPI_COMM_WORLD);
}

static double sent(const struct pair* pair)
{
  settle();
  if (pair->rank == 1) {
    receive(pair);
    return 0;
  }
  usleep(pause_us); /* the other one waits */
  const double begin = MPI_Wtime();
  send(pair);
  return MPI_Wtime() - begin;
}

static double begun(const struct pair* pair)
{
  MPI_Request request;
  settle();
  if (pair->rank == 1) {
    receive(pair);
    return 0;
  }
  usleep(pause_us);
  const double begin = MPI_Wtime();
  MPI_Isend(pair->out, pair->bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
  const double end = MPI_Wtime();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return end - begin;
}

static double received(const struct pair* pair)
{
  settle();
  if (pair->rank == 0) {
    send(pair);
    return 0;
  }
  usleep(10 * pause_us); /* what is not held back is there */
  const double begin = MPI_Wtime();
  receive(pair);
  return MPI_Wtime() - begin;
}

static double round_trip(const struct pair* pair)
{
  settle();
  if (pair->rank == 1) {
    receive(pair);
    send(pair);
    return 0;
  }
  usleep(pause_us);
  const double begin = MPI_Wtime();
  send(pair);
  receive(pair);
  return MPI_Wtime() - begin;
}

static void measure(const struct pair* pair, const char* name, int timed_by, double (*once)(const struct pair*))
{
  double total = 0;
  for (int i = 0; i < warm_up + repetitions; ++i) {
    const double seconds = once(pair);
    total += i >= warm_up ? seconds : 0;
  }
  if (pair->rank == timed_by && timed_by == 1)
    MPI_Send(&total, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
  if (pair->rank == 0 && timed_by == 1)
    MPI_Recv(&total, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (pair->rank == 0)
    printf("%s,%d,%.6g\n", name, pair->bytes, total / repetitions);
}

int main(int argc, char** argv)
{
  struct pair pair;
  int ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &pair.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 2 || argc < 2) {
    if (pair.rank == 0)
      fprintf(stderr, "pairs: expected 2 ranks and sizes in bytes, got %d ranks and %d sizes\n", ranks, argc - 1);
    MPI_Finalize();
    return 2;
  }
  if (pair.rank == 0)
    puts("experiment,bytes,seconds");
  for (int i = 1; i < argc; ++i) {
    pair.bytes = atoi(argv[i]);
    pair.out = malloc((size_t)pair.bytes);
    pair.in = malloc((size_t)pair.bytes);
    measure(&pair, "send", 0, sent);
    measure(&pair, "isend", 0, begun);
    measure(&pair, "recv", 1, received);
    measure(&pair, "pingpong", 0, round_trip);
    free(pair.in);
    free(pair.out);
  }
  MPI_Finalize();
  return 0;
}
