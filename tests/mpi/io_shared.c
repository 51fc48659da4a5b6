/* SPDX-License-Identifier: LGPL-2.1-or-later
 * MPI-IO with the shared file pointer: every record is there once, those of a rank in order; ordered calls in the order
 * of ranks. */
#include <unistd.h>

#include "check.h"
#include "directory.h"

enum { rounds = 15, record = 12 };

static void write_record(char* text, int rank, int number)
{
  snprintf(text, record + 1, "%04u-%05u;\n", (unsigned)rank % 10000, (unsigned)number % 100000);
}

static void shared(MPI_File file)
{
  char text[record + 1];
  for (int i = 0; i < rounds; ++i) {
    write_record(text, world_rank, i);
    CHECK_EQ(MPI_File_write_shared(file, text, record, MPI_CHAR, MPI_STATUS_IGNORE), MPI_SUCCESS);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  MPI_Offset size = -1;
  MPI_File_get_size(file, &size);
  CHECK_EQ(size, (long long)world_size * rounds * record);
  int* next = calloc((size_t)world_size, sizeof *next);
  int wrong = 0;
  for (int i = 0; i < world_size * rounds; ++i) {
    char found[record + 1] = "";
    int rank = -1, number = -1;
    MPI_File_read_at(file, (MPI_Offset)i * record, found, record, MPI_CHAR, MPI_STATUS_IGNORE);
    if (sscanf(found, "%d-%d;", &rank, &number) != 2 || rank < 0 || rank >= world_size || number != next[rank]++)
      ++wrong;
  }
  CHECK_EQ(wrong, 0);
  free(next);
  MPI_Barrier(MPI_COMM_WORLD);

  /* each takes as many as it has written, whichever */
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  long long sum = 0, all = 0;
  for (int i = 0; i < rounds; ++i) {
    char found[record + 1] = "";
    int rank = -1, number = -1;
    MPI_File_read_shared(file, found, record, MPI_CHAR, MPI_STATUS_IGNORE);
    sscanf(found, "%d-%d;", &rank, &number);
    sum += rank * 1000LL + number;
  }
  MPI_Allreduce(&sum, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  CHECK_EQ(all,
           1000LL * rounds * world_size * (world_size - 1) / 2 + (long long)world_size * rounds * (rounds - 1) / 2);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void ordered(MPI_File file)
{
  char text[record + 1], found[record + 1];
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  for (int i = 0; i < 3; ++i) {
    write_record(text, world_rank, 100 + i);
    CHECK_EQ(MPI_File_write_ordered(file, text, record, MPI_CHAR, MPI_STATUS_IGNORE), MPI_SUCCESS);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  for (int i = 0; i < 3; ++i)
    for (int rank = 0; rank < world_size; ++rank) {
      memset(found, 0, sizeof found);
      MPI_File_read_at(file, ((MPI_Offset)i * world_size + rank) * record, found, record, MPI_CHAR, MPI_STATUS_IGNORE);
      write_record(text, rank, 100 + i);
      CHECK(strcmp(text, found) == 0);
    }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  for (int i = 0; i < 3; ++i) {
    memset(found, 0, sizeof found);
    MPI_File_read_ordered(file, found, record, MPI_CHAR, MPI_STATUS_IGNORE);
    write_record(text, world_rank, 100 + i);
    CHECK(strcmp(text, found) == 0);
  }
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  char directory[directory_bytes], name[128];
  make_directory(directory);
  snprintf(name, sizeof name, "%s/data", directory);
  MPI_File file;
  CHECK_EQ(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_SUCCESS);
  shared(file);
  ordered(file);
  MPI_File_close(&file);
  if (world_rank == 0) {
    CHECK_EQ(MPI_File_delete(name, MPI_INFO_NULL), MPI_SUCCESS);
    CHECK_EQ(rmdir(directory), 0);
  }
  return finish();
}
