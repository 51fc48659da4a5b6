/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Who and where a rank is. Table: preload/abi/tables/identity.def. */
#include "preload/shim.h"

#include "preload/namespace/namespace.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <linux/kcmp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/personality.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "preload/abi/burst.h"
#include "preload/descriptors/descriptors.h"

/* The process is one of several ranks, so what a rank sets can only be remembered. */
UMW_PUBLIC int personality(unsigned long persona)
{
  static unsigned long set;
  static bool changed;
  if (!umw_gate)
    return UMW_REAL(personality)(persona);
  const unsigned long real = (unsigned long)UMW_REAL(personality)(0xffffffff);
  const unsigned long before = changed                    ? set
                               : umw_gate->same_addresses ? real | ADDR_NO_RANDOMIZE
                                                          : real & ~(unsigned long)ADDR_NO_RANDOMIZE;
  if (persona != 0xffffffff) {
    set = persona;
    changed = true;
  }
  return (int)before;
}

UMW_PUBLIC int gethostname(char* name, size_t size)
{
  if (!umw_gate)
    return UMW_REAL(gethostname)(name, size);
  const size_t length = strlen(umw_gate->host_name) + 1;
  memcpy(name, umw_gate->host_name, length < size ? length : size);
  if (length <= size)
    return 0;
  errno = ENAMETOOLONG; /* gethostname(2): glibc copies what fits and says so */
  return -1;
}

UMW_PUBLIC int uname(struct utsname* result)
{
  const int status = UMW_REAL(uname)(result);
  if (status == 0 && umw_gate)
    strcpy(result->nodename, umw_gate->host_name); /* both hold 64 characters and the end */
  return status;
}

UMW_PUBLIC pid_t getpid(void)
{
  return umw_gate ? umw_gate->pid : UMW_REAL(getpid)();
}

UMW_PUBLIC pid_t getppid(void)
{
  return umw_gate ? umw_gate->parent_pid : UMW_REAL(getppid)();
}

UMW_PUBLIC pid_t gettid(void)
{
  return umw_gate ? umw_gate->tid : UMW_REAL(gettid)();
}

/* Which core a burst was on is decided when it becomes simulated time. */
static int core(void)
{
  const struct umw_clock* clock = &umw_gate->clock;
  const double longest = 1e6; /* ps that one may still move before it has begun */
  if (umw_burst_ps(clock) > longest)
    umw_clock_settle(0);
  return umw_gate->core;
}

UMW_PUBLIC int sched_getcpu(void)
{
  return umw_gate ? core() : UMW_REAL(sched_getcpu)();
}

UMW_PUBLIC int getcpu(unsigned* cpu, unsigned* numa_node)
{
  if (!umw_gate)
    return UMW_REAL(getcpu)(cpu, numa_node);
  const int now = core();
  if (cpu)
    *cpu = (unsigned)now;
  if (numa_node) /* as in runtime/procfs/machine_files.h */
    *numa_node = (unsigned)((int64_t)now * umw_gate->sockets / umw_gate->cores);
  return 0;
}

/* sched_setaffinity(2) takes a thread's id, and a process's for its main thread. */
/* Threads that /proc shows are those of the process that carries the rank. */
static int affinity_of(pid_t tid, unsigned char* bits, size_t size)
{
  if (tid != 0 && tid != umw_gate->pid && tid < UMW_FIRST_THREAD_ID)
    return -ESRCH;
  return umw_affinity_get(tid, bits, size);
}

UMW_PUBLIC int sched_getaffinity(pid_t pid, size_t size, cpu_set_t* mask)
{
  if (!umw_gate)
    return UMW_REAL(sched_getaffinity)(pid, size, mask);
  const int written = affinity_of(pid, (unsigned char*)mask, size);
  if (written < 0)
    return umw_result(written);
  memset((char*)mask + written, 0, size - (size_t)written);
  return 0;
}

UMW_PUBLIC int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t* mask)
{
  if (!umw_gate)
    return UMW_REAL(sched_setaffinity)(pid, size, mask);
  return umw_result(umw_affinity_set(pid, (const unsigned char*)mask, size));
}

UMW_PUBLIC int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t* mask)
{
  if (!umw_gate)
    return UMW_REAL(pthread_getaffinity_np)(thread, size, mask);
  const int tid = umw_thread_id(thread);
  return tid <= 0 ? ESRCH : sched_getaffinity(tid, size, mask) == 0 ? 0 : errno;
}

UMW_PUBLIC int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t* mask)
{
  if (!umw_gate)
    return UMW_REAL(pthread_setaffinity_np)(thread, size, mask);
  const int tid = umw_thread_id(thread);
  return tid <= 0 ? ESRCH : sched_setaffinity(tid, size, mask) == 0 ? 0 : errno;
}

UMW_PUBLIC long sysconf(int name)
{
  if (umw_gate && (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF))
    return umw_gate->cores;
  if (umw_gate && (name == _SC_PHYS_PAGES || name == _SC_AVPHYS_PAGES)) /* what ranks use is the machine's */
    return (long)(umw_gate->memory / (uint64_t)UMW_REAL(sysconf)(_SC_PAGESIZE));
  if (umw_gate && name == _SC_OPEN_MAX) {
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (long)limit.rlim_cur : -1;
  }
  return UMW_REAL(sysconf)(name);
}

UMW_PUBLIC long get_phys_pages(void)
{
  return umw_gate ? sysconf(_SC_PHYS_PAGES) : UMW_REAL(get_phys_pages)();
}

UMW_PUBLIC long get_avphys_pages(void)
{
  return umw_gate ? sysconf(_SC_AVPHYS_PAGES) : UMW_REAL(get_avphys_pages)();
}

/* As /proc/uptime, /proc/loadavg and /proc/meminfo have it (runtime/procfs/node_files.cpp). */
UMW_PUBLIC int sysinfo(struct sysinfo* info)
{
  if (!umw_gate)
    return UMW_REAL(sysinfo)(info);
  if (!info) {
    errno = EFAULT;
    return -1;
  }
  memset(info, 0, sizeof *info);
  struct timespec since;
  clock_gettime(CLOCK_BOOTTIME, &since);
  info->uptime = since.tv_sec;
  double load[3] = {0, 0, 0};
  getloadavg(load, 3);
  for (int i = 0; i < 3; ++i)
    info->loads[i] = (unsigned long)(load[i] * (1 << SI_LOAD_SHIFT));
  info->totalram = info->freeram = umw_gate->memory;
  info->procs = (unsigned short)umw_gate->local_ranks;
  info->mem_unit = 1;
  return 0;
}

UMW_PUBLIC int getloadavg(double loads[], int count)
{
  if (!umw_gate)
    return UMW_REAL(getloadavg)(loads, count);
  FILE* file = fopen("/proc/loadavg", "re");
  int found = 0;
  while (file && found < count && found < 3 && fscanf(file, "%lf", &loads[found]) == 1)
    ++found;
  if (file)
    fclose(file);
  return file ? found : -1;
}

/* A rank leads a process group of its own; all of a node are of their launcher's session. */
static pid_t group_of(pid_t pid, pid_t own, pid_t (*real)(pid_t))
{
  if (pid < 0 || (pid != 0 && pid != umw_gate->pid && umw_signal_send(pid, 0, 0, 0, 0) != 0)) {
    if (pid > 0 && umw_is_child(pid))
      return real(pid);
    errno = ESRCH;
    return -1;
  }
  return own;
}

UMW_PUBLIC pid_t getpgid(pid_t pid)
{
  return umw_gate ? group_of(pid, pid == 0 ? umw_gate->pid : pid, UMW_REAL(getpgid)) : UMW_REAL(getpgid)(pid);
}

UMW_PUBLIC pid_t getpgrp(void)
{
  return umw_gate ? umw_gate->pid : UMW_REAL(getpgrp)();
}

UMW_PUBLIC pid_t getsid(pid_t pid)
{
  return umw_gate ? group_of(pid, umw_gate->parent_pid, UMW_REAL(getsid)) : UMW_REAL(getsid)(pid);
}

UMW_PUBLIC int get_nprocs(void)
{
  return umw_gate ? umw_gate->cores : UMW_REAL(get_nprocs)();
}

UMW_PUBLIC int get_nprocs_conf(void)
{
  return umw_gate ? umw_gate->cores : UMW_REAL(get_nprocs_conf)();
}

/* --- randomness: reproducible where the run is (splitmix64, Steele et al. 2014) ----------------------------------- */

static void fill_random(void* buffer, size_t size)
{
  static uint64_t state;
  if (state == 0)
    state = umw_gate->random_seed;
  for (unsigned char* byte = buffer; size > 0;) {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    z ^= z >> 31;
    const size_t part = size < sizeof z ? size : sizeof z;
    memcpy(byte, &z, part);
    byte += part;
    size -= part;
  }
}

UMW_PUBLIC ssize_t getrandom(void* buffer, size_t size, unsigned flags)
{
  if (!umw_gate || umw_gate->random_seed == 0)
    return UMW_REAL(getrandom)(buffer, size, flags);
  fill_random(buffer, size);
  return (ssize_t)size;
}

UMW_PUBLIC int getentropy(void* buffer, size_t size)
{
  if (!umw_gate || umw_gate->random_seed == 0)
    return UMW_REAL(getentropy)(buffer, size);
  if (size > 256) { /* getentropy(3) */
    errno = EIO;
    return -1;
  }
  fill_random(buffer, size);
  return 0;
}

UMW_PUBLIC unsigned long getauxval(unsigned long type)
{
  if (!umw_gate)
    return UMW_REAL(getauxval)(type);
  switch (type) {
  case AT_EXECFN:
    return (unsigned long)umw_gate->program;
  case AT_PHDR:
  case AT_PHENT:
  case AT_PHNUM:
  case AT_ENTRY:
    if (umw_in_namespace())
      return umw_namespace_auxiliary(type);
    break;
  case AT_BASE: /* 0, for it was executed as a program */
    return _r_debug.r_ldbase;
  case UMW_GATE_AUXV:
    errno = ENOENT;
    return 0;
  case AT_RANDOM: {
    static unsigned char bytes[16];
    static bool filled;
    if (umw_gate->random_seed == 0)
      break;
    if (!filled)
      fill_random(bytes, sizeof bytes);
    filled = true;
    return (unsigned long)bytes;
  }
  default:
    break;
  }
  return UMW_REAL(getauxval)(type);
}

/* Whether two processes share something, as Open MPI 5 asks of those of its node before it copies from their memory:
 * descriptors do where the processes that carry the ranks do, all else is a rank's own. */
static long compare_processes(pid_t first, pid_t second, long what, long first_index, long second_index)
{
  const int here = umw_memory_peer(first, 0, false), there = umw_memory_peer(second, 0, false);
  if (here < 0 || there < 0)
    return umw_result(-ESRCH);
  if (what == KCMP_FILE || what == KCMP_EPOLL_TFD || what < 0 || what >= KCMP_TYPES)
    return UMW_REAL(syscall)(SYS_kcmp, here, there, what, first_index, second_index);
  return first == second ? 0 : first < second ? 1 : 2;
}

UMW_PUBLIC long syscall(long number, ...)
{
  va_list list;
  long a[6];
  va_start(list, number);
  for (int i = 0; i < 6; ++i)
    a[i] = va_arg(list, long); /* unused ones are what happens to be in the registers, as in the C library's own */
  va_end(list);
  if (umw_gate) {
    switch (number) {
    case SYS_getpid:
      return umw_gate->pid;
    case SYS_getppid:
      return umw_gate->parent_pid;
    case SYS_gettid:
      return umw_gate->tid;
    case SYS_getcpu:
      return getcpu((unsigned*)a[0], (unsigned*)a[1]);
    case SYS_sysinfo:
      return sysinfo((struct sysinfo*)a[0]);
    case SYS_open:
      return open((const char*)a[0], (int)a[1], (mode_t)a[2]);
    case SYS_openat:
      return openat((int)a[0], (const char*)a[1], (int)a[2], (mode_t)a[3]);
    case SYS_sched_getaffinity: /* unlike the function, the bytes written */
      return umw_result(affinity_of((int)a[0], (unsigned char*)a[2], (size_t)a[1]));
    case SYS_sched_setaffinity:
      return sched_setaffinity((pid_t)a[0], (size_t)a[1], (const cpu_set_t*)a[2]);
    case SYS_clock_gettime:
      return clock_gettime((clockid_t)a[0], (struct timespec*)a[1]);
    case SYS_futex: {
      int64_t result;
      const unsigned final = umw_interruptions.final;
      do
        result = umw_futex((uint32_t*)a[0], (int)a[1], (uint32_t)a[2], (uint64_t)a[3], (uint32_t*)a[4], (uint32_t)a[5]);
      while (result == -EINTR && a[3] == 0 && umw_interruptions.final == final); /* SA_RESTART */
      return umw_result(result);
    }
    case SYS_kcmp:
      return compare_processes((pid_t)a[0], (pid_t)a[1], a[2], a[3], a[4]);
    case SYS_kill:
      return kill((pid_t)a[0], (int)a[1]);
    case SYS_tkill:
      return tgkill(umw_gate->pid, (pid_t)a[0], (int)a[1]);
    case SYS_tgkill:
      return tgkill((pid_t)a[0], (pid_t)a[1], (int)a[2]);
    case SYS_nanosleep:
      return nanosleep((const struct timespec*)a[0], (struct timespec*)a[1]);
    case SYS_sched_yield:
      return sched_yield();
    case SYS_getrandom:
      return getrandom((void*)a[0], (size_t)a[1], (unsigned)a[2]);
    case SYS_exit:
    case SYS_exit_group:
      umw_release_robust_mutexes();
      umw_exit((int)a[0] & 0xff, UMW_EXIT_NORMAL, NULL);
      break;
    case SYS_read:
      return read((int)a[0], (void*)a[1], (size_t)a[2]);
    case SYS_write:
      return write((int)a[0], (const void*)a[1], (size_t)a[2]);
    case SYS_close:
      return close((int)a[0]);
    case SYS_dup:
      return dup((int)a[0]);
    case SYS_dup2:
      return dup2((int)a[0], (int)a[1]);
    case SYS_dup3:
      return dup3((int)a[0], (int)a[1], (int)a[2]);
    case SYS_fcntl:
      return fcntl((int)a[0], (int)a[1], a[2]);
    case SYS_flock:
      return flock((int)a[0], (int)a[1]);
    case SYS_memfd_create:
    case SYS_pidfd_open:
    case SYS_perf_event_open:
    case SYS_userfaultfd:
    case SYS_io_uring_setup:
      return UMW_UNINTERRUPTED(umw_note_opened((int)UMW_REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5])));
    default: {
      int result;
      if (umw_memory_policy(number, a, &result))
        return umw_result(result);
      break;
    }
    }
  }
  return UMW_REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
