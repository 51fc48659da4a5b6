/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rounding, traps and exception flags are each rank's own: odd ranks round upwards and have exceptions trap, even ones
 * leave them set. */
#define _GNU_SOURCE
#include <fenv.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "check.h"

enum { trapping = FE_DIVBYZERO | FE_INVALID, bad = FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW };

static volatile long double zero;
static volatile sig_atomic_t rounding_in_handler = -1;

static void sums(void)
{
  int wrong = 0;
  for (int i = 0; i < 100; ++i) {
    int sum = -1;
    MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong += sum != world_size * i;
  }
  CHECK(wrong == 0);
}

static void* inherits(void* result)
{
  *(int*)result = fegetround() == FE_UPWARD && fegetexcept() == trapping;
  return NULL;
}

static void on_signal(int number)
{
  (void)number;
  rounding_in_handler = fegetround();
  fesetround(FE_DOWNWARD);
}

int main(int argc, char** argv)
{
  begin(&argc, &argv);
  fedisableexcept(FE_ALL_EXCEPT);
  feclearexcept(FE_ALL_EXCEPT);
  if (world_rank % 2 != 0) {
    fesetround(FE_UPWARD);
    feenableexcept(trapping);
  } else {
    volatile long double quotient = 1 / zero; /* by the x87 */
    quotient = zero / zero;
    (void)quotient;
  }
  sums();
  CHECK(fegetround() == (world_rank % 2 != 0 ? FE_UPWARD : FE_TONEAREST));
  CHECK(fegetexcept() == (world_rank % 2 != 0 ? trapping : 0));
  CHECK(fetestexcept(bad) == (world_rank % 2 != 0 ? 0 : trapping));
  feclearexcept(FE_ALL_EXCEPT);
  sums();
  CHECK(fetestexcept(bad) == 0);
  pthread_t thread;
  int inherited = -1;
  CHECK(pthread_create(&thread, NULL, inherits, &inherited) == 0 && pthread_join(thread, NULL) == 0);
  CHECK(inherited == world_rank % 2);
  signal(SIGALRM, on_signal);
  alarm(1);
  pause();
  CHECK(rounding_in_handler == FE_TONEAREST);
  CHECK(fegetround() == (world_rank % 2 != 0 ? FE_UPWARD : FE_TONEAREST));
  fedisableexcept(FE_ALL_EXCEPT);
  fesetround(FE_TONEAREST);
  return finish();
}
