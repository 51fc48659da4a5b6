/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Bursts of one length between large messages, each measured by the simulation and by the CPU clock of this machine.
 * They agree however busy the machine is, but for what Umwelt itself does on the thread meanwhile: a turn of the loop
 * that it follows step by step, to see whether the loop waits, takes many times as long as others and does not count
 * here. Now and then what lies under this machine takes the processor away and neither clock is told: of three bursts,
 * two have to agree. world_bursts COUNT. On two ranks, simulated only. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

enum { BURST = 6600000, LONGEST_TURN = 5000 /* ns */, MESSAGE = 16 << 20 };

/* The machine's, not the simulation's: by a system call of its own. */
static int64_t real_cpu_ns(void)
{
  struct timespec now;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"((long)SYS_clock_gettime), "D"((long)CLOCK_THREAD_CPUTIME_ID), "S"(&now)
                   : "rcx", "r11", "memory");
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int64_t simulated_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int argc, char** argv)
{
  static char sent[MESSAGE], received[MESSAGE];
  const int count = argc > 1 ? atoi(argv[1]) : 10;
  int rank, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < count; ++i) {
    /* what the processor is taken away for while the runtime copies these is not the next burst's */
    MPI_Sendrecv(sent, MESSAGE, MPI_CHAR, 1 - rank, 0, received, MESSAGE, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    const int64_t begin = simulated_ns();
    const int64_t first = real_cpu_ns();
    int64_t last = first, computed = 0;
    while (computed < BURST) {
      const int64_t now = real_cpu_ns();
      if (now - last < LONGEST_TURN)
        computed += now - last;
      last = now;
    }
    const int64_t length = simulated_ns() - begin;
    if (length < computed * 95 / 100 || length > (last - first) * 105 / 100 + 100000) {
      printf("rank %d burst %d: expected %.3f to %.3f ms, got %.3f ms\n", rank, i, (double)computed / 1e6,
             (double)(last - first) / 1e6, (double)length / 1e6);
      ++wrong;
    }
  }
  MPI_Finalize();
  return 3 * wrong > count;
}
