/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a launcher tells a Portals program: who it is, how many there are, where the others are. Here through PMIx,
 * which Umwelt and the usual launchers (prterun, srun --mpi=pmix) serve. */
#ifndef PTLBENCH_BOOTSTRAP_H
#define PTLBENCH_BOOTSTRAP_H

#include <stddef.h>

struct job {
  int rank;
  int size;
};

/* All of them end the program with a message if the launcher does not answer. */
struct job bootstrap(void);
void barrier(void);
/* Everybody's `size` bytes, by rank, into `all`. May be called once. */
void exchange(const struct job* job, const void* mine, size_t size, void* all);
void leave(void);

/* Prints "ptlbench: TEXT" and ends all ranks with `code`. */
_Noreturn void end_job(int code, const char* text);

#endif
