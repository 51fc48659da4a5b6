/* SPDX-License-Identifier: LGPL-2.1-or-later
 * MPI-IO that does not block: explicit offsets, individual pointers, collective calls, completed by wait, test and
 * waitall. */
#include <unistd.h>

#include "check.h"
#include "directory.h"

enum { n = 30000, parts = 8 };

static int out[n], in[n];

static void complete(MPI_Request* request, int expected)
{
  MPI_Status status;
  int count = -1, over = 0;
  while (!over)
    MPI_Test(request, &over, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK_EQ(count, expected);
}

static void check_data(const int* data, int rank, int first, int count)
{
  int wrong = 0;
  for (int i = 0; i < count; ++i)
    wrong += data[i] != rank * 100000 + first + i;
  CHECK_EQ(wrong, 0);
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  char directory[directory_bytes], name[128];
  make_directory(directory);
  snprintf(name, sizeof name, "%s/data", directory);
  const int right = (world_rank + 1) % world_size;
  const MPI_Offset own = (MPI_Offset)world_rank * (MPI_Offset)sizeof out;
  const MPI_Offset its = (MPI_Offset)right * (MPI_Offset)sizeof out;
  MPI_File file;
  MPI_Request request, requests[parts];
  MPI_Status status;
  for (int i = 0; i < n; ++i)
    out[i] = world_rank * 100000 + i;
  CHECK_EQ(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_SUCCESS);

  /* in parts, under way at the same time */
  for (int i = parts - 1; i >= 0; --i)
    MPI_File_iwrite_at(file, own + i * (MPI_Offset)sizeof out / parts, out + i * (n / parts), n / parts, MPI_INT,
                       &requests[i]);
  MPI_Waitall(parts, requests, MPI_STATUSES_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Offset size = 0;
  MPI_File_get_size(file, &size);
  CHECK_EQ(size, (long long)world_size * (long long)sizeof out);
  MPI_File_iread_at(file, its, in, n, MPI_INT, &request);
  complete(&request, n);
  check_data(in, right, 0, n);
  MPI_Barrier(MPI_COMM_WORLD);

  /* individual pointers */
  MPI_File_seek(file, own, MPI_SEEK_SET);
  MPI_File_iwrite(file, out, n / 2, MPI_INT, &requests[0]);
  MPI_File_iwrite(file, out + n / 2, n / 2, MPI_INT, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  memset(in, 0, sizeof in);
  MPI_File_seek(file, its, MPI_SEEK_SET);
  MPI_File_iread(file, in, 10, MPI_INT, &request);
  MPI_Wait(&request, &status);
  MPI_File_iread(file, in + 10, 10, MPI_INT, &request);
  complete(&request, 10);
  check_data(in, right, 0, 20);
  MPI_Barrier(MPI_COMM_WORLD);

  /* collective ones; every world_size-th block of ten ints is of one rank */
  MPI_Datatype stride;
  MPI_Type_vector(n / 10, 10, 10 * world_size, MPI_INT, &stride);
  MPI_Type_commit(&stride);
  MPI_File_set_view(file, (MPI_Offset)world_rank * 40, MPI_INT, stride, "native", MPI_INFO_NULL);
  MPI_File_iwrite_at_all(file, 0, out, n, MPI_INT, &request);
  complete(&request, n);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  memset(in, 0, sizeof in);
  MPI_File_iread_at_all(file, 0, in, n, MPI_INT, &request);
  complete(&request, n);
  check_data(in, world_rank, 0, n);
  MPI_File_seek(file, 0, MPI_SEEK_SET);
  memset(in, 0, sizeof in);
  MPI_File_iread_all(file, in, n / 2, MPI_INT, &request);
  MPI_Wait(&request, &status);
  check_data(in, world_rank, 0, n / 2);
  MPI_Type_free(&stride);
  MPI_File_close(&file);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) {
    unlink(name);
    rmdir(directory);
  }
  return finish();
}
