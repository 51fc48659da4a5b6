/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * chatter talk: for some two seconds of wall-clock the rank prints to standard output and error, lines in several
 * pieces; and simulated events enough for a progress line go by. chatter ask: rank 0 asks and waits for the answer.
 * chatter terminal: what standard output and error of a rank are. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void print(int fd, const char* text)
{
  if (write(fd, text, strlen(text)) < 0)
    exit(1);
}

static void talk(int rank)
{
  for (int i = 0; i < 20; ++i) {
    char piece[32];
    snprintf(piece, sizeof piece, "rank %d ", rank);
    print(1, piece);
    snprintf(piece, sizeof piece, "line %d", i);
    print(1, piece);
    print(1, " of pieces\n");
    fprintf(stderr, "rank %d error %d of pieces\n", rank, i);
    MPI_Barrier(MPI_COMM_WORLD); /* who is in the middle of a line would otherwise stay there longer than the runtime
                                    waits for its end */
    if (rank == 0)               /* the run takes wall-clock time, in one process and in worker processes */
      for (volatile long wait = 0; wait < 160000000; ++wait)
        ;
    for (int round = 0; round < 300; ++round)
      MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void ask(int rank)
{
  int number = 0;
  if (rank == 0) {
    print(1, "number? ");
    char line[32] = "";
    if (read(0, line, sizeof line - 1) > 0)
      number = atoi(line);
  }
  MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
  printf("rank %d got %d\n", rank, number);
}

static void tell_terminal(int rank)
{
  struct stat out, err;
  if (rank != 1)
    return;
  fstat(1, &out);
  fstat(2, &err);
  printf("[1] stdout %s, stderr %s\n", S_ISCHR(out.st_mode) ? "terminal" : "other",
         S_ISCHR(err.st_mode) ? "terminal" : "other");
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* how = argc > 1 ? argv[1] : "";
  if (strcmp(how, "talk") == 0)
    talk(rank);
  else if (strcmp(how, "ask") == 0)
    ask(rank);
  else
    tell_terminal(rank);
  MPI_Finalize();
  return 0;
}
