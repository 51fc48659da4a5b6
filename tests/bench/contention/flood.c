/* SPDX-License-Identifier: LGPL-2.1-or-later
 * flood COUNT BYTES IN_FLIGHT [OWN_BYTES]: the first rank of node 0 sends COUNT messages, one after the other, to its
 * like in the other half of the nodes, while all ranks of all other nodes of the first half flood theirs with messages
 * of the same size. The ranks of a flooding node have IN_FLIGHT of them under way together, 0 for none at all: the
 * right to send one goes round among them. Rank 0 prints the median time of a message of its own in ms, the first one
 * left out, and how many messages a second a flooding node has sent meanwhile. With OWN_BYTES its messages have that
 * size, are answered by as many bytes (against the flood), and the time is that of the round trip. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { message, right, end };

static int compare(const void* a, const void* b)
{
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* Sends until rank 0 says that it is done; answers how many messages have arrived by then. */
static int flood(char* buffer, int bytes, int peer, int rights, MPI_Comm node)
{
  int rank, ranks, sent = 0, mine = 0;
  MPI_Comm_rank(node, &rank);
  MPI_Comm_size(node, &ranks);
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  enum { stop, turn, first };
  MPI_Request* requests = malloc((first + rights) * sizeof *requests);
  for (int i = 0; i < first + rights; ++i)
    requests[i] = MPI_REQUEST_NULL;
  MPI_Irecv(NULL, 0, MPI_CHAR, 0, end, MPI_COMM_WORLD, &requests[stop]);
  MPI_Irecv(NULL, 0, MPI_CHAR, before, right, node, &requests[turn]);
  mine = rights / ranks + (rank < rights % ranks);
  for (int which = turn; which != stop;) {
    for (int i = 0; mine > 0 && i < rights; ++i)
      if (requests[first + i] == MPI_REQUEST_NULL) {
        MPI_Isend(buffer, bytes, MPI_CHAR, peer, message, MPI_COMM_WORLD, &requests[first + i]);
        --mine;
      }
    MPI_Waitany(first + rights, requests, &which, MPI_STATUS_IGNORE);
    if (which == turn) {
      ++mine;
      MPI_Irecv(NULL, 0, MPI_CHAR, before, right, node, &requests[turn]);
    } else if (which != stop) {
      ++sent;
      MPI_Send(NULL, 0, MPI_CHAR, next, right, node);
    }
  }
  const int until_then = sent;
  MPI_Waitall(rights, requests + first, MPI_STATUSES_IGNORE);
  MPI_Send(NULL, 0, MPI_CHAR, peer, end, MPI_COMM_WORLD);
  MPI_Barrier(node); /* nobody's right is under way any more */
  MPI_Cancel(&requests[turn]);
  MPI_Wait(&requests[turn], MPI_STATUS_IGNORE);
  free(requests);
  return until_then;
}

/* What comes is not looked at, so it may all go to one place. */
static void drain(char* buffer, int bytes, int peer)
{
  enum { window = 64 };
  MPI_Request requests[window];
  MPI_Status status;
  int which = 0;
  for (int i = 0; i < window; ++i)
    MPI_Irecv(buffer, bytes, MPI_CHAR, peer, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[i]);
  for (;;) {
    MPI_Waitany(window, requests, &which, &status);
    if (status.MPI_TAG == end)
      break;
    MPI_Irecv(buffer, bytes, MPI_CHAR, peer, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[which]);
  }
  for (int i = 0; i < window; ++i)
    if (i != which) {
      MPI_Cancel(&requests[i]);
      MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
}

int main(int argc, char** argv)
{
  int rank, ranks, per_node;
  MPI_Comm node;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &per_node);
  if (argc < 4 || argc > 5 || ranks % (2 * per_node) != 0) {
    fprintf(stderr, "usage: flood COUNT BYTES IN_FLIGHT [OWN_BYTES], on an even number of full nodes\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const int count = atoi(argv[1]), bytes = atoi(argv[2]), rights = atoi(argv[3]), half = ranks / 2;
  const int answered = argc > 4, own_bytes = answered ? atoi(argv[4]) : bytes;
  char* buffer = calloc(1, (size_t)(bytes > own_bytes ? bytes : own_bytes));
  double began = 0, ended = 0, *times = malloc((count + 1) * sizeof *times);
  int sent = 0, all = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    for (int i = 0; i <= count; ++i) {
      const double before = MPI_Wtime();
      if (i == 0)
        began = before;
      MPI_Send(buffer, own_bytes, MPI_CHAR, half, message, MPI_COMM_WORLD);
      if (answered)
        MPI_Recv(buffer, own_bytes, MPI_CHAR, half, message, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      times[i] = MPI_Wtime() - before;
    }
    ended = MPI_Wtime();
    for (int to = per_node; to < half; ++to)
      MPI_Send(NULL, 0, MPI_CHAR, to, end, MPI_COMM_WORLD);
  } else if (rank == half) {
    for (int i = 0; i <= count; ++i) {
      MPI_Recv(buffer, own_bytes, MPI_CHAR, 0, message, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (answered)
        MPI_Send(buffer, own_bytes, MPI_CHAR, 0, message, MPI_COMM_WORLD);
    }
  } else if (rank >= per_node && rank < half) {
    sent = flood(buffer, bytes, rank + half, rights, node);
  } else if (rank >= half + per_node) {
    drain(buffer, bytes, rank - half);
  }
  MPI_Reduce(&sent, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    qsort(times + 1, count, sizeof *times, compare);
    printf("%.6f %.0f\n", times[1 + count / 2] * 1e3, all / (ended - began) / (half / per_node - 1));
  }
  free(times);
  free(buffer);
  MPI_Finalize();
  return 0;
}
