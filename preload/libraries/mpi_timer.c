/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Open MPI's own clock. opal_progress serves its event loop every 10 ms (mpi_event_tick_rate), mtl portals4 gives
 * retransmissions a time-out: both ask opal_timer_base_get_cycles and _get_usec, pointers that lead to rdtsc where the
 * machine's time stamp counter is invariant. That is real time, by which no two runs are alike. Here they lead to
 * simulated time. opal_progress_init sets the rate as soon as Open MPI has made its own choice of a clock: the moment
 * to change it.
 */
#include "preload/shim.h"

#include <elf.h>
#include <link.h>

typedef uint64_t opal_timer(void);

enum { ns_per_second = 1000000000 };

/* In ns, and never twice the same: what asks whether more than no time has passed must not ask for ever. Housekeeping
 * is no look at the clock that a rank waits by (clock.c), and costs nothing. */
static uint64_t cycles(void)
{
  static uint64_t reads;
  ++reads;
  return umw_gate ? (uint64_t)(umw_gate->clock.now_ps + umw_gate->clock.debt_ps) / 1000 + reads : reads;
}

static uint64_t microseconds(void)
{
  return cycles() / 1000;
}

/* A library of another version may have a function of that name. */
static void redirect(const char* name, opal_timer* timer)
{
  Dl_info information;
  const ElfW(Sym)* symbol = NULL;
  void* address = umw_symbol_of("libopen-pal.so", name);
  if (address && dladdr1(address, &information, (void**)&symbol, RTLD_DL_SYMENT) && symbol &&
      ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && symbol->st_size == sizeof timer)
    *(opal_timer**)address = timer;
}

void opal_progress_set_event_poll_rate(int rate);
uint64_t opal_timer_base_get_freq(void);

UMW_PUBLIC void opal_progress_set_event_poll_rate(int rate)
{
  void (*real)(int) = umw_symbol_of("libopen-pal.so", "opal_progress_set_event_poll_rate");
  if (umw_gate) {
    redirect("opal_timer_base_get_cycles", cycles);
    redirect("opal_timer_base_get_usec", microseconds);
  }
  if (real)
    real(rate);
}

UMW_PUBLIC uint64_t opal_timer_base_get_freq(void)
{
  opal_timer* real = umw_gate ? NULL : umw_symbol_of("libopen-pal.so", "opal_timer_base_get_freq");
  return real ? real() : ns_per_second;
}
