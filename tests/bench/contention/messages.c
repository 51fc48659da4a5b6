/* SPDX-License-Identifier: LGPL-2.1-or-later
 * messages FILE BYTES: all messages of FILE, a line "FROM TO" each, at once: nonblocking, receives first, in the order
 * of the file. Rank 0 prints when the last was complete and when they were on average (us since the last rank was
 * ready), as seen by their receivers. A rank without messages only takes part in the barrier. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv)
{
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 3) {
    fprintf(stderr, "usage: messages FILE BYTES\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  FILE* file = fopen(argv[1], "r");
  if (file == NULL) {
    perror(argv[1]);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  const int bytes = atoi(argv[2]);
  int *from = NULL, *to = NULL, count = 0, receives = 0, sends = 0;
  for (int f, t; fscanf(file, "%d %d", &f, &t) == 2;) {
    if (f < 0 || t < 0 || f >= ranks || t >= ranks) {
      fprintf(stderr, "%s: expected ranks below %d, got %d to %d\n", argv[1], ranks, f, t);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (f != rank && t != rank)
      continue;
    from = realloc(from, (count + 1) * sizeof *from);
    to = realloc(to, (count + 1) * sizeof *to);
    from[count] = f;
    to[count] = t;
    ++count;
    receives += t == rank;
    sends += f == rank;
  }
  fclose(file);

  char* out = calloc(1, (size_t)bytes + 1);
  char* in = malloc((size_t)bytes * receives + 1);
  MPI_Request* requests = malloc((count + 1) * sizeof *requests);
  int posted = 0;
  for (int i = 0; i < count; ++i)
    if (to[i] == rank)
      MPI_Irecv(in + (size_t)bytes * posted, bytes, MPI_CHAR, from[i], 0, MPI_COMM_WORLD, &requests[posted]), ++posted;
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = MPI_Wtime(), sum = 0, last = 0;
  for (int i = 0; i < count; ++i)
    if (from[i] == rank)
      MPI_Isend(out, bytes, MPI_CHAR, to[i], 0, MPI_COMM_WORLD, &requests[posted]), ++posted;
  for (int i = 0; i < count; ++i) {
    int which;
    MPI_Waitany(count, requests, &which, MPI_STATUS_IGNORE);
    if (which < receives) {
      last = MPI_Wtime();
      sum += last;
    }
  }

  double latest_begin, all_last, all_sum, all_count, mine = receives;
  MPI_Allreduce(&begin, &latest_begin, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Reduce(&last, &all_last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(&sum, &all_sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&mine, &all_count, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%.3f %.3f\n", (all_count > 0 ? all_last - latest_begin : 0) * 1e6,
           (all_count > 0 ? all_sum / all_count - latest_begin : 0) * 1e6);
  MPI_Finalize();
  return 0;
}
