/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Linked into Open MPI's osc pt2pt: MPI_THREAD_MULTIPLE.
 *
 * The component makes no window where it is wanted, since it loses count of its fragments when two threads flush at the
 * same time (Open MPI's issue 2614), and there is no other that works over pml ob1. So what threads may call for a
 * window at the same time, operations, locks and flushes, one of them does at a time; who waits for its turn waits
 * until the call of the other is over.
 */
#include "ompi_config.h"

#include <pthread.h>

#include "ompi/op/op.h"
#include "osc_pt2pt.h"

static pthread_mutex_t turn = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static ompi_osc_base_module_t real;

#define IN_TURN(name, parameters, arguments)                                                                           \
  static int name parameters                                                                                           \
  {                                                                                                                    \
    pthread_mutex_lock(&turn);                                                                                         \
    const int result = real.osc_##name arguments;                                                                      \
    pthread_mutex_unlock(&turn);                                                                                       \
    return result;                                                                                                     \
  }

#define THERE int target, ptrdiff_t offset, int there, ompi_datatype_t *there_type
#define THAT target, offset, there, there_type
typedef ompi_request_t* request_t;

IN_TURN(put, (const void* from, int count, ompi_datatype_t* type, THERE, ompi_win_t* window),
        (from, count, type, THAT, window))
IN_TURN(get, (void* to, int count, ompi_datatype_t* type, THERE, ompi_win_t* window), (to, count, type, THAT, window))
IN_TURN(accumulate, (const void* from, int count, ompi_datatype_t* type, THERE, ompi_op_t* op, ompi_win_t* window),
        (from, count, type, THAT, op, window))
IN_TURN(compare_and_swap,
        (const void* from, const void* compare, void* to, ompi_datatype_t* type, int target, ptrdiff_t offset,
         ompi_win_t* window),
        (from, compare, to, type, target, offset, window))
IN_TURN(fetch_and_op,
        (const void* from, void* to, ompi_datatype_t* type, int target, ptrdiff_t offset, ompi_op_t* op,
         ompi_win_t* window),
        (from, to, type, target, offset, op, window))
IN_TURN(get_accumulate,
        (const void* from, int count, ompi_datatype_t* type, void* to, int to_count, ompi_datatype_t* to_type, THERE,
         ompi_op_t* op, ompi_win_t* window),
        (from, count, type, to, to_count, to_type, THAT, op, window))
IN_TURN(rput, (const void* from, int count, ompi_datatype_t* type, THERE, ompi_win_t* window, request_t* request),
        (from, count, type, THAT, window, request))
IN_TURN(rget, (void* to, int count, ompi_datatype_t* type, THERE, ompi_win_t* window, request_t* request),
        (to, count, type, THAT, window, request))
IN_TURN(raccumulate,
        (const void* from, int count, ompi_datatype_t* type, THERE, ompi_op_t* op, ompi_win_t* window,
         request_t* request),
        (from, count, type, THAT, op, window, request))
IN_TURN(rget_accumulate,
        (const void* from, int count, ompi_datatype_t* type, void* to, int to_count, ompi_datatype_t* to_type, THERE,
         ompi_op_t* op, ompi_win_t* window, request_t* request),
        (from, count, type, to, to_count, to_type, THAT, op, window, request))
IN_TURN(lock, (int type, int target, int assertion, ompi_win_t* window), (type, target, assertion, window))
IN_TURN(unlock, (int target, ompi_win_t* window), (target, window))
IN_TURN(lock_all, (int assertion, ompi_win_t* window), (assertion, window))
IN_TURN(unlock_all, (ompi_win_t * window), (window))
IN_TURN(flush, (int target, ompi_win_t* window), (target, window))
IN_TURN(flush_all, (ompi_win_t * window), (window))
IN_TURN(flush_local, (int target, ompi_win_t* window), (target, window))
IN_TURN(flush_local_all, (ompi_win_t * window), (window))

/* In osc_pt2pt_component.c, and in no header: the modules of windows are copies of this one. */
extern ompi_osc_pt2pt_module_t ompi_osc_pt2pt_module_template;

static void take_turns(void)
{
  ompi_osc_base_module_t* module = &ompi_osc_pt2pt_module_template.super;
  real = *module;
  module->osc_put = put;
  module->osc_get = get;
  module->osc_accumulate = accumulate;
  module->osc_compare_and_swap = compare_and_swap;
  module->osc_fetch_and_op = fetch_and_op;
  module->osc_get_accumulate = get_accumulate;
  module->osc_rput = rput;
  module->osc_rget = rget;
  module->osc_raccumulate = raccumulate;
  module->osc_rget_accumulate = rget_accumulate;
  module->osc_lock = lock;
  module->osc_unlock = unlock;
  module->osc_lock_all = lock_all;
  module->osc_unlock_all = unlock_all;
  module->osc_flush = flush;
  module->osc_flush_all = flush_all;
  module->osc_flush_local = flush_local;
  module->osc_flush_local_all = flush_local_all;
}

static ompi_osc_base_component_init_fn_t real_init;

static int init(bool progress_threads, bool mpi_threads)
{
  if (mpi_threads)
    take_turns();
  return real_init(progress_threads, false);
}

__attribute__((constructor)) static void replace(void)
{
  real_init = mca_osc_pt2pt_component.super.osc_init;
  mca_osc_pt2pt_component.super.osc_init = init;
}
