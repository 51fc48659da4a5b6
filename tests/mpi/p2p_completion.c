/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Every way to learn that requests are done: Test, Testall, Testany, Testsome in loops, Wait, Waitall, Waitany,
 * Waitsome, Request_get_status. */
#include "check.h"

enum { requests_used = 12, unit = 3000 };
static unsigned char out[requests_used][requests_used * unit], in[requests_used][requests_used * unit];
static MPI_Request sends[requests_used], receives[requests_used];

static void start(int peer)
{
  for (int i = 0; i < requests_used; ++i) {
    memset(in[i], 0, i * unit);
    MPI_Irecv(in[i], i * unit, MPI_BYTE, peer, i, MPI_COMM_WORLD, &receives[i]);
  }
  for (int i = requests_used - 1; i >= 0; --i) {
    fill(out[i], i * unit, world_rank, i);
    MPI_Isend(out[i], i * unit, MPI_BYTE, peer, i, MPI_COMM_WORLD, &sends[i]);
  }
}

static void end(int peer)
{
  MPI_Waitall(requests_used, sends, MPI_STATUSES_IGNORE);
  for (int i = 0; i < requests_used; ++i) {
    CHECK(receives[i] == MPI_REQUEST_NULL);
    CHECK(sends[i] == MPI_REQUEST_NULL);
    CHECK(is_filled(in[i], i * unit, peer, i));
  }
}

static void check_status(const MPI_Status* status, int index, int peer)
{
  int count = -1;
  MPI_Get_count(status, MPI_BYTE, &count);
  CHECK_EQ(status->MPI_SOURCE, peer);
  CHECK_EQ(status->MPI_TAG, index);
  CHECK_EQ(count, index * unit);
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  const int peer = world_rank ^ 1;
  MPI_Status status[requests_used];
  int indices[requests_used], done, index, count, completed;

  start(peer);
  for (int i = 0; i < requests_used; ++i) {
    do {
      MPI_Test(&receives[i], &done, &status[i]);
    } while (!done);
    check_status(&status[i], i, peer);
  }
  end(peer);

  start(peer);
  do {
    MPI_Testall(requests_used, receives, &done, status);
  } while (!done);
  for (int i = 0; i < requests_used; ++i) {
    check_status(&status[i], i, peer);
  }
  end(peer);

  start(peer);
  for (completed = 0; completed < requests_used;) {
    MPI_Testany(requests_used, receives, &index, &done, &status[0]);
    if (done) {
      check_status(&status[0], index, peer);
      ++completed;
    }
  }
  MPI_Testany(requests_used, receives, &index, &done, &status[0]);
  CHECK(done);
  CHECK_EQ(index, MPI_UNDEFINED);
  end(peer);

  start(peer);
  for (completed = 0; completed < requests_used; completed += count) {
    MPI_Testsome(requests_used, receives, &count, indices, status);
    for (int i = 0; i < count; ++i) {
      check_status(&status[i], indices[i], peer);
    }
  }
  MPI_Testsome(requests_used, receives, &count, indices, status);
  CHECK_EQ(count, MPI_UNDEFINED);
  end(peer);

  start(peer);
  for (completed = 0; completed < requests_used; ++completed) {
    MPI_Waitany(requests_used, receives, &index, &status[0]);
    check_status(&status[0], index, peer);
  }
  MPI_Waitany(requests_used, receives, &index, &status[0]);
  CHECK_EQ(index, MPI_UNDEFINED);
  end(peer);

  start(peer);
  int empty = 0;
  for (completed = 0; completed < requests_used; completed += count) {
    MPI_Waitsome(requests_used, receives, &count, indices, status);
    empty += count <= 0;
    for (int i = 0; i < count; ++i) {
      check_status(&status[i], indices[i], peer);
    }
  }
  CHECK_EQ(empty, 0);
  end(peer);

  start(peer);
  for (int i = 0; i < requests_used; ++i) {
    do {
      MPI_Request_get_status(receives[i], &done, &status[i]);
    } while (!done);
    CHECK(receives[i] != MPI_REQUEST_NULL); /* looking does not free */
    check_status(&status[i], i, peer);
  }
  MPI_Waitall(requests_used, receives, status);
  end(peer);

  /* An operation whose handle was given back still happens. */
  MPI_Request forgotten;
  int value = 7000 + world_rank, got = 0;
  MPI_Isend(&value, 1, MPI_INT, peer, 40, MPI_COMM_WORLD, &forgotten);
  MPI_Request_free(&forgotten);
  CHECK(forgotten == MPI_REQUEST_NULL);
  MPI_Recv(&got, 1, MPI_INT, peer, 40, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_EQ(got, 7000 + peer);
  MPI_Barrier(MPI_COMM_WORLD);
  return finish();
}
