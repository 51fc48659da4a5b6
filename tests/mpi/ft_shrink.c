/* SPDX-License-Identifier: LGPL-2.1-or-later
 * ft_shrink kill|exit|abort [BYTES]: the last rank dies while the first waits for a message of it and the others for
 * all in a collective; what is left goes on. */
#include "ft.h"

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  const char* how = argc > 1 ? argv[1] : "kill";
  const int bytes = argc > 2 ? atoi(argv[2]) : 4;
  const int last = world_size - 1;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == last)
    die(how);

  unsigned char* room = malloc(bytes);
  int sum = 0;
  if (world_rank == 0)
    CHECK(is_failure(MPI_Recv(room, bytes, MPI_BYTE, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)));
  else
    CHECK(is_failure(MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)));
  CHECK_EQ(MPIX_Comm_revoke(MPI_COMM_WORLD), MPI_SUCCESS);
  CHECK_EQ(class_of(MPI_Barrier(MPI_COMM_WORLD)), MPIX_ERR_REVOKED);

  MPI_Comm rest;
  CHECK_EQ(MPIX_Comm_shrink(MPI_COMM_WORLD, &rest), MPI_SUCCESS);
  MPI_Comm_set_errhandler(rest, MPI_ERRORS_RETURN);
  check_whole(rest, last, last * (last - 1) / 2);

  MPI_Comm_free(&rest);
  free(room);
  return finish();
}
