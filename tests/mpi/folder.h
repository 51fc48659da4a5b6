/* SPDX-License-Identifier: LGPL-2.1-or-later
 * A temporary directory that all ranks know: made by rank 0, removed by the program. */
#pragma once

#include "check.h"

enum { folder_bytes = 64 };

static inline void make_folder(char* folder)
{
  memset(folder, 0, folder_bytes);
  if (world_rank == 0) {
    strcpy(folder, "/tmp/umwelt-test-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
  }
  MPI_Bcast(folder, folder_bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
}
