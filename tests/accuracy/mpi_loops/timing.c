/* SPDX-License-Identifier: LGPL-2.1-or-later
 * How long a collective takes: alone, or beside computation. */
#include "loops.h"

enum { unknowns = 25 }; /* of the product that serves as computation: 0.3 to 1 us */

static double mean_of_ranks(const struct job* job, double seconds)
{
  const double us = seconds * 1e6 / job->repetitions;
  double sum = 0;
  MPI_Reduce(&us, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  return sum / job->ranks;
}

static void end(const struct job* job, remainder_of* finish, MPI_Request* request)
{
  if (finish)
    finish(job);
  else
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

/* Seconds in the repetitions that count, on this rank. */
static double alone(const struct job* job, collective* call, remainder_of* finish, int nonblocking)
{
  double total = 0;
  MPI_Request request;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < job->warm_up + job->repetitions; ++i) {
    const double begin = MPI_Wtime();
    call(job, nonblocking ? &request : NULL);
    if (nonblocking)
      end(job, finish, &request);
    const double spent = MPI_Wtime() - begin;
    MPI_Barrier(MPI_COMM_WORLD);
    total += i >= job->warm_up ? spent : 0;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return total;
}

double time_alone(const struct job* job, collective* call)
{
  return mean_of_ranks(job, alone(job, call, NULL, 0));
}

static void multiply(void)
{
  static volatile float matrix[unknowns][unknowns], vector[unknowns], product[unknowns];
  for (int i = 0; i < unknowns; ++i)
    for (int k = 0; k < unknowns; ++k)
      product[i] += matrix[i][k] * vector[k];
}

/* Only what lies between the two looks at the clock counts, so looking costs time that does not. */
static void compute_for(double seconds)
{
  for (double spent = 0; spent < seconds;) {
    const double begin = MPI_Wtime();
    multiply();
    spent += MPI_Wtime() - begin;
  }
}

/* The clock is read as often as OSU reads it: that costs time, with --cpu none, too. */
double time_overlapped(const struct job* job, const struct benchmark* benchmark)
{
  const double pure = alone(job, benchmark->call, benchmark->finish, 1) / job->repetitions;
  double total = 0;
  for (int i = 0; i < job->warm_up + job->repetitions; ++i) {
    MPI_Request request;
    const double begin = MPI_Wtime();
    MPI_Wtime(); /* before the start */
    benchmark->call(job, &request);
    MPI_Wtime();
    MPI_Wtime(); /* before the computation */
    compute_for(pure);
    MPI_Wtime();
    MPI_Wtime(); /* before waiting */
    end(job, benchmark->finish, &request);
    MPI_Wtime();
    const double spent = MPI_Wtime() - begin;
    MPI_Barrier(MPI_COMM_WORLD);
    total += i >= job->warm_up ? spent : 0;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return mean_of_ranks(job, total);
}
