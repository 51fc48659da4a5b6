/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The gate: the ABI between a rank's shim and the runtime. Plain C, no dependency, versioned.
 *
 * The runtime fills in one struct umw_gate per rank and hands its address to the shim (preload/find_gate.h). A call
 * is an operation number and the address of its argument structure; the result comes back in the structure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/abi/address.h"
#include "preload/abi/mpi_calls.h"
#include "preload/abi/mpi_collectives.h"
#include "preload/abi/mpi_events.h"
#include "preload/abi/portals4.h"
#include "preload/abi/table.h"

#ifdef __cplusplus
extern "C" {
#endif

#define UMW_GATE_VERSION 1u
#define UMW_GATE_AUXV 0x756d77  /* a_type of the auxiliary vector, far from Linux' */
#define UMW_STACK_AUXV 0x756d78 /* likewise, in a namespace: the lowest address of the main thread's stack */
#define UMW_HOST_NAME_MAX 64    /* HOST_NAME_MAX of Linux */

typedef void (*umw_thread_start)(void* argument);

/* Operations, and one structure of arguments for each. */
enum umw_op {
#define UMW_CALL(result, name, kind, version, level, note, ...) UMW_OP_##name,
#define UMW_CALL_VOID(name, kind, version, level, note, ...) UMW_OP_##name,
#define UMW_SERVICE(result, name, kind, note, ...) UMW_OP_##name,
#include "preload/abi/tables/portals.def"
#include "preload/abi/tables/services.def"
#undef UMW_CALL
#undef UMW_CALL_VOID
#undef UMW_SERVICE
  UMW_OP_COUNT
};

#define UMW_CALL(result_type, name, kind, version, level, note, ...)                                                   \
  struct umw_args_##name {                                                                                             \
    result_type result;                                                                                                \
    UMW_EACH(UMW_FIELD, __VA_ARGS__)                                                                                   \
  };
#define UMW_CALL_VOID(name, kind, version, level, note, ...)                                                           \
  struct umw_args_##name {                                                                                             \
    int unused;                                                                                                        \
    UMW_EACH(UMW_FIELD, __VA_ARGS__)                                                                                   \
  };
#define UMW_SERVICE(result_type, name, kind, note, ...) UMW_CALL(result_type, name, kind, , , note, __VA_ARGS__)
#include "preload/abi/tables/portals.def"
#include "preload/abi/tables/services.def"
#undef UMW_CALL
#undef UMW_CALL_VOID
#undef UMW_SERVICE

/* Ids of threads other than main threads begin here, above all that the kernel gives (PID_MAX_LIMIT of Linux). */
#define UMW_FIRST_THREAD_ID 5000000

/* Empty polls in a row that the shim usually answers before it crosses: more than an MPI library has event queues. */
#define UMW_QUICK_POLLS 8

/* Event queues are told apart by their handles' remainder. */
#define UMW_QUEUE_SLOTS 16

/* What the shim needs to answer clock reads by itself. The runtime writes it before a rank goes on; the shim adds to
 * debt_ps and looks. Simulated now of the rank =
 *   now_ps + debt_ps + (TSC - burst_start) * ps_per_tick */
struct umw_clock {
  int64_t now_ps;
  int64_t debt_ps;       /* CPU time that is charged rather than measured, not yet turned into simulated time */
  int64_t read_cost_ps;  /* charged for a clock read when bursts are not measured, so that time cannot stand still */
  uint64_t burst_start;  /* TSC when the rank went on */
  double ps_per_tick;    /* 0: bursts are not measured */
  uint64_t settle_ticks; /* a burst longer than this is settled by the runtime before the clock is read */
  int64_t realtime_origin_ns; /* CLOCK_REALTIME at simulated time 0 */
  int64_t uptime_origin_ns;   /* CLOCK_MONOTONIC and CLOCK_BOOTTIME at simulated time 0 */
  int64_t cpu_ps;             /* CPU time of the rank up to now_ps */
  int64_t shown_ps;           /* latest time the program has been shown: it must not see an earlier one */
  uint64_t looks;             /* clock reads by the program: a poll loop with such a read waits for time to pass */
  uint64_t path_ticks;  /* one so long after burst_start ends a path, whose time is known better than the time stamp
                           counter tells (runtime/rank_host/path_times.h) */
  int64_t most_debt_ps; /* with more, the runtime settles then */
  double scale;         /* simulated over measured time of bursts, where they are measured; */
  int64_t fixed_ps;     /* what each counts for where they are not */
  double speed;         /* of its cores, relative to this machine's: bursts take so many times less; */
  double pace; /* of that: what its node's DVFS state makes of it, 1 in the first; models of kernels know this */
};

enum umw_exit_kind {
  UMW_EXIT_NORMAL, /* exit(), return from main, _exit() */
  UMW_EXIT_ABORT,  /* MPI_Abort / PMIx_Abort; the whole job ends */
  UMW_EXIT_PMI,    /* PMI_Abort, PMI2_Abort: likewise */
  UMW_EXIT_MISUSE  /* what the user asked for cannot be done (runtime/rank_host/kernel_calls.h): the whole job ends */
};

/* Kernels with a power of their own. */
#define UMW_POWER_KERNELS 16

/* Descriptors of a process whose owners are known. */
#define UMW_DESCRIPTORS 65536
#define UMW_OWN_DESCRIPTOR UINT32_MAX

/* Locks of files. */
enum umw_lock_mode { UMW_LOCK_NONE, UMW_LOCK_SHARED, UMW_LOCK_EXCLUSIVE };

/* What PMI takes; bytes without the end of the text. A name also fits with it. */
#define UMW_PMI_NAME_MAX 256
#define UMW_PMI_KEY_MAX 64
#define UMW_PMI_VALUE_MAX 1024

/* How a pair is put into a space. */
enum umw_pair_how {
  UMW_PAIR_LATER, /* others see it after the rank's next umw_pair_commit */
  UMW_PAIR_NOW,   /* at once, in place of what was there */
  UMW_PAIR_NEW    /* at once; -EEXIST if there is one */
};

/* Ranks of a job that follow each other. */
struct umw_members {
  char job[64]; /* its name, with the end of the text */
  int32_t first, count;
};

/* What umw_failure_wait tells of a rank that has died: its number in its job in the lower 32 bits, and from these bits
 * on */
enum umw_failure {
  UMW_FAILURE_STATUS = 32, /* eight: its exit code, or 128 and the signal */
  UMW_FAILURE_SIGNAL = 40  /* one: it was a signal */
};

/* How a value is published; may be or'ed. */
enum umw_publish_how {
  UMW_PUBLISH_ONCE = 1,  /* who looks it up takes it away */
  UMW_PUBLISH_IN_JOB = 2 /* only ranks of the same job find it */
};

/* Runs the rank's own handler for a signal raised for it, on the rank's side. False: it has none, or one that needs the
 * thread's stack, and that is used up. The first three are those of an SA_SIGINFO handler; `mask` is the thread's. */
typedef bool (*umw_deliver_signal)(int number, void* information, void* context, uint64_t* mask, bool stack_used_up);

/* Runs the handlers of the signals that are due for the running thread. True: one was not installed with SA_RESTART. */
typedef bool (*umw_deliver_pending)(void* context);

/* Addresses above all that ranks of the process have loaded, not given out yet (loader/high_memory.h). In a worker
 * process some of them are of a memory file that the runtime has mapped at the same place. */
struct umw_high_memory {
  uintptr_t next, end;
  uintptr_t shared_next, shared_end; /* likewise, of this worker process's share of the file, */
  uintptr_t shared_begin;            /* which begins here */
  uintptr_t file_begin;              /* address of the file's first byte */
  int file;                          /* its descriptor */
};

/* Memory of the rank that the runtime can read and write, too; end 0: none (preload/memory/memory.c) */
struct umw_shared_range {
  uintptr_t begin, end;
};
#define UMW_SHARED_RANGES 16

enum umw_loading {
  UMW_LOADING,
  UMW_HANDED_OVER,
  UMW_GAVE_UP,    /* ld.so has said why */
  UMW_LINKER_DIED /* of a signal */
};

/* How the rank comes from the thread in which its dynamic linker begins to the one in which it lives
 * (loader/parked_thread.h): what a function call keeps, as the shim's first initialiser found it. */
struct umw_handover {
  uint32_t state;     /* enum umw_loading; the runtime waits for it to change */
  int32_t status;     /* exit status, signal */
  int32_t kernel_tid; /* of the thread that sleeps from then on */
  uint64_t stack, code, rbx, rbp, r12, r13, r14, r15;
  uint64_t thread_pointer;
  uint64_t all_signals; /* a mask */
};

/* How a rank is loaded (loader/README.md). */
enum umw_loader { UMW_LOADER_LINKER, UMW_LOADER_NAMESPACE };

/* Whose dlopen is under way in a process whose ranks share one dynamic linker, and how deep. */
struct umw_linker_turn {
  int32_t owner; /* kernel_tid of the thread; 0: nobody's */
  uint32_t depth;
};

struct dl_find_object;

enum { UMW_COPY_LEVELS = 3 };
struct umw_copy_level {
  uint64_t most;
  double ps_per_byte;
};

/* What umw_gate::made_progress says: what it waited for has come; it computes for long, where that takes no time
 * (runtime/rank_host/slices.h). When it is found to do so depends on this machine, so that has no effect on times:
 * the run is no deadlock, that is all. */
enum { UMW_GOT_ON = 1, UMW_GOES_ON = 2 };
/* umw_gate::paused. */
enum { UMW_PAUSED = 1, UMW_PAUSED_THROUGHOUT = 2 /* the burst, so far */ };

struct umw_gate {
  uint32_t version;
  uint32_t size; /* sizeof(struct umw_gate) of the runtime */
  void (*cross)(struct umw_gate* gate, uint32_t op, void* arguments);
  struct umw_clock clock;
  uint32_t kernels_used; /* bits: what the next burst to count spent in kernels with a power of their own */
  int64_t kernel_ps[UMW_POWER_KERNELS]; /* of each (energy/power.h) */
  uint32_t signal_due;                  /* a signal waits to be acted upon before the running thread goes on */
  uint64_t blocked;                     /* signal mask of the running thread */
  uint32_t running;                     /* the program's constructors have run */
  uint32_t
      no_preempt; /* the running thread is not to be interrupted for the benefit of others, nor to go step by step */
  uint32_t no_switch; /* no other rank of the process may run in the thread's place during this call, unless it waits */
  uint64_t activity;  /* grows whenever something of Portals that the rank can see has changed, but for events: */
  uint64_t queue_news[UMW_QUEUE_SLOTS]; /* grows with those of event queues whose handles leave that remainder */
  uint32_t more_events;                 /* the queue that the running thread last took an event from may have another */
  uint64_t wakes;         /* grows whenever a thread of the rank releases something another may wait for */
  uint64_t releases;      /* grows whenever somebody releases something that lies in memory shared with other ranks */
  uint32_t line_open;     /* by stream, 1 and 2: bit set: what the rank wrote there last has not ended its line
                             (preload/io/files.c) */
  uint32_t made_progress; /* a thread has got somewhere without a call: UMW_GOT_ON (preload/threads/), UMW_GOES_ON */
  uint32_t alone;         /* no other thread of the rank runs, nor waits for anything but a descriptor */
  uint32_t shares_memory; /* with other ranks, which see what it writes */
  uint64_t changes;     /* grows with whatever a thread that looks at memory may see of the NIC or of another thread */
  int64_t ahead_ps;     /* in a worker process: the thread may compute for so long before it has to wait for the others'
                           times */
  uint64_t crossings;   /* calls that have left the rank's side */
  uint64_t quick_polls; /* empty polls the shim has answered since the last crossing poll; */
  uint64_t most_quick_polls; /* so many at most */
  uint64_t
      poll_state; /* where the running thread stood when it last crossed: its stack and registers, as one number, */
  uint32_t
      shows_state; /* 1: if the runtime asks for it; 2: it has been told, the rank still goes round (job/polling.h) */

  int32_t rank, ranks; /* of its job */
  uint32_t owner;      /* whose descriptors are its own (descriptor_owners): of all ranks of the run, from 1 on */
  int32_t local_rank, local_ranks; /* among the ranks of the node */
  int32_t node, nodes;
  int32_t core, cores;     /* the core the running thread is on; cores of the node */
  int32_t sockets;         /* of the node, each a NUMA node */
  uint64_t memory;         /* of the node, bytes */
  int32_t pid, parent_pid; /* of the simulated machine */
  int32_t tid;             /* of the running thread */
  int32_t kernel_tid;      /* what the C library takes it for: owner of its mutexes */
  char host_name[UMW_HOST_NAME_MAX + 1];
  char job_name[64];   /* PMIx namespace */
  const char* program; /* absolute path of the program as the user would see it */
  const char* argv0;
  const char* local_peers;       /* ranks of the node, "0,1,2" */
  const char* node_list;         /* names of the nodes of the job, in order, "bxi0,bxi1" */
  const char* session_directory; /* for temporary files of the job on this node; removed after the run */
  const char* machine_directory; /* files that nodes of its kind have in common (preload/paths/paths.c) */
  int32_t app, app_ranks;        /* MPMD: application context, its number of ranks */
  int32_t universe;              /* ranks of all jobs that there is room for */
  const char* parent_job;        /* of the rank that has started the job; null: none has */
  int32_t parent_rank;
  int32_t standard_fds[3];        /* where the rank's descriptors 0, 1 and 2 lead in the shared process */
  const int32_t* kept_fds;        /* what the program before, which has executed this one, has left open
                                     (preload/descriptors/descriptors.h); or null */
  uint64_t kept_ignored;          /* signals that it ignored */
  int32_t pmi_fd;                 /* the descriptor the environment calls PMI_FD; -1: none */
  uint64_t pmi_inode, pmi_device; /* by which its copies are recognised */
  uint32_t address;               /* IPv4, of the node, in host byte order */
  uint64_t descriptor_news;       /* grows whenever the network has changed what a socket of the rank is ready for */
  uint64_t descriptor_seen;       /* what it was when the running thread last looked at sockets */
  uint32_t socket_backlog;        /* sockets for which data waits in the runtime until there is room */
  uint64_t descriptors_soft, descriptors_hard; /* RLIMIT_NOFILE of the rank (preload/process/limits.c) */
  int64_t line_ps;         /* a cache line comes from the core that last wrote to shared memory (net_models/node), */
  uint64_t shm_bytes;      /* that fit into /dev/shm of the node */
  double copy_ps_per_byte; /* and what is copied takes so long besides; */
  struct umw_copy_level copy_levels[UMW_COPY_LEVELS]; /* within a rank: copies up to `most` bytes, ascending */
  int32_t times_copies;                               /* these count: bursts are measured */
  int32_t paused;                                     /* what is executed now is not the program's: UMW_PAUSED, */
  uint64_t paused_at;     /* since then (TSC), also across calls, behind which it is UMW_PAUSED_THROUGHOUT */
  int32_t same_addresses; /* the program has asked for the same addresses in all ranks */
  int32_t fault_tolerant; /* ranks may die, and the others of their job are told (--with-ft) */
  uint64_t fold_least;    /* allocations of at least so many bytes may be for a rule of --fold; 0: there is none */
  uint64_t random_seed;   /* 0: randomness comes from the kernel */
  umw_deliver_signal deliver_signal;                                /* set by the shim */
  umw_deliver_pending deliver_pending;                              /* likewise */
  int (*find_object)(void* address, struct dl_find_object* object); /* _dl_find_object of the rank; likewise */
  struct umw_handover handover;
  uint32_t loader;                     /* enum umw_loader */
  struct umw_linker_turn* linker_turn; /* of the process that carries the rank, if that is UMW_LOADER_NAMESPACE */
  struct umw_high_memory* high_memory; /* of the process that carries the rank */
  uint32_t* descriptor_owners; /* likewise: by number, of UMW_DESCRIPTORS; umw_gate::owner, 0: not known, ~0: Umwelt */
  uint32_t* openers; /* likewise: calls of its ranks that have opened something and not yet said whose it is, */
  uint32_t opening;  /* and the rank's among them */
  struct umw_shared_range shared[UMW_SHARED_RANGES];
  const struct umw_mpi_counts* mpi_counts; /* of the rank's calls of MPI; null: they are not followed (--mpi-calls) */
  int64_t late_ps; /* so long has the rank been blocked before others had begun what it waited for */
  struct umw_mpi_call mpi_calls[UMW_MPI_CALLS];     /* those that its threads are in */
  int32_t traced;                                   /* the rank's calls are to be told one by one for a trace; */
  struct umw_events* mpi_events;                    /* those not told yet, set by the shim */
  uint64_t mpi_watched[UMW_MPI_FUNCTIONS / 64 + 1]; /* functions whose calls are told one by one: bits by number */
  uint64_t collectives;     /* those whose time is a model's: bits by enum umw_collective_function (--collectives) */
  uint64_t collective_news; /* grows whenever one of the rank is over, or has vectors for it to combine */
  void* runtime;            /* the runtime's own */
};

#ifdef __cplusplus
}
#endif
