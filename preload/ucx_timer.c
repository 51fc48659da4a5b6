/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * UCX's own clock (MPICH's ch4:ucx, Open MPI's pml ucx). It reads the time stamp counter where that is invariant, and measures its
 * frequency by gettimeofday: real time against simulated time. It has another clock for machines whose counter is not, gettimeofday itself,
 * and asks ucs_x86_init_tsc_freq which of them to use: here it is always that.
 */
#include "preload/shim.h"

enum { ucs_no = 0 }; /* ucs_ternary_auto_value_t of UCX 1.6 and later */

UMW_PUBLIC void ucs_x86_init_tsc_freq(void)
{
  int* use_counter = umw_symbol_of("libucs.so", "ucs_arch_x86_enable_rdtsc");
  void (*real)(void) = umw_symbol_of("libucs.so", "ucs_x86_init_tsc_freq");
  if (umw_gate && use_counter)
    *use_counter = ucs_no;
  else if (real)
    real();
}
