/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Messages between memory that may be forgotten (but for bytes 1000 to 5000) and memory that may not. Two ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 4 << 20, KEPT_BEGIN = 1000, KEPT_END = 5000 };

__attribute__((noinline)) unsigned char* make_piece(int by_mpi)
{
  unsigned char* volatile memory = NULL;
  if (by_mpi)
    MPI_Alloc_mem(BYTES, MPI_INFO_NULL, (void*)&memory);
  else
    memory = malloc(BYTES);
  return memory;
}

static unsigned char value(size_t i, int round)
{
  return (unsigned char)(i % 251 + (size_t)round);
}

static int is_wrong(const unsigned char* memory, int round)
{
  for (size_t i = 0; i < BYTES; ++i)
    if (memory[i] != value(i, round) && ((i >= KEPT_BEGIN && i < KEPT_END) || memory[i] != 0))
      return 1;
  return 0;
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  unsigned char* piece[] = {make_piece(0), make_piece(1), calloc(BYTES, 1)}; /* the last is none */
  int wrong = 0;
  for (int from = 0; from < 3; ++from)
    for (int to = 0; to < 3; ++to) {
      const int round = 3 * from + to + 1;
      if (rank == 0) {
        for (size_t i = 0; i < BYTES; ++i)
          piece[from][i] = value(i, round);
        MPI_Send(piece[from], BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      } else {
        memset(piece[to], 0, BYTES);
        MPI_Recv(piece[to], BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        wrong += is_wrong(piece[to], round);
      }
    }
  if (rank == 1)
    printf("%d wrong\n", wrong);
  MPI_Free_mem(piece[1]);
  free(piece[0]);
  free(piece[2]);
  MPI_Finalize();
  return wrong != 0;
}
