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

/* Seconds in the repetitions that count, on this rank. */
static double alone(const struct job* job, collective* call, int nonblocking)
{
  double total = 0;
  MPI_Request request;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < job->warm_up + job->repetitions; ++i) {
    const double begin = MPI_Wtime();
    call(job, nonblocking ? &request : NULL);
    if (nonblocking)
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    const double end = MPI_Wtime();
    MPI_Barrier(MPI_COMM_WORLD);
    total += i >= job->warm_up ? end - begin : 0;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return total;
}

double time_alone(const struct job* job, collective* call)
{
  return mean_of_ranks(job, alone(job, call, 0));
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
double time_overlapped(const struct job* job, collective* call)
{
  const double pure = alone(job, call, 1) / job->repetitions;
  double total = 0;
  for (int i = 0; i < job->warm_up + job->repetitions; ++i) {
    MPI_Request request;
    const double begin = MPI_Wtime();
    MPI_Wtime(); /* before the start */
    call(job, &request);
    MPI_Wtime();
    MPI_Wtime(); /* before the computation */
    compute_for(pure);
    MPI_Wtime();
    MPI_Wtime(); /* before waiting */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wtime();
    const double end = MPI_Wtime();
    MPI_Barrier(MPI_COMM_WORLD);
    total += i >= job->warm_up ? end - begin : 0;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return mean_of_ranks(job, total);
}
