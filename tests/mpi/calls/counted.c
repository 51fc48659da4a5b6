// SPDX-License-Identifier: LGPL-2.1-or-later
// Counts its own calls of MPI and what they hand over, and writes that at the end: "call NAME BYTES", a line for each
// call, and "message TO BYTES" for each message to a rank of MPI_COMM_WORLD.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 6 };

static char text[65536];
static int me, size;

static void note(const char* what, const char* name, long bytes)
{
  sprintf(text + strlen(text), "%s %s %ld\n", what, name, bytes);
}

static void message(int to, long bytes)
{
  char name[16];
  sprintf(name, "%d", to);
  note("message", name, bytes);
}

#define CALL(name, bytes, ...) (note("call", "MPI_" #name, bytes), MPI_##name(__VA_ARGS__))

static void messages(void)
{
  int data[ELEMENTS] = {me}, got[ELEMENTS];
  const int next = (me + 1) % size, before = (me + size - 1) % size;
  MPI_Request requests[2];
  MPI_Status status;
  for (int i = 0; i < 3; ++i) {
    CALL(Irecv, 0, got, ELEMENTS, MPI_INT, before, 1, MPI_COMM_WORLD, &requests[0]);
    CALL(Isend, 4 * i, data, i, MPI_INT, next, 1, MPI_COMM_WORLD, &requests[1]);
    message(next, 4 * i);
    CALL(Waitall, 0, 2, requests, MPI_STATUSES_IGNORE);
  }
  CALL(Sendrecv, 24, data, ELEMENTS, MPI_INT, next, 2, got, ELEMENTS, MPI_INT, before, 2, MPI_COMM_WORLD, &status);
  message(next, 24);
  CALL(Send, 0, data, ELEMENTS, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
  CALL(Recv, 0, got, ELEMENTS, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
  if (me == 0) {
    CALL(Send, 8, data, 1, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD);
    message(1, 8);
  } else if (me == 1) {
    CALL(Probe, 0, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &status);
    CALL(Recv, 0, got, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &status);
  }
  CALL(Send_init, 0, data, 5, MPI_INT, next, 5, MPI_COMM_WORLD, &requests[0]);
  CALL(Recv_init, 0, got, 5, MPI_INT, before, 5, MPI_COMM_WORLD, &requests[1]);
  for (int i = 0; i < 2; ++i) {
    CALL(Startall, 20, 2, requests);
    message(next, 20);
    CALL(Wait, 0, &requests[0], &status);
    CALL(Wait, 0, &requests[1], &status);
  }
  CALL(Request_free, 0, &requests[0]);
  CALL(Request_free, 0, &requests[1]);
}

static void collectives(void)
{
  int* data = calloc((size_t)size * ELEMENTS, sizeof *data);
  int* got = calloc((size_t)size * ELEMENTS, sizeof *got);
  int *counts = calloc((size_t)size, sizeof *counts), *places = calloc((size_t)size, sizeof *places);
  long all = 0;
  for (int i = 0; i < size; ++i) {
    counts[i] = (me + i) % 3;
    places[i] = i * ELEMENTS;
    all += 4 * counts[i];
  }
  CALL(Barrier, 0, MPI_COMM_WORLD);
  CALL(Bcast, me == 1 ? 24 : 0, data, ELEMENTS, MPI_INT, 1, MPI_COMM_WORLD);
  CALL(Reduce, 24, data, got, ELEMENTS, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  CALL(Allreduce, 24, MPI_IN_PLACE, got, ELEMENTS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CALL(Gather, me == 0 ? 0 : 8, me == 0 ? MPI_IN_PLACE : data, 2, MPI_INT, got, 2, MPI_INT, 0, MPI_COMM_WORLD);
  CALL(Scatter, me == 0 ? 8 * size : 0, data, 2, MPI_INT, got, 2, MPI_INT, 0, MPI_COMM_WORLD);
  CALL(Allgather, 12, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, 3, MPI_INT, MPI_COMM_WORLD);
  CALL(Alltoall, 4 * size, data, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
  CALL(Alltoallv, all, data, counts, places, MPI_INT, got, counts, places, MPI_INT, MPI_COMM_WORLD);
  CALL(Reduce_scatter_block, 4 * size, data, got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Request request;
  CALL(Iallreduce, 16, data, got, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &request);
  CALL(Wait, 0, &request, MPI_STATUS_IGNORE);
  free(data);
  free(got);
  free(counts);
  free(places);
}

static void communicators(void)
{
  MPI_Comm half, named;
  int rank, number = 7, got = 0;
  CALL(Comm_split, 0, MPI_COMM_WORLD, me % 2, -me, &half); // the last is the first
  CALL(Comm_rank, 0, half, &rank);
  int members = 0;
  CALL(Comm_size, 0, half, &members);
  MPI_Request request;
  CALL(Isend, 4, &number, 1, MPI_INT, (rank + 1) % members, 6, half, &request);
  const int next = (rank + 1) % members;
  message(2 * (members - 1 - next) + me % 2, 4);
  CALL(Recv, 0, &got, 1, MPI_INT, MPI_ANY_SOURCE, 6, half, MPI_STATUS_IGNORE);
  CALL(Wait, 0, &request, MPI_STATUS_IGNORE);
  CALL(Barrier, 0, half);
  CALL(Comm_dup, 0, MPI_COMM_WORLD, &named);
  CALL(Comm_set_name, 0, named, "with a name");
  CALL(Barrier, 0, named);
  CALL(Comm_free, 0, &half);
  CALL(Comm_free, 0, &named);
}

int main(int argc, char** argv)
{
  CALL(Init, 0, &argc, &argv);
  CALL(Comm_rank, 0, MPI_COMM_WORLD, &me);
  CALL(Comm_size, 0, MPI_COMM_WORLD, &size);
  messages();
  collectives();
  communicators();
  for (int i = 0; i < 4; ++i)
    CALL(Wtime, 0);
  CALL(Finalize, 0);
  for (const char* line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
    printf("%d %s\n", me, line);
  return 0;
}
