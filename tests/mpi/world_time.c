/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Clocks agree with each other, never go back, and advance while a rank sleeps or waits for one that sleeps. */
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static double seconds(clockid_t clock)
{
  struct timespec now;
  CHECK_EQ(clock_gettime(clock, &now), 0);
  return (double)now.tv_sec + now.tv_nsec * 1e-9;
}

static double of_day(void)
{
  struct timeval now;
  CHECK_EQ(gettimeofday(&now, NULL), 0);
  return (double)now.tv_sec + now.tv_usec * 1e-6;
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  CHECK(MPI_Wtick() > 0 && MPI_Wtick() < 1e-3);

  double last = MPI_Wtime();
  int backwards = 0;
  for (int i = 0; i < 10000; ++i) {
    const double now = MPI_Wtime();
    backwards += now < last;
    last = now;
  }
  CHECK_EQ(backwards, 0);

  /* a second asleep is a second on every clock; 0.2 % of slack for clocks that are slewed */
  const double wtime = MPI_Wtime(), monotonic = seconds(CLOCK_MONOTONIC), real = seconds(CLOCK_REALTIME),
               day = of_day();
  const time_t whole = time(NULL);
  CHECK_EQ(sleep(1), 0);
  CHECK(MPI_Wtime() - wtime >= 0.998 && MPI_Wtime() - wtime < 30);
  CHECK(seconds(CLOCK_MONOTONIC) - monotonic >= 0.998);
  CHECK(seconds(CLOCK_REALTIME) - real >= 0.998);
  CHECK(of_day() - day >= 0.998);
  CHECK(time(NULL) - whole >= 1);
  CHECK(real > 1.6e9); /* some time after 2020 */

  for (int form = 0; form < 4; ++form) {
    const double start = MPI_Wtime();
    const struct timespec nap = {0, 20000000};
    struct timeval limit = {0, 20000};
    struct timespec until;
    switch (form) {
    case 0:
      usleep(20000);
      break;
    case 1:
      nanosleep(&nap, NULL);
      break;
    case 2:
      select(0, NULL, NULL, NULL, &limit);
      break;
    default:
      clock_gettime(CLOCK_MONOTONIC, &until);
      until.tv_nsec += 20000000;
      if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        ++until.tv_sec;
      }
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    }
    CHECK(MPI_Wtime() - start >= 0.0199);
  }

  /* who waits for a sleeper has waited as long; who computes meanwhile sees the same clock */
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  if (world_rank == 0) {
    usleep(200000);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_Wtime() - start >= 0.15);

  /* a message cannot arrive before it was sent: one clock for all */
  const int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  const double sent = seconds(CLOCK_REALTIME);
  double stamp = 0;
  MPI_Sendrecv(&sent, 1, MPI_DOUBLE, right, 1, &stamp, 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(stamp <= seconds(CLOCK_REALTIME));
  return finish();
}
