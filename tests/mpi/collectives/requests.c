/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Requests of collectives among those of messages, in every call that completes requests; messages that get on only if
 * the library does, while ranks are in a collective; a communicator that is duplicated without waiting; types that are
 * freed while they are in use. With the argument "persistent" also persistent ones, with which MPICH 4.0.2 itself has
 * trouble: it gives sums of what was there at the first start. Open MPI 4.1 has them under other names. */
#include "../check.h"

#if MPI_VERSION < 4 && !(defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#include <mpi-ext.h>
#define MPI_Allreduce_init MPIX_Allreduce_init
#define MPI_Bcast_init MPIX_Bcast_init
#define MPI_Barrier_init MPIX_Barrier_init
#endif

enum { large = 300000, count = 5 };

static int sum_of(int add)
{
  return world_size * (world_size - 1) / 2 + add * world_size;
}

/* A long message that nobody waits for before the barrier. */
static void message_through_barrier(MPI_Comm comm)
{
  static int out[large], in[large];
  const int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  for (int i = 0; i < large; ++i)
    out[i] = world_rank + i;
  MPI_Request request;
  MPI_Isend(out, large, MPI_INT, right, 1, comm, &request);
  if (world_rank % 2 == 0)
    MPI_Barrier(comm);
  MPI_Recv(in, large, MPI_INT, left, 1, comm, MPI_STATUS_IGNORE);
  if (world_rank % 2 != 0)
    MPI_Barrier(comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(in[large - 1] == left + large - 1);
}

/* The sender is in the barrier already when its message is asked for. */
static void message_from_barrier(MPI_Comm comm)
{
  static int data[large];
  MPI_Request request = MPI_REQUEST_NULL;
  if (world_rank == 0)
    MPI_Isend(data, large, MPI_INT, 1, 2, comm, &request);
  if (world_rank == 1)
    MPI_Recv(data, large, MPI_INT, 0, 2, comm, MPI_STATUS_IGNORE);
  MPI_Barrier(comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(request == MPI_REQUEST_NULL);
}

static void every_completion(MPI_Comm comm)
{
  for (int way = 0; way < 8; ++way) {
    int mine[count], sums[count], in = -1, out = world_rank, cast = world_rank == 0 ? 77 : -1;
    MPI_Request requests[count + 4];
    MPI_Status statuses[count + 4];
    for (int i = 0; i < count; ++i) {
      mine[i] = world_rank + i;
      MPI_Iallreduce(&mine[i], &sums[i], 1, MPI_INT, MPI_SUM, comm, &requests[i]);
    }
    MPI_Irecv(&in, 1, MPI_INT, (world_rank + 1) % world_size, way, comm, &requests[count]);
    requests[count + 1] = MPI_REQUEST_NULL;
    MPI_Isend(&out, 1, MPI_INT, (world_rank + world_size - 1) % world_size, way, comm, &requests[count + 2]);
    MPI_Ibcast(&cast, 1, MPI_INT, 0, comm, &requests[count + 3]);
    const int all = count + 4;
    int flag = 0, index, some, indices[count + 4], left = count + 3;
    switch (way) {
    case 0:
      MPI_Waitall(all, requests, statuses);
      CHECK(statuses[count].MPI_SOURCE == (world_rank + 1) % world_size);
      break;
    case 1:
      for (; left > 0; --left) {
        MPI_Waitany(all, requests, &index, statuses);
        CHECK(index != MPI_UNDEFINED && index != count + 1);
      }
      break;
    case 2:
      while (left > 0) {
        MPI_Waitsome(all, requests, &some, indices, MPI_STATUSES_IGNORE);
        left -= some;
      }
      break;
    case 3:
      while (!flag)
        MPI_Testall(all, requests, &flag, MPI_STATUSES_IGNORE);
      break;
    case 4:
      while (left > 0) {
        MPI_Testany(all, requests, &index, &flag, MPI_STATUS_IGNORE);
        left -= flag;
      }
      break;
    case 5:
      while (left > 0) {
        MPI_Testsome(all, requests, &some, indices, statuses);
        left -= some;
      }
      break;
    case 6:
      for (int i = all - 1; i >= 0; --i)
        for (flag = 0; !flag;)
          MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
      break;
    default:
      for (int i = 0; i < all; ++i) {
        for (flag = 0; requests[i] != MPI_REQUEST_NULL && !flag;)
          MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
        MPI_Wait(&requests[i], statuses);
      }
    }
    for (int i = 0; i < all; ++i)
      CHECK(requests[i] == MPI_REQUEST_NULL);
    for (int i = 0; i < count; ++i)
      CHECK_EQ(sums[i], sum_of(i));
    CHECK_EQ(in, (world_rank + 1) % world_size);
    CHECK_EQ(cast, 77);
    MPI_Waitany(all, requests, &index, MPI_STATUS_IGNORE);
    CHECK(index == MPI_UNDEFINED);
  }
}

static void freed_type(MPI_Comm comm)
{
  MPI_Datatype type;
  MPI_Type_vector(3, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  int data[6] = {0};
  for (int i = 0; world_rank == 0 && i < 6; ++i)
    data[i] = i + 1;
  MPI_Request request;
  MPI_Ibcast(data, 1, type, 0, comm, &request);
  MPI_Type_free(&type);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(data[0] == 1 && data[2] == 3 && data[4] == 5);
  CHECK(world_rank == 0 || data[1] == 0);
}

/* Collectives may be begun in one order and completed in another, and a root that has gone on changes its data. */
static void in_another_order(MPI_Comm comm)
{
  int values[3] = {-1, -1, -1};
  MPI_Request requests[3];
  for (int i = 0; i < 3; ++i) {
    if (world_rank == i)
      values[i] = 10 + i;
    MPI_Ibcast(&values[i], 1, MPI_INT, i % world_size, comm, &requests[i]);
  }
  for (int i = 2; i >= 0; --i)
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  CHECK(values[0] == 10 && values[1] == 11);
  int value = world_rank == 0 ? 5 : 0;
  if (world_rank == world_size - 1)
    MPI_Recv(NULL, 0, MPI_INT, 0, 9, comm, MPI_STATUS_IGNORE); /* when the root has gone on */
  MPI_Bcast(&value, 1, MPI_INT, 0, comm);
  if (world_rank == 0) {
    value = 6;
    MPI_Send(NULL, 0, MPI_INT, world_size - 1, 9, comm);
  }
  CHECK_EQ(value, world_rank == 0 ? 6 : 5);
}

static void persistent(MPI_Comm comm)
{
  int mine = 0, sum = -1, cast = -1, in = -1;
  MPI_Request requests[4], message;
  MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[0]);
  MPI_Bcast_init(&cast, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &requests[1]);
  MPI_Barrier_init(comm, MPI_INFO_NULL, &requests[2]);
  MPI_Recv_init(&in, 1, MPI_INT, (world_rank + 1) % world_size, 4, comm, &requests[3]);
  MPI_Send_init(&mine, 1, MPI_INT, (world_rank + world_size - 1) % world_size, 4, comm, &message);
  for (int i = 0; i < 6; ++i) {
    mine = world_rank + i;
    cast = world_rank == 0 ? i : -1;
    int index, left = 4, flag = 0;
    MPI_Startall(4, requests);
    MPI_Start(&message);
    MPI_Wait(&message, MPI_STATUS_IGNORE);
    if (i % 3 == 0)
      MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    else if (i % 3 == 1)
      for (; left > 0; --left)
        MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
    else
      while (!flag)
        MPI_Testall(4, requests, &flag, MPI_STATUSES_IGNORE);
    CHECK_EQ(sum, sum_of(i));
    CHECK_EQ(cast, i);
    CHECK_EQ(in, (world_rank + 1) % world_size + i);
    for (int r = 0; r < 4; ++r)
      CHECK(requests[r] != MPI_REQUEST_NULL);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE); /* inactive ones */
  }
  for (int r = 0; r < 4; ++r)
    MPI_Request_free(&requests[r]);
  MPI_Request_free(&message);
  CHECK(requests[0] == MPI_REQUEST_NULL);
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  MPI_Comm first, second;
  MPI_Request made;
  MPI_Comm_idup(MPI_COMM_WORLD, &first, &made);
  MPI_Comm_dup(MPI_COMM_WORLD, &second);
  MPI_Wait(&made, MPI_STATUS_IGNORE);
  const MPI_Comm comms[] = {second, first, MPI_COMM_WORLD};
  for (int i = 0; i < 3; ++i) {
    message_through_barrier(comms[i]);
    message_from_barrier(comms[i]);
    every_completion(comms[i]);
    freed_type(comms[i]);
    in_another_order(comms[i]);
    if (argc > 1)
      persistent(comms[i]);
  }
  /* two communicators with the same members, used in another order by half of the ranks */
  int values[2] = {world_rank == 0 ? 1 : 0, world_rank == 0 ? 2 : 0};
  MPI_Request requests[2];
  const int order = world_rank % 2;
  MPI_Ibcast(&values[order], 1, MPI_INT, 0, order ? second : first, &requests[0]);
  MPI_Ibcast(&values[!order], 1, MPI_INT, 0, order ? first : second, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(values[0] == 1 && values[1] == 2);
  MPI_Comm_free(&first);
  MPI_Comm_free(&second);
  return finish();
}
