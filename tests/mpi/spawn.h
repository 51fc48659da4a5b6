/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * For programs whose ranks start others of the same program. These print their lines as rank 100 and up, those that
 * they start in turn as rank 200 and up. */
#pragma once

#include "check.h"

static MPI_Comm parent; /* MPI_COMM_NULL: the rank was started by the launcher */
static int generation;  /* 0: so */

/* The generation is the last argument of those that were spawned. */
static inline void begin_family(int* argc, char*** argv)
{
  begin(argc, argv);
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    generation = atoi((*argv)[*argc - 1]);
    world_rank += 100 * generation;
  }
}

/* Starts `count` ranks of this program with one argument. */
static inline MPI_Comm spawn(const char* program, const char* argument, int count, MPI_Info info, MPI_Comm comm)
{
  char next[16];
  snprintf(next, sizeof next, "%d", generation + 1);
  char* arguments[] = {(char*)argument, next, NULL};
  MPI_Comm children;
  int codes[16] = {1};
  CHECK_EQ(MPI_Comm_spawn(program, arguments, count, info, 0, comm, &children, codes), MPI_SUCCESS);
  int root;
  MPI_Comm_rank(comm, &root);
  for (int i = 0; root == 0 && i < count; ++i) {
    CHECK_EQ(codes[i], MPI_SUCCESS);
  }
  return children;
}
