/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is measured. The first kind makes a number of requests, as the programs behind put_*.csv and get_*.csv did; the
 * second counts messages for a fixed time, as PtlPerf does. Rank 0 is the initiator, rank 1 the target. */
#ifndef PTLBENCH_MODES_H
#define PTLBENCH_MODES_H

#include <stdbool.h>
#include <stddef.h>

#include "endpoint.h"

struct mode {
  const char* name;
  const char* help;
  struct roles roles;
  bool get;       /* PtlGet instead of PtlPut */
  bool waits;     /* for each request before the next; else: all at once */
  bool timed;     /* counts messages for a duration; else: makes a number of requests */
  bool ping_pong; /* the target answers each Put with one of its own */
};

extern const struct mode modes[];
extern const size_t mode_count;

const struct mode* find_mode(const char* name); /* NULL: no such mode */

struct load {
  size_t size;      /* bytes per message */
  size_t count;     /* requests, or */
  double duration;  /* seconds */
  size_t in_flight; /* most messages at a time, in modes that do not wait */
};

struct measurement {
  size_t messages;
  double seconds; /* from the first request to the last completion that was counted */
  size_t most_in_flight;
  double average_in_flight; /* seen at each completion */
};

/* Both ranks call it; only rank 0 gets a measurement. */
struct measurement run_mode(const struct mode* mode, struct endpoint* endpoint, const struct load* load);

#endif
