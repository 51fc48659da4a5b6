/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The command line of ptlbench. */
#ifndef PTLBENCH_OPTIONS_H
#define PTLBENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct mode;

struct options {
  const struct mode* mode;
  size_t* sizes; /* bytes, in the order given */
  size_t size_count;
  size_t largest;     /* of the sizes */
  size_t count;       /* requests per size */
  size_t volume;      /* most bytes all requests of a size may carry, at least 16 requests; 0: no limit */
  double duration;    /* seconds that modes of fixed duration count messages */
  size_t in_flight;   /* messages of `match` at a time */
  size_t repetitions; /* of each size */
  size_t entries;     /* in the target's match list of `match` */
  bool help;
};

/* False: the text of what is wrong, with a next step, is in `problem`. */
bool read_options(int argc, char** argv, struct options* options, char* problem, size_t problem_size);
void print_help(void);

#endif
