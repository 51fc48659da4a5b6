/* SPDX-License-Identifier: LGPL-2.1-or-later
 * errors SIZE: errors that are returned: classes and texts, truncation of a message of SIZE bytes, handlers of one's
 * own, user-defined codes. */
#include "check.h"

static int handled;
static void handler(MPI_Comm* communicator, int* code, ...)
{
  (void)communicator;
  int class = 0;
  MPI_Error_class(*code, &class);
  handled = class;
}

static int class_of(int code)
{
  int class = -1;
  MPI_Error_class(code, &class);
  return class;
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  int value = 0, length = 0;
  char text[MPI_MAX_ERROR_STRING] = "";
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK_EQ(class_of(MPI_Send(&value, 1, MPI_INT, world_size, 0, MPI_COMM_WORLD)), MPI_ERR_RANK);
  CHECK_EQ(class_of(MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD)), MPI_ERR_COUNT);
  CHECK_EQ(class_of(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD)), MPI_ERR_TYPE);
  CHECK_EQ(class_of(MPI_Send(&value, 1, MPI_INT, 0, -5, MPI_COMM_WORLD)), MPI_ERR_TAG);
  CHECK_EQ(class_of(MPI_Bcast(&value, 1, MPI_INT, -3, MPI_COMM_WORLD)), MPI_ERR_ROOT);
  CHECK_EQ(class_of(MPI_Comm_size(MPI_COMM_NULL, &value)), MPI_ERR_COMM);
  MPI_Error_string(MPI_ERR_TAG, text, &length);
  CHECK(strstr(text, "tag") != NULL);

  /* truncation: the error is reported and the next message is intact; the buffer has room for all, since Open MPI's
     rendezvous by RDMA read fetches the message whole */
  const int size = argc > 1 ? atoi(argv[1]) : 0;
  unsigned char *out = malloc(size), *in = malloc(size);
  const int peer = world_rank ^ 1;
  MPI_Request receiving, sending;
  fill(out, size, world_rank, 1);
  memset(in, 0, size);
  MPI_Irecv(in, size / 2, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &receiving);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Isend(out, size, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &sending);
  MPI_Status status;
  CHECK_EQ(class_of(MPI_Wait(&receiving, &status)), MPI_ERR_TRUNCATE);
  MPI_Wait(&sending, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&world_rank, 1, MPI_INT, peer, 2, &value, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_EQ(value, peer);
  free(in);
  free(out);

  MPI_Errhandler own;
  MPI_Comm_create_errhandler(handler, &own);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
  MPI_Send(&value, 1, MPI_INT, world_size + 3, 0, MPI_COMM_WORLD);
  CHECK_EQ(handled, MPI_ERR_RANK);

  int class = 0, code = 0;
  MPI_Add_error_class(&class);
  MPI_Add_error_code(class, &code);
  MPI_Add_error_string(code, "the moon is full");
  CHECK_EQ(class_of(code), class);
  MPI_Error_string(code, text, &length);
  CHECK(strcmp(text, "the moon is full") == 0);
  handled = 0;
  MPI_Comm_call_errhandler(MPI_COMM_WORLD, code);
  CHECK_EQ(handled, class);
  MPI_Errhandler_free(&own);
  return finish();
}
