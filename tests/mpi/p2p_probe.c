/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Probe, Iprobe in a loop, and their matched forms, these with and without a status: the message that was seen is the
 * one that is received. */
#include "check.h"

enum { rounds = 30, longest = 100000 };
static unsigned char buffer[longest];

static int length(int round)
{
  return round * round * 110;
} /* up to 92,510 bytes: eager and rendezvous */

static void receive_probed(const MPI_Status* status, int round)
{
  int count = -1;
  MPI_Get_count(status, MPI_BYTE, &count);
  CHECK_EQ(status->MPI_TAG, round);
  CHECK_EQ(count, length(round));
  MPI_Recv(buffer, count, MPI_BYTE, status->MPI_SOURCE, status->MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(is_filled(buffer, count, status->MPI_SOURCE, round));
}

/* The message has been matched; `status` may be MPI_STATUS_IGNORE, as in the call that found it. */
static void receive_matched(MPI_Message* message, int source, const MPI_Status* status, int round, int blocking)
{
  int count = length(round);
  if (status != MPI_STATUS_IGNORE) {
    MPI_Get_count(status, MPI_BYTE, &count);
    CHECK_EQ(count, length(round));
    CHECK_EQ(status->MPI_SOURCE, source);
  }
  if (blocking) {
    MPI_Mrecv(buffer, count, MPI_BYTE, message, MPI_STATUS_IGNORE);
  } else {
    MPI_Request request;
    MPI_Imrecv(buffer, count, MPI_BYTE, message, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  CHECK(*message == MPI_MESSAGE_NULL);
  CHECK(is_filled(buffer, count, source, round));
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  const int senders = world_size - 1;
  for (int style = 0; style < 6; ++style) {
    if (world_rank != 0) {
      for (int round = 0; round < rounds; ++round) {
        fill(buffer, length(round), world_rank, round);
        MPI_Send(buffer, length(round), MPI_BYTE, 0, round, MPI_COMM_WORLD);
      }
    } else {
      for (int i = 0; i < rounds * senders; ++i) {
        const int source = 1 + i % senders, round = i / senders;
        MPI_Status status;
        MPI_Message message = MPI_MESSAGE_NULL;
        int found = 0;
        switch (style) {
        case 0:
          MPI_Probe(source, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
          receive_probed(&status, round);
          break;
        case 1:
          while (!found) {
            MPI_Iprobe(source, round, MPI_COMM_WORLD, &found, &status);
          }
          receive_probed(&status, round);
          break;
        case 2:
          MPI_Mprobe(source, round, MPI_COMM_WORLD, &message, &status);
          receive_matched(&message, source, &status, round, 1);
          break;
        case 3:
          while (!found) {
            MPI_Improbe(source, MPI_ANY_TAG, MPI_COMM_WORLD, &found, &message, &status);
          }
          receive_matched(&message, source, &status, round, 0);
          break;
        case 4:
          MPI_Mprobe(source, round, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
          receive_matched(&message, source, MPI_STATUS_IGNORE, round, 1);
          break;
        default:
          while (!found) {
            MPI_Improbe(source, round, MPI_COMM_WORLD, &found, &message, MPI_STATUS_IGNORE);
          }
          receive_matched(&message, source, MPI_STATUS_IGNORE, round, 0);
        }
      }
      int found = 1;
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
      CHECK(!found);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  MPI_Message message;
  MPI_Status status;
  int count = -1;
  MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status);
  CHECK(message == MPI_MESSAGE_NO_PROC);
  MPI_Mrecv(NULL, 0, MPI_BYTE, &message, &status);
  MPI_Get_count(&status, MPI_BYTE, &count);
  CHECK_EQ(count, 0);
  return finish();
}
