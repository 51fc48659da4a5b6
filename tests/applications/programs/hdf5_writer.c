// SPDX-License-Identifier: LGPL-2.1-or-later
// hdf5_writer FILE: every rank writes its rows of a dataset collectively, one more dataset independently, and reads
// back what the next rank has written.
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { rows = 64, columns = 1000 };

static hid_t slab(hid_t dataset, int rank)
{
  const hid_t space = H5Dget_space(dataset);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, (hsize_t[]){(hsize_t)rank * rows, 0}, NULL, (hsize_t[]){rows, columns},
                      NULL);
  return space;
}

int main(int argc, char** argv)
{
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  const hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(creation, 0);
  double* data = malloc(sizeof(double[rows][columns]));
  const hid_t memory = H5Screate_simple(2, (hsize_t[]){rows, columns}, NULL);
  hid_t datasets[2];
  for (int k = 0; k < 2; ++k) {
    const hid_t space = H5Screate_simple(2, (hsize_t[]){(hsize_t)ranks * rows, columns}, NULL);
    datasets[k] =
        H5Dcreate(file, k ? "independent" : "collective", H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(transfer, k ? H5FD_MPIO_INDEPENDENT : H5FD_MPIO_COLLECTIVE);
    for (int i = 0; i < rows * columns; ++i)
      data[i] = rank * 1000.0 + i + k;
    if (H5Dwrite(datasets[k], H5T_NATIVE_DOUBLE, memory, slab(datasets[k], rank), transfer, data) < 0)
      MPI_Abort(MPI_COMM_WORLD, 1);
  }
  H5Fflush(file, H5F_SCOPE_GLOBAL);
  MPI_Barrier(MPI_COMM_WORLD);
  const int next = (rank + 1) % ranks;
  double sum = 0, total;
  for (int k = 0; k < 2; ++k) {
    H5Dread(datasets[k], H5T_NATIVE_DOUBLE, memory, slab(datasets[k], next), H5P_DEFAULT, data);
    for (int i = 0; i < rows * columns; ++i)
      sum += data[i] * (next + 1);
    H5Dclose(datasets[k]);
  }
  H5Fclose(file);
  MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("sum %.15g\n", total);
  MPI_Finalize();
  return 0;
}
