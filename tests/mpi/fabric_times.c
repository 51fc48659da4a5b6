// SPDX-License-Identifier: LGPL-2.1-or-later
// How long a ping-pong, an all-to-all and a message beside an incast take in simulated time: lines of name, bytes and
// nanoseconds.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { most = 1 << 18 };

static void tell(int rank, const char* name, int bytes, double seconds)
{
  if (rank == 0)
    printf("%s %d %.0f\n", name, bytes, seconds * 1e9);
}

static double ping_pong(int rank, int ranks, char* buffer, int bytes)
{
  enum { rounds = 10 };
  const int other = ranks - 1;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < rounds; ++i) {
    if (rank == 0) {
      MPI_Send(buffer, bytes, MPI_CHAR, other, 1, MPI_COMM_WORLD);
      MPI_Recv(buffer, bytes, MPI_CHAR, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == other) {
      MPI_Recv(buffer, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(buffer, bytes, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
    }
  }
  return (MPI_Wtime() - begin) / rounds / 2;
}

static double all_to_all(int ranks, char* from, char* to, int bytes)
{
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  MPI_Alltoall(from, bytes / ranks, MPI_CHAR, to, bytes / ranks, MPI_CHAR, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime() - begin;
}

// Ranks 1, 2, 4 and 5 send to the last; meanwhile rank 0 has a message for the one before.
static double beside_incast(int rank, int ranks, char* buffer, int bytes)
{
  double seconds = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  if (rank == 1 || rank == 2 || rank == 4 || rank == 5)
    MPI_Send(buffer, most, MPI_CHAR, ranks - 1, 3, MPI_COMM_WORLD);
  else if (rank == ranks - 1) {
    MPI_Request requests[4];
    for (int i = 0; i < 4; ++i)
      MPI_Irecv(buffer + (size_t)i * most, most, MPI_CHAR, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  } else if (rank == 0) {
    MPI_Send(buffer, bytes, MPI_CHAR, ranks - 2, 4, MPI_COMM_WORLD);
  } else if (rank == ranks - 2) {
    MPI_Recv(buffer, bytes, MPI_CHAR, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    seconds = MPI_Wtime() - begin;
  }
  double all = 0;
  MPI_Reduce(&seconds, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char** argv)
{
  int rank = 0;
  int ranks = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char* from = calloc(4, most);
  if (ranks < 8 || from == NULL)
    MPI_Abort(MPI_COMM_WORLD, 1);
  char* to = from + most;
  for (int bytes = 8; bytes <= most; bytes *= 8)
    tell(rank, "pingpong", bytes, ping_pong(rank, ranks, from, bytes));
  for (int bytes = 64 * ranks; bytes <= most; bytes *= 16)
    tell(rank, "alltoall", bytes, all_to_all(ranks, from, to, bytes));
  tell(rank, "incast", most, beside_incast(rank, ranks, from, most));
  free(from);
  MPI_Finalize();
  return 0;
}
