/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One text for the blocking and the nonblocking form of a collective: COLLECTIVE(Bcast, Ibcast, arguments...) calls the
 * first, or with NONBLOCKING defined the second and waits for it, every other time by polling. */
#pragma once

#include "check.h"

#ifdef NONBLOCKING
#define COLLECTIVE(blocking, nonblocking, ...)                                                                         \
  do {                                                                                                                 \
    MPI_Request collective_request;                                                                                    \
    CHECK_EQ(MPI_##nonblocking(__VA_ARGS__, &collective_request), MPI_SUCCESS);                                        \
    await(&collective_request);                                                                                        \
  } while (0)

static inline void await(MPI_Request* request)
{
  static int calls;
  if (++calls % 2) {
    MPI_Wait(request, MPI_STATUS_IGNORE);
  } else {
    for (int done = 0; !done;) {
      MPI_Test(request, &done, MPI_STATUS_IGNORE);
    }
  }
  CHECK(*request == MPI_REQUEST_NULL);
}
#else
#define COLLECTIVE(blocking, nonblocking, ...) CHECK_EQ(MPI_##blocking(__VA_ARGS__), MPI_SUCCESS)
#endif
