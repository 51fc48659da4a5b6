/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What UCX (MPICH's ch4:ucx, Open MPI's pml ucx) needs beyond its sockets.
 *
 * Its clock: it reads the time stamp counter where that is invariant, and measures its frequency by gettimeofday: real
 * time against simulated time. It has another clock for machines whose counter is not, gettimeofday itself, and asks
 * ucs_x86_init_tsc_freq which to use: here it is always that.
 *
 * Its end: MPI_Finalize of MPICH 4.0 closes its connections, each of which is flushed, and then leaves for its
 * launcher's barrier, where it answers nobody. Over TCP a flush is answered by the other side: who comes last waits for
 * ever, also under MPICH's own launcher. Here a connection is flushed only, and stays until its worker goes, after that
 * barrier; and a rank that waits in PMI goes on answering.
 *
 * Its looks: transports in shared memory look there and make no call. One that has found nothing is an empty poll.
 */
#include "preload/shim.h"

#include <stdlib.h>

enum { ucs_no = 0, ucs_ok = 0 }; /* ucs_ternary_auto_value_t of UCX 1.6 and later, ucs_status_t */

UMW_PUBLIC void ucs_x86_init_tsc_freq(void)
{
  int* use_counter = umw_symbol_of("libucs.so", "ucs_arch_x86_enable_rdtsc");
  void (*real)(void) = umw_symbol_of("libucs.so", "ucs_x86_init_tsc_freq");
  if (umw_gate && use_counter)
    *use_counter = ucs_no;
  else if (real)
    real();
}

struct worker {
  void* handle;
  struct worker* next;
};
static struct worker* workers;

typedef signed char ucs_status; /* packed in UCX */
typedef void sent(void* request, ucs_status status);

#define REAL_OF_UCP(name) umw_symbol_of("libucp.so", name)

UMW_PUBLIC ucs_status ucp_worker_create(void* context, const void* parameters, void** worker)
{
  ucs_status (*real)(void*, const void*, void**) = REAL_OF_UCP("ucp_worker_create");
  const ucs_status status = real(context, parameters, worker);
  struct worker* made = umw_gate && status == ucs_ok ? malloc(sizeof *made) : NULL;
  if (made) {
    *made = (struct worker){*worker, workers};
    workers = made;
  }
  return status;
}

UMW_PUBLIC void ucp_worker_destroy(void* handle)
{
  void (*real)(void*) = REAL_OF_UCP("ucp_worker_destroy");
  for (struct worker** next = &workers; *next; next = &(*next)->next)
    if ((*next)->handle == handle) {
      struct worker* gone = *next;
      *next = gone->next;
      free(gone);
      break;
    }
  real(handle);
}

static unsigned (*real_progress(void))(void*)
{
  static unsigned (*known)(void*);
  if (!known)
    known = REAL_OF_UCP("ucp_worker_progress");
  return known;
}

UMW_PUBLIC unsigned ucp_worker_progress(void* worker)
{
  const unsigned events = real_progress()(worker);
  if (events == 0 && umw_gate)
    umw_yield(0);
  return events;
}

bool umw_ucx_progress(void)
{
  unsigned (*progress)(void*) = workers ? real_progress() : NULL;
  for (const struct worker* worker = workers; worker; worker = worker->next)
    while (progress(worker->handle) != 0) {
    }
  return workers != NULL;
}

static void ignore(void* request, ucs_status status)
{
  (void)request;
  (void)status;
}

UMW_PUBLIC void* ucp_disconnect_nb(void* connection)
{
  void* (*real)(void*) = REAL_OF_UCP("ucp_disconnect_nb");
  void* (*flush)(void*, unsigned, sent*) = REAL_OF_UCP("ucp_ep_flush_nb");
  return umw_gate && flush ? flush(connection, 0, ignore) : real(connection);
}
