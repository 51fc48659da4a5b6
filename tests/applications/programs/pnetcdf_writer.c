// SPDX-License-Identifier: LGPL-2.1-or-later
// pnetcdf_writer FILE: three records, each rank a block of columns, by nonblocking puts that one call completes.
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    const int error = (call);                                                                                          \
    if (error != NC_NOERR) {                                                                                           \
      fprintf(stderr, "%s: %s\n", #call, ncmpi_strerror(error));                                                       \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                                                    \
    }                                                                                                                  \
  } while (0)

enum { columns = 500, records = 3 };

int main(int argc, char** argv)
{
  int rank, ranks, file, dims[2], variable, requests[records], states[records];
  static float data[records][columns];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  CHECK(ncmpi_create(MPI_COMM_WORLD, argv[1], NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
  CHECK(ncmpi_def_dim(file, "time", NC_UNLIMITED, &dims[0]));
  CHECK(ncmpi_def_dim(file, "x", (MPI_Offset)ranks * columns, &dims[1]));
  CHECK(ncmpi_def_var(file, "t", NC_FLOAT, 2, dims, &variable));
  CHECK(ncmpi_enddef(file));
  for (int r = 0; r < records; ++r) {
    for (int i = 0; i < columns; ++i)
      data[r][i] = (float)(100 * r + rank) + (float)i / columns;
    CHECK(ncmpi_iput_vara_float(file, variable, (MPI_Offset[]){r, (MPI_Offset)rank * columns},
                                (MPI_Offset[]){1, columns}, data[r], &requests[r]));
  }
  CHECK(ncmpi_wait_all(file, records, requests, states));
  CHECK(ncmpi_close(file));
  if (rank == 0)
    printf("%d records of %d values\n", records, ranks * columns);
  MPI_Finalize();
  return 0;
}
