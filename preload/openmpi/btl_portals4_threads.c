/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Linked into Open MPI's btl portals4: MPI_THREAD_MULTIPLE.
 *
 * The component withdraws where it is wanted, and pml ob1 is left without a network: what it takes from its queue goes
 * to a static variable, and a receive block is given back when the next event says that it is full, whether or not
 * another thread still reads it. So one thread at a time takes events; everything else in it is safe (Open MPI's free
 * lists, atomic counters and keys).
 */
#include "opal_config.h"

#include <pthread.h>

#include "btl_portals4.h"
#if OPAL_MAJOR_VERSION >= 5
#include "opal/mca/threads/mutex.h"
#else
#include "opal/threads/mutex.h"
#endif

static pthread_t taking; /* the thread that takes events, or 0 */

/* The linker has the component call the one where it means the other (--wrap). */
int __real_mca_btl_portals4_component_progress(void);

int __wrap_mca_btl_portals4_component_progress(void)
{
  if (!opal_using_threads())
    return __real_mca_btl_portals4_component_progress();
  const pthread_t me = pthread_self();
  pthread_t nobody = 0;
  if (__atomic_load_n(&taking, __ATOMIC_RELAXED) ==
      me) /* what an event brought sends something, and that waits for room */
    return __real_mca_btl_portals4_component_progress();
  if (!__atomic_compare_exchange_n(&taking, &nobody, me, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return 0;
  const int events = __real_mca_btl_portals4_component_progress();
  __atomic_store_n(&taking, 0, __ATOMIC_RELEASE);
  return events;
}

static mca_btl_base_component_init_fn_t real_init;

static mca_btl_base_module_t** init(int* count, bool progress_threads, bool mpi_threads)
{
  (void)mpi_threads;
  return real_init(count, progress_threads, false);
}

__attribute__((constructor)) static void replace(void)
{
  real_init = mca_btl_portals4_component.super.btl_init;
  mca_btl_portals4_component.super.btl_init = init;
  mca_btl_portals4_component.super.btl_progress = __wrap_mca_btl_portals4_component_progress;
}
