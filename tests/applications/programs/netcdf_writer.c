// SPDX-License-Identifier: LGPL-2.1-or-later
// netcdf_writer FILE: three records, each rank a block of columns, collectively; read back by other ranks.
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    const int error = (call);                                                                                          \
    if (error != NC_NOERR) {                                                                                           \
      fprintf(stderr, "%s: %s\n", #call, nc_strerror(error));                                                          \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                                                    \
    }                                                                                                                  \
  } while (0)

enum { columns = 500, records = 3 };

int main(int argc, char** argv)
{
  int rank, ranks, file, dims[2], variable;
  static double data[columns];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  CHECK(nc_create_par(argv[1], NC_CLOBBER | NC_NETCDF4 | NC_MPIIO, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
  CHECK(nc_def_dim(file, "time", NC_UNLIMITED, &dims[0]));
  CHECK(nc_def_dim(file, "x", (size_t)ranks * columns, &dims[1]));
  CHECK(nc_def_var(file, "t", NC_DOUBLE, 2, dims, &variable));
  CHECK(nc_enddef(file));
  CHECK(nc_var_par_access(file, variable, NC_COLLECTIVE));
  for (size_t r = 0; r < records; ++r) {
    for (int i = 0; i < columns; ++i)
      data[i] = (double)(1000 * r) + rank + (double)i / columns;
    CHECK(nc_put_vara_double(file, variable, (size_t[]){r, (size_t)rank * columns}, (size_t[]){1, columns}, data));
  }
  CHECK(nc_close(file));
  CHECK(nc_open_par(argv[1], NC_NOWRITE | NC_MPIIO, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
  CHECK(nc_inq_varid(file, "t", &variable));
  double sum = 0, total;
  const size_t next = (size_t)(rank + 1) % (size_t)ranks;
  for (size_t r = 0; r < records; ++r) {
    CHECK(nc_get_vara_double(file, variable, (size_t[]){r, next * columns}, (size_t[]){1, columns}, data));
    for (int i = 0; i < columns; ++i)
      sum += data[i] * (double)(next + 1);
  }
  CHECK(nc_close(file));
  MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("sum %.15g\n", total);
  MPI_Finalize();
  return 0;
}
