/* SPDX-License-Identifier: LGPL-2.1-or-later
 * One message at a time, and many at once. */
#include "loops.h"

enum { tag = 1, back = 2, answer_bytes = 4 };

static int counts(const struct job* job, int i)
{
  return i >= job->warm_up;
}

double half_round_trip(const struct job* job)
{
  const int bytes = (int)job->size;
  double total = 0;
  for (int i = 0; i < job->warm_up + job->repetitions; ++i) {
    if (job->rank == 0) {
      const double begin = MPI_Wtime();
      MPI_Send(job->out, bytes, MPI_CHAR, 1, tag, MPI_COMM_WORLD);
      MPI_Recv(job->in, bytes, MPI_CHAR, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      const double end = MPI_Wtime();
      total += counts(job, i) ? end - begin : 0;
    } else {
      MPI_Recv(job->in, bytes, MPI_CHAR, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(job->out, bytes, MPI_CHAR, 0, tag, MPI_COMM_WORLD);
    }
  }
  return total * 1e6 / (2.0 * job->repetitions);
}

static void send_window(const struct job* job, MPI_Request* requests)
{
  for (int k = 0; k < job->window; ++k)
    MPI_Isend(job->out, (int)job->size, MPI_CHAR, 1 - job->rank, tag, MPI_COMM_WORLD, &requests[k]);
}

static void receive_window(const struct job* job, MPI_Request* requests)
{
  for (int k = 0; k < job->window; ++k)
    MPI_Irecv(job->in, (int)job->size, MPI_CHAR, 1 - job->rank, tag, MPI_COMM_WORLD, &requests[k]);
}

static double megabytes_per_second(const struct job* job, int directions, double seconds)
{
  return (double)job->size / 1e6 * job->repetitions * job->window * directions / seconds;
}

/* The receiver answers when it has the whole window. */
double bandwidth(const struct job* job)
{
  MPI_Request requests[most_requests];
  double total = 0;
  for (int i = 0; i < job->warm_up + job->repetitions; ++i) {
    if (job->rank == 0) {
      const double begin = MPI_Wtime();
      send_window(job, requests);
      MPI_Waitall(job->window, requests, MPI_STATUSES_IGNORE);
      MPI_Recv(job->in, answer_bytes, MPI_CHAR, 1, back, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      const double end = MPI_Wtime();
      total += counts(job, i) ? end - begin : 0;
    } else {
      receive_window(job, requests);
      MPI_Waitall(job->window, requests, MPI_STATUSES_IGNORE);
      MPI_Send(job->out, answer_bytes, MPI_CHAR, 0, back, MPI_COMM_WORLD);
    }
  }
  return megabytes_per_second(job, 1, total);
}

double bandwidth_both_ways(const struct job* job)
{
  MPI_Request in[most_requests], out[most_requests];
  double total = 0;
  for (int i = 0; i < job->warm_up + job->repetitions; ++i) {
    const double begin = job->rank == 0 ? MPI_Wtime() : 0;
    receive_window(job, in);
    send_window(job, out);
    MPI_Waitall(job->window, job->rank == 0 ? out : in, MPI_STATUSES_IGNORE);
    MPI_Waitall(job->window, job->rank == 0 ? in : out, MPI_STATUSES_IGNORE);
    const double end = job->rank == 0 ? MPI_Wtime() : 0;
    total += counts(job, i) ? end - begin : 0;
  }
  return megabytes_per_second(job, 2, total);
}
