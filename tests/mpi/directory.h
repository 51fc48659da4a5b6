/* SPDX-License-Identifier: LGPL-2.1-or-later
 * A temporary directory that all ranks know: made by rank 0, removed by the program. */
#pragma once

#include "check.h"

enum { directory_bytes = 64 };

static inline void make_directory(char* directory)
{
  memset(directory, 0, directory_bytes);
  if (world_rank == 0) {
    strcpy(directory, "/tmp/umwelt-test-XXXXXX");
    CHECK(mkdtemp(directory) != NULL);
  }
  MPI_Bcast(directory, directory_bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
}
