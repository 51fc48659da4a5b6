/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Every clock moves on by what was slept, and never backwards. Same output natively and simulated. */
#include <poll.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

static double seconds(clockid_t id)
{
  struct timespec now;
  clock_gettime(id, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void expect(const char* what, double slept, double least)
{
  /* times near 2^31 s have a resolution of 0.2 us in a double */
  printf("%s: %s\n", what, slept >= least - 1e-6 && slept < least + 10 ? "as asked" : "wrong");
}

#define SLEPT(what, least, call)                                                                                       \
  do {                                                                                                                 \
    const double begin = seconds(CLOCK_MONOTONIC);                                                                     \
    call;                                                                                                              \
    expect(what, seconds(CLOCK_MONOTONIC) - begin, least);                                                             \
  } while (0)

int main(void)
{
  const clockid_t ids[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME};
  for (unsigned i = 0; i < sizeof ids / sizeof *ids; ++i) {
    const double begin = seconds(ids[i]);
    usleep(20000);
    expect("clock", seconds(ids[i]) - begin, 0.02);
  }
  const struct timespec short_time = {0, 30000000};
  struct timeval in_select = {0, 30000};
  struct timespec abstime;
  SLEPT("nanosleep", 0.03, nanosleep(&short_time, NULL));
  SLEPT("select", 0.03, select(0, NULL, NULL, NULL, &in_select));
  SLEPT("poll", 0.03, poll(NULL, 0, 30));
  clock_gettime(CLOCK_REALTIME, &abstime);
  abstime.tv_sec += 1;
  SLEPT("absolute", 0.9, clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &abstime, NULL));
  SLEPT("sleep", 1.0, sleep(1));

  double last = seconds(CLOCK_MONOTONIC);
  int backwards = 0;
  for (int i = 0; i < 100000; ++i) {
    const double now = seconds(CLOCK_MONOTONIC);
    backwards += now < last;
    last = now;
  }
  printf("backwards %d times\n", backwards);

  /* CPU time cannot pass faster than time */
  const double begin = seconds(CLOCK_MONOTONIC);
  const clock_t spent = clock();
  while (clock() - spent < 10000 * (CLOCKS_PER_SEC / 1000000)) {
  }
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const double cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                     1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  printf("spinning: %d\n", cpu >= 0.009 && seconds(CLOCK_MONOTONIC) - begin >= 0.009);
  struct timeval today;
  gettimeofday(&today, NULL);
  printf("clocks agree: %d\n", today.tv_sec - time(NULL) <= 1 && time(NULL) - today.tv_sec <= 1);
  return 0;
}
