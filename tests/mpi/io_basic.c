/* SPDX-License-Identifier: LGPL-2.1-or-later
 * MPI-IO in a temporary directory: explicit offsets, individual pointers, collective calls, a strided view. */
#include <unistd.h>

#include "check.h"
#include "directory.h"

enum { n = 5000 };

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  char directory[directory_bytes], name[128];
  make_directory(directory);
  snprintf(name, sizeof name, "%s/data", directory);

  static int out[n], in[n];
  const int right = (world_rank + 1) % world_size;
  MPI_File file;
  MPI_Status status;
  int count = -1;
  for (int i = 0; i < n; ++i) {
    out[i] = world_rank * 100000 + i;
  }
  CHECK_EQ(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_SUCCESS);
  MPI_File_write_at(file, (MPI_Offset)world_rank * (MPI_Offset)sizeof out, out, n, MPI_INT, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK_EQ(count, n);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  MPI_Offset size = 0;
  MPI_File_get_size(file, &size);
  CHECK_EQ(size, (long long)world_size * (long long)sizeof out);
  MPI_File_read_at(file, (MPI_Offset)right * (MPI_Offset)sizeof out, in, n, MPI_INT, &status);
  CHECK_EQ(in[n - 1], right * 100000 + n - 1);

  MPI_File_seek(file, (MPI_Offset)right * (MPI_Offset)sizeof out + 8, MPI_SEEK_SET);
  MPI_File_read(file, in, 2, MPI_INT, MPI_STATUS_IGNORE);
  CHECK_EQ(in[0], right * 100000 + 2);
  MPI_Offset position = 0;
  MPI_File_get_position(file, &position);
  CHECK_EQ(position, (long long)right * (long long)sizeof out + 16);
  MPI_Barrier(MPI_COMM_WORLD);

  /* each rank owns every world_size-th int: written and read by all together */
  MPI_Datatype stride;
  MPI_Type_create_resized(MPI_INT, 0, world_size * (MPI_Aint)sizeof(int), &stride);
  MPI_Type_commit(&stride);
  MPI_File_set_view(file, world_rank * (MPI_Offset)sizeof(int), MPI_INT, stride, "native", MPI_INFO_NULL);
  MPI_File_write_all(file, out, n, MPI_INT, &status);
  MPI_File_sync(file);
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_read_at_all(file, 0, in, n, MPI_INT, &status);
  for (int i = 0; i < n; ++i) {
    CHECK_EQ(in[i], i % world_size * 100000 + i / world_size);
  }
  MPI_Type_free(&stride);
  MPI_File_close(&file);
  CHECK(file == MPI_FILE_NULL);

  CHECK(MPI_File_open(MPI_COMM_WORLD, "/nonexistent/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS);
  if (world_rank == 0) {
    CHECK_EQ(MPI_File_delete(name, MPI_INFO_NULL), MPI_SUCCESS);
    CHECK_EQ(rmdir(directory), 0);
  }
  return finish();
}
