// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>

int MPI_Init(int* argc, char*** argv);

int main(int argc, char** argv)
{
  puts("has begun");
  return MPI_Init(&argc, &argv);
}
