/* SPDX-License-Identifier: LGPL-2.1-or-later
 * What the programs of fault tolerance (ULFM, --with-ft) share: how a rank dies, and what the others are told. */
#pragma once

#include "check.h"

#include <mpi-ext.h>
#include <signal.h>
#include <unistd.h>

/* What it has printed is to be there. */
static inline void die(const char* how)
{
  fflush(stdout);
  if (strcmp(how, "exit") == 0)
    _exit(0);
  if (strcmp(how, "abort") == 0) {
    signal(SIGABRT, SIG_DFL); /* Open MPI's handler prints addresses */
    abort();
  }
  raise(SIGKILL);
}

static inline int class_of(int code)
{
  int class = MPI_SUCCESS;
  if (code != MPI_SUCCESS)
    MPI_Error_class(code, &class);
  return class;
}

/* Who is the first to see that a rank has died, and who that the communicator was revoked because of it, depends on
 * times. */
static inline int is_failure(int code)
{
  const int class = class_of(code);
  return class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED;
}

/* All of its ranks, in order, and a collective that they agree upon. */
static inline void check_whole(MPI_Comm communicator, int size, int sum)
{
  int ranks = 0, total = 0, flag = world_rank == 0 ? 5 : 7;
  MPI_Comm_size(communicator, &ranks);
  CHECK_EQ(ranks, size);
  CHECK_EQ(MPI_Allreduce(&world_rank, &total, 1, MPI_INT, MPI_SUM, communicator), MPI_SUCCESS);
  CHECK_EQ(total, sum);
  CHECK_EQ(MPIX_Comm_agree(communicator, &flag), MPI_SUCCESS);
  CHECK_EQ(flag, 5);
}
