/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Reading time. Short reads are answered here, without a crossing, from the clock the runtime keeps in the gate. Table:
 * preload/abi/tables/clock.def.
 */
#include "preload/shim.h"

#include <link.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/timeb.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#define CALLER __builtin_return_address(0)

/* Libraries whose clock reads keep house and decide nothing a program waits for. A rank that polls is known to wait for
 * time to pass if it reads the clock in its loop; these must not count or no wait inside MPI could ever be cut short.
 *   libopen-pal: opal_progress looks whether to serve its libevent loop (every 8th call), if not as mpi_timer.c tells
 * it to. */
static const char* const ignored_callers[] = {"libopen-pal.so"};

struct object_of {
  uintptr_t address;
  bool is_ignored;
};

static int look_into(struct dl_phdr_info* object, size_t size, void* data)
{
  (void)size;
  struct object_of* of = data;
  const ElfW(Phdr)* segment = object->dlpi_phdr;
  const ElfW(Phdr)* const end = segment + object->dlpi_phnum;
  while (segment < end &&
         (segment->p_type != PT_LOAD || of->address - (object->dlpi_addr + segment->p_vaddr) >= segment->p_memsz))
    ++segment;
  if (segment == end)
    return 0;
  const char* name = strrchr(object->dlpi_name, '/');
  name = name ? name + 1 : object->dlpi_name;
  for (size_t i = 0; i < sizeof ignored_callers / sizeof *ignored_callers; ++i)
    of->is_ignored = of->is_ignored || strncmp(name, ignored_callers[i], strlen(ignored_callers[i])) == 0;
  return 1;
}

/* Not dladdr(3), which looks at thousands of symbols: too many steps to count (runtime/rank_host/path_times.h). */
static bool is_ignored(const void* caller)
{
  enum { slots = 64 };
  static struct {
    const void* caller;
    bool answer;
  } known[slots];
  const size_t slot = ((uintptr_t)caller >> 2) % slots;
  if (known[slot].caller != caller) {
    struct object_of of = {(uintptr_t)caller, false};
    UMW_REAL(dl_iterate_phdr)(look_into, &of);
    known[slot].caller = caller;
    known[slot].answer = of.is_ignored;
  }
  return known[slot].answer;
}

/* CPU time since now_ps; settles with the runtime first if the burst is long. A look ends a path of the burst, and what
 * has gone by since then is not shown: here it may take long, on the way back from the runtime, and the path that
 * begins is known better. Likewise what takes long here before a library keeps house. */
static int64_t since_crossing(bool keeps_house)
{
  const uint64_t housekeeping = 64; /* times a long burst: 1.3 ms, what this machine may do besides */
  struct umw_clock* clock = &umw_gate->clock;
  if (clock->ps_per_tick == 0) {
    clock->debt_ps += clock->read_cost_ps;
    if (clock->debt_ps > (int64_t)clock->settle_ticks) /* picoseconds here: there are no ticks */
      umw_clock_settle(0);
    return clock->debt_ps;
  }
  const uint64_t ticks = __builtin_ia32_rdtsc() - clock->burst_start;
  if (!keeps_house && ticks >= clock->path_ticks) { /* however long it took: bursts of one path all end here */
    umw_clock_path(0);
    if (clock->debt_ps > clock->most_debt_ps) {
      umw_clock_settle(0);
      umw_clock_path(0); /* the next begins here */
    }
  } else if (ticks > clock->settle_ticks * (keeps_house ? housekeeping : 1)) {
    umw_clock_settle(0);
  } else {
    return clock->debt_ps + (int64_t)((double)ticks * clock->ps_per_tick);
  }
  return clock->debt_ps;
}

/* Whether the one who asks keeps house; otherwise the program looks, or the shim itself (`caller` is null). */
static bool keeps_house(const void* caller)
{
  if (!caller)
    return false;
  if (is_ignored(caller))
    return true;
  ++umw_gate->clock.looks;
  return false;
}

int64_t umw_now_ps(const void* caller)
{
  static int64_t told; /* to who keeps house: need not have passed when the burst ends */
  struct umw_clock* clock = &umw_gate->clock;
  const bool house = keeps_house(caller);
  const int64_t since = since_crossing(house);
  int64_t now = clock->now_ps + since;
  if (now < clock->shown_ps)
    now = clock->shown_ps;
  int64_t* const last = house ? &told : &clock->shown_ps;
  if (now > *last)
    *last = now;
  return *last;
}

int64_t umw_cpu_ps(const void* caller)
{
  const int64_t since = since_crossing(keeps_house(caller));
  return umw_gate->clock.cpu_ps + since;
}

/* Nanoseconds of a clock; -1 if there is no such clock. */
static int64_t clock_ns(clockid_t id, const void* caller)
{
  switch (id) {
  case CLOCK_REALTIME:
  case CLOCK_REALTIME_COARSE:
  case CLOCK_TAI:
    return umw_gate->clock.realtime_origin_ns + umw_now_ps(caller) / 1000;
  case CLOCK_MONOTONIC:
  case CLOCK_MONOTONIC_RAW:
  case CLOCK_MONOTONIC_COARSE:
  case CLOCK_BOOTTIME:
    return umw_gate->clock.uptime_origin_ns + umw_now_ps(caller) / 1000;
  default: /* process and thread CPU clocks, also those of pthread_getcpuclockid and clock_getcpuclockid (negative) */
    if (id == CLOCK_PROCESS_CPUTIME_ID || id == CLOCK_THREAD_CPUTIME_ID || id < 0)
      return umw_cpu_ps(caller) / 1000;
    return -1;
  }
}

static struct timeval timeval_of(int64_t ns)
{
  return (struct timeval){ns / 1000000000, ns % 1000000000 / 1000};
}

UMW_PUBLIC int clock_gettime(clockid_t id, struct timespec* result)
{
  if (!umw_gate)
    return UMW_REAL(clock_gettime)(id, result);
  const int64_t ns = clock_ns(id, CALLER);
  if (ns < 0) {
    errno = EINVAL;
    return -1;
  }
  result->tv_sec = ns / 1000000000;
  result->tv_nsec = ns % 1000000000;
  return 0;
}

UMW_PUBLIC int clock_getres(clockid_t id, struct timespec* result)
{
  if (!umw_gate)
    return UMW_REAL(clock_getres)(id, result);
  if (id > CLOCK_TAI) {
    errno = EINVAL;
    return -1;
  }
  if (result)
    *result = (struct timespec){0, 1};
  return 0;
}

UMW_PUBLIC int gettimeofday(struct timeval* restrict result, void* restrict zone)
{
  if (!umw_gate)
    return UMW_REAL(gettimeofday)(result, zone);
  if (result)
    *result = timeval_of(clock_ns(CLOCK_REALTIME, CALLER));
  if (zone)
    memset(zone, 0, sizeof(struct timezone));
  return 0;
}

UMW_PUBLIC time_t time(time_t* result)
{
  if (!umw_gate)
    return UMW_REAL(time)(result);
  const time_t seconds = clock_ns(CLOCK_REALTIME, CALLER) / 1000000000;
  if (result)
    *result = seconds;
  return seconds;
}

UMW_PUBLIC int timespec_get(struct timespec* result, int base)
{
  if (!umw_gate)
    return UMW_REAL(timespec_get)(result, base);
  if (base != TIME_UTC)
    return 0;
  const int64_t ns = clock_ns(CLOCK_REALTIME, CALLER);
  *result = (struct timespec){ns / 1000000000, ns % 1000000000};
  return base;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* old binaries still call it */
UMW_PUBLIC int ftime(struct timeb* result)
{
  if (!umw_gate)
    return UMW_REAL(ftime)(result);
  const int64_t ns = clock_ns(CLOCK_REALTIME, CALLER);
  *result = (struct timeb){.time = ns / 1000000000, .millitm = (unsigned short)(ns % 1000000000 / 1000000)};
  return 0;
}
#pragma GCC diagnostic pop

UMW_PUBLIC clock_t times(struct tms* result)
{
  if (!umw_gate)
    return UMW_REAL(times)(result);
  const int64_t tick_ps = 1000000000000 / 100; /* sysconf(_SC_CLK_TCK) is 100 on Linux */
  if (result)
    *result = (struct tms){.tms_utime = umw_cpu_ps(CALLER) / tick_ps};
  return clock_ns(CLOCK_MONOTONIC, CALLER) / (tick_ps / 1000);
}

UMW_PUBLIC clock_t clock(void)
{
  if (!umw_gate)
    return UMW_REAL(clock)();
  return umw_cpu_ps(CALLER) / (1000000000000 / CLOCKS_PER_SEC);
}

UMW_PUBLIC int getrusage(__rusage_who_t who, struct rusage* result)
{
  const int status = UMW_REAL(getrusage)(who, result);
  if (status != 0 || !umw_gate)
    return status;
  const bool mine = who != RUSAGE_CHILDREN;
  result->ru_utime = timeval_of(mine ? umw_cpu_ps(CALLER) / 1000 : 0);
  result->ru_stime = (struct timeval){0, 0};
  return 0;
}

UMW_PUBLIC int clock_settime(clockid_t id, const struct timespec* value)
{
  if (!umw_gate)
    return UMW_REAL(clock_settime)(id, value);
  errno = EPERM;
  return -1;
}

UMW_PUBLIC int settimeofday(const struct timeval* value, const struct timezone* zone)
{
  if (!umw_gate)
    return UMW_REAL(settimeofday)(value, zone);
  errno = EPERM;
  return -1;
}
