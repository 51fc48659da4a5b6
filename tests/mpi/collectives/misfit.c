/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Collectives that do not fit together, by its argument: the last rank calls another function, has another root,
 * another length, too little room, or does not come at all. */
#include "../check.h"

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  const char* how = argc > 1 ? argv[1] : "";
  const int odd = world_rank == world_size - 1;
  static int mine[100], theirs[1000];
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(how, "function") == 0) {
    if (odd)
      MPI_Bcast(mine, 1, MPI_INT, 0, MPI_COMM_WORLD);
    else
      MPI_Allreduce(mine, theirs, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  } else if (strcmp(how, "root") == 0) {
    MPI_Reduce(mine, theirs, 1, MPI_INT, MPI_SUM, odd ? 1 : 0, MPI_COMM_WORLD);
  } else if (strcmp(how, "length") == 0) {
    MPI_Allreduce(mine, theirs, odd ? 7 : 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  } else if (strcmp(how, "room") == 0) {
    MPI_Bcast(mine, odd ? 3 : 4, MPI_INT, 0, MPI_COMM_WORLD);
  } else if (strcmp(how, "absent") == 0) {
    if (odd)
      MPI_Recv(mine, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
      MPI_Allreduce(mine, theirs, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  } else if (strcmp(how, "count") == 0) { /* the library's own error */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const int result = MPI_Allreduce(mine, theirs, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int class = 0;
    MPI_Error_class(result, &class);
    CHECK(class == MPI_ERR_COUNT);
    CHECK(MPI_Bcast(mine, 1, MPI_INT, world_size, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK(MPI_Bcast(mine, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK(MPI_Allreduce(mine, theirs, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD) != MPI_SUCCESS);
  }
  return finish();
}
