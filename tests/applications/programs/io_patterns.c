// SPDX-License-Identifier: LGPL-2.1-or-later
// io_patterns BYTES COUNT: COUNT transfers of BYTES by every rank in each of the ways in which applications write
// files; each is read back by another rank and checked.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, wrong;

static void fill(unsigned char* data, int bytes, int writer, int number)
{
  for (int i = 0; i < bytes; ++i)
    data[i] = (unsigned char)(writer * 37 + number * 11 + i % 251);
}

static void check(const unsigned char* data, unsigned char* expected, int bytes, int writer, int number)
{
  fill(expected, bytes, writer, number);
  wrong += memcmp(data, expected, (size_t)bytes) != 0;
}

static MPI_File open_file(MPI_Comm comm, const char* name)
{
  MPI_File file;
  if (MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS) {
    fprintf(stderr, "%s cannot be opened\n", name);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return file;
}

static void told(const char* what)
{
  int all;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%s: %d blocks wrong\n", what, all);
  wrong = 0;
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int bytes = argc > 1 ? atoi(argv[1]) : 4096, count = argc > 2 ? atoi(argv[2]) : 4;
  unsigned char *data = malloc((size_t)bytes * (size_t)count), *expected = malloc((size_t)bytes);
  const int next = (rank + 1) % ranks;
  MPI_Status status;

  MPI_File file = open_file(MPI_COMM_WORLD, "shared.dat"); /* a segment of one file for each rank */
  for (int k = 0; k < count; ++k) {
    fill(data, bytes, rank, k);
    MPI_File_write_at(file, ((MPI_Offset)rank * count + k) * bytes, data, bytes, MPI_BYTE, &status);
  }
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  for (int k = 0; k < count; ++k) {
    MPI_File_read_at(file, ((MPI_Offset)next * count + k) * bytes, data, bytes, MPI_BYTE, &status);
    check(data, expected, bytes, next, k);
  }
  MPI_File_close(&file);
  told("shared file");

  char name[64];
  snprintf(name, sizeof name, "own.%d.dat", rank);
  file = open_file(MPI_COMM_SELF, name);
  for (int k = 0; k < count; ++k) {
    fill(data, bytes, rank, k);
    MPI_File_write(file, data, bytes, MPI_BYTE, &status);
  }
  MPI_File_close(&file);
  MPI_Barrier(MPI_COMM_WORLD);
  snprintf(name, sizeof name, "own.%d.dat", next);
  file = open_file(MPI_COMM_SELF, name);
  for (int k = 0; k < count; ++k) {
    MPI_File_read(file, data, bytes, MPI_BYTE, &status);
    check(data, expected, bytes, next, k);
  }
  MPI_File_close(&file);
  told("a file for each rank");

  MPI_Datatype strided; /* blocks of all ranks in turns, by collective calls */
  MPI_Type_vector(count, bytes, ranks * bytes, MPI_BYTE, &strided);
  MPI_Type_commit(&strided);
  file = open_file(MPI_COMM_WORLD, "strided.dat");
  MPI_File_set_view(file, (MPI_Offset)rank * bytes, MPI_BYTE, strided, "native", MPI_INFO_NULL);
  for (int k = 0; k < count; ++k)
    fill(data + (size_t)k * (size_t)bytes, bytes, rank, k);
  MPI_File_write_all(file, data, bytes * count, MPI_BYTE, &status);
  MPI_File_set_view(file, (MPI_Offset)next * bytes, MPI_BYTE, strided, "native", MPI_INFO_NULL);
  MPI_File_read_at_all(file, 0, data, bytes * count, MPI_BYTE, &status);
  for (int k = 0; k < count; ++k)
    check(data + (size_t)k * (size_t)bytes, expected, bytes, next, k);
  MPI_File_close(&file);
  told("strided, collective");

  file = open_file(MPI_COMM_WORLD, "nonblocking.dat");
  MPI_Request* requests = malloc((size_t)count * sizeof *requests);
  for (int k = 0; k < count; ++k) {
    fill(data + (size_t)k * (size_t)bytes, bytes, rank, k);
    MPI_File_iwrite_at(file, ((MPI_Offset)rank * count + k) * bytes, data + (size_t)k * (size_t)bytes, bytes, MPI_BYTE,
                       &requests[k]);
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  for (int k = 0; k < count; ++k)
    MPI_File_iread_at(file, ((MPI_Offset)next * count + k) * bytes, data + (size_t)k * (size_t)bytes, bytes, MPI_BYTE,
                      &requests[k]);
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  for (int k = 0; k < count; ++k)
    check(data + (size_t)k * (size_t)bytes, expected, bytes, next, k);
  MPI_File_close(&file);
  told("nonblocking");

  file = open_file(MPI_COMM_WORLD, "ordered.dat"); /* lines in the order of ranks, by the shared pointer */
  for (int k = 0; k < count; ++k) {
    const int length = snprintf(name, sizeof name, "rank %d, line %d\n", rank, k);
    MPI_File_write_ordered(file, name, length, MPI_CHAR, &status);
  }
  MPI_File_close(&file);
  file = open_file(MPI_COMM_WORLD, "pointer.dat"); /* whoever comes first */
  for (int k = 0; k < count; ++k) {
    unsigned char line[64];
    memset(line, 'a' + (rank * 7 + k) % 26, sizeof line);
    MPI_File_write_shared(file, line, sizeof line, MPI_BYTE, &status);
  }
  MPI_File_close(&file);
  if (rank == 0)
    printf("done\n");
  MPI_Finalize();
  return 0;
}
