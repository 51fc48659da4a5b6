/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Symmetric memory straight on Portals 4, in the manner of an OpenSHMEM library: a non-matching interface, one list
 * entry over the program's data and one over a heap that is mapped above it, descriptors over all of the address space,
 * counters instead of event queues, and waits that look at memory without any call. A PE is a rank (program.h).
 * Arguments: "physical": PEs are addressed by node and process id, else by rank; "unordered": contexts may deliver in
 * any order; "uncounted": nothing counts what arrives in data and heap. */
#pragma once

#include "tests/portals_programs/program.h"

#include <limits.h>
#include <stdint.h>
#include <sys/mman.h>

#define NOTE_VALUES(kind, format, got, expected)                                                                       \
  do {                                                                                                                 \
    const kind got_ = (got), expected_ = (expected);                                                                   \
    if (got_ != expected_) {                                                                                           \
      fprintf(stderr, "rank %d: %s:%d: %s is " format ", expected " format "\n", job_rank, __FILE__, __LINE__, #got,   \
              got_, expected_);                                                                                        \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)
#define EQUAL(got, expected) NOTE_VALUES(long long, "%lld", got, expected)
#define EQUAL_REAL(got, expected) NOTE_VALUES(double, "%g", got, expected)

/* The hint to the processor that libraries give in a loop that waits. There is one such place in each program: with
 * --cpu none finding out about one takes the emulator 0.1 s of each PE. */
static __attribute__((noinline)) void look_again(void)
{
  __asm__ volatile("pause" ::: "memory");
}

/* Nothing but a loop over memory. */
#define WAIT_UNTIL(place, comparison, value)                                                                           \
  while (!(*(const volatile __typeof__(*(place))*)(place)comparison(value)))                                           \
  look_again()

enum { data_index = 8, heap_index = 9, most_pes = 16 };
static const size_t heap_size = (size_t)64 << 20;

extern char __data_start[], _end[];

/* What was begun here is completed by quiet() of this context, whatever goes on in others. */
struct context {
  ptl_handle_ct_t puts, gets; /* acknowledgements and replies */
  ptl_size_t puts_begun, gets_begun;
  ptl_handle_eq_t queue;
  ptl_handle_md_t copied;  /* the source may change when the call returns */
  ptl_handle_md_t told;    /* an event tells when it may */
  ptl_handle_md_t later;   /* quiet() tells */
  ptl_handle_md_t fetched; /* where replies go */
  bool longer;             /* puts that the network may deliver in another order */
};

static struct {
  ptl_handle_ni_t ni;
  ptl_ni_limits_t limits;
  ptl_process_t* map; /* physical addresses; NULL: logical ones */
  struct exposed_segment {
    ptl_handle_le_t entry;
    ptl_handle_ct_t arrivals; /* of puts and atomics, and gets */
  } data, heap_segment;
  char* heap;
  size_t heap_used;
  unsigned unordered; /* PTL_MD_UNORDERED */
  bool uncounted;
} sym;

static struct context ctx; /* the main thread's */

static inline ptl_process_t process(int pe)
{
  return sym.map ? sym.map[pe] : rank_id(pe);
}

static inline ptl_handle_md_t everything(unsigned options, ptl_handle_eq_t queue, ptl_handle_ct_t counter)
{
  const ptl_md_t memory = {
      .start = NULL, .length = PTL_SIZE_MAX, .options = options, .eq_handle = queue, .ct_handle = counter};
  ptl_handle_md_t handle;
  CALL(PtlMDBind(sym.ni, &memory, &handle));
  return handle;
}

static inline void context_begin(struct context* c)
{
  *c = (struct context){.puts = new_counter(sym.ni), .gets = new_counter(sym.ni)};
  CALL(PtlEQAlloc(sym.ni, 64, &c->queue));
  const unsigned counted = PTL_MD_EVENT_CT_ACK | sym.unordered;
  c->copied = everything(counted | PTL_MD_VOLATILE, PTL_EQ_NONE, c->puts);
  c->told = everything(counted, c->queue, c->puts);
  c->later = everything(counted, PTL_EQ_NONE, c->puts);
  c->fetched = everything(PTL_MD_EVENT_CT_REPLY | sym.unordered, PTL_EQ_NONE, c->gets);
}

/* Until every put has arrived and every get is answered. */
static inline void quiet(struct context* c)
{
  ptl_ct_event_t count;
  CALL(PtlCTWait(c->puts, c->puts_begun, &count));
  EQUAL(count.failure, 0);
  EQUAL(count.success, c->puts_begun);
  CALL(PtlCTWait(c->gets, c->gets_begun, &count));
  EQUAL(count.failure, 0);
  EQUAL(count.success, c->gets_begun);
  c->longer = false;
}

/* What is put from now on arrives after what was put before. */
static inline void fence(struct context* c)
{
  if (c->longer || sym.unordered || !(sym.limits.features & PTL_TOTAL_DATA_ORDERING))
    quiet(c);
}

static inline void context_end(struct context* c)
{
  quiet(c);
  const ptl_handle_md_t descriptors[] = {c->copied, c->told, c->later, c->fetched};
  for (int i = 0; i < 4; ++i)
    CALL(PtlMDRelease(descriptors[i]));
  CALL(PtlCTFree(c->puts));
  CALL(PtlCTFree(c->gets));
  CALL(PtlEQFree(c->queue));
}

/* Every address below the heap is one of the data, as Sandia OpenSHMEM has it. */
static inline ptl_size_t offset_of(const void* place, size_t size, ptl_pt_index_t* index)
{
  const bool in_heap = (const char*)place >= sym.heap;
  const char* begin = in_heap ? sym.heap : __data_start;
  const char* end = in_heap ? sym.heap + heap_size : _end;
  EXPECT((const char*)place >= begin && (const char*)place + size <= end);
  *index = in_heap ? heap_index : data_index;
  return (ptl_size_t)((const char*)place - begin);
}

static inline void put_from(struct context* c, ptl_handle_md_t from_handle, void* to, const void* from, size_t size,
                            int pe)
{
  ptl_pt_index_t index;
  const ptl_size_t offset = offset_of(to, size, &index);
  ++c->puts_begun;
  c->longer |= size > sym.limits.max_waw_ordered_size;
  CALL(PtlPut(from_handle, (ptl_size_t)from, size, PTL_CT_ACK_REQ, process(pe), index, 0, offset, NULL, 0));
}

/* `from` may be changed at once. */
static inline void put(struct context* c, void* to, const void* from, size_t size, int pe)
{
  const bool copied = size <= sym.limits.max_volatile_size;
  put_from(c, copied ? c->copied : c->told, to, from, size, pe);
  if (!copied)
    next_event(c->queue, PTL_EVENT_SEND);
}

/* `from` may be changed after the next quiet(). */
static inline void put_later(struct context* c, void* to, const void* from, size_t size, int pe)
{
  put_from(c, c->later, to, from, size, pe);
}

static inline void put_long(struct context* c, long* to, long value, int pe)
{
  put(c, to, &value, sizeof value, pe);
}

/* There after the next quiet(). */
static inline void get_later(struct context* c, void* to, const void* from, size_t size, int pe)
{
  ptl_pt_index_t index;
  const ptl_size_t offset = offset_of(from, size, &index);
  ++c->gets_begun;
  CALL(PtlGet(c->fetched, (ptl_size_t)to, size, process(pe), index, 0, offset, NULL));
}

static inline void get_done(struct context* c)
{
  ptl_ct_event_t count;
  CALL(PtlCTWait(c->gets, c->gets_begun, &count));
  EQUAL(count.failure, 0);
}

static inline void get(struct context* c, void* to, const void* from, size_t size, int pe)
{
  get_later(c, to, from, size, pe);
  get_done(c);
}

/* Combines what `to` of that PE holds with `value`. */
static inline void atomic(struct context* c, void* to, const void* value, size_t size, int pe, ptl_op_t operation,
                          ptl_datatype_t type)
{
  ptl_pt_index_t index;
  const ptl_size_t offset = offset_of(to, size, &index);
  ++c->puts_begun;
  CALL(PtlAtomic(c->copied, (ptl_size_t)value, size, PTL_OC_ACK_REQ, process(pe), index, 0, offset, NULL, 0, operation,
                 type));
}

/* The same, and brings what it held. */
static inline void fetch_atomic(struct context* c, void* before, void* to, const void* value, size_t size, int pe,
                                ptl_op_t operation, ptl_datatype_t type)
{
  ptl_pt_index_t index;
  const ptl_size_t offset = offset_of(to, size, &index);
  ++c->gets_begun;
  CALL(PtlFetchAtomic(c->fetched, (ptl_size_t)before, c->copied, (ptl_size_t)value, size, process(pe), index, 0, offset,
                      NULL, 0, operation, type));
  get_done(c);
}

/* PTL_SWAP and its conditional forms, which compare with `operand`. */
static inline void swap(struct context* c, void* before, void* to, const void* value, const void* operand, size_t size,
                        int pe, ptl_op_t operation, ptl_datatype_t type)
{
  ptl_pt_index_t index;
  const ptl_size_t offset = offset_of(to, size, &index);
  ++c->gets_begun;
  CALL(PtlSwap(c->fetched, (ptl_size_t)before, c->copied, (ptl_size_t)value, size, process(pe), index, 0, offset, NULL,
               0, operand, operation, type));
  get_done(c);
}

static inline void add_long(struct context* c, long* to, long value, int pe)
{
  atomic(c, to, &value, sizeof value, pe, PTL_SUM, PTL_INT64_T);
}

static inline long fetch_add_long(struct context* c, long* to, long value, int pe)
{
  long before;
  fetch_atomic(c, &before, to, &value, sizeof value, pe, PTL_SUM, PTL_INT64_T);
  return before;
}

/* Of all PEs; every put of the main thread has arrived. In round n each PE tells the one 2^n further on. */
static inline void barrier(void)
{
  static long arrived[32], epoch;
  quiet(&ctx);
  ++epoch;
  for (int round = 0, step = 1; step < job_size; ++round, step *= 2) {
    put_long(&ctx, &arrived[round], epoch, (job_rank + step) % job_size);
    WAIT_UNTIL(&arrived[round], >=, epoch);
  }
}

/* The same address on every PE, relative to its heap; zeroed. */
static inline void* allocate(size_t size)
{
  void* place = sym.heap + sym.heap_used;
  sym.heap_used += (size + 63) & ~(size_t)63;
  EXPECT(sym.heap_used <= heap_size);
  return place;
}

static inline struct exposed_segment expose_segment(ptl_pt_index_t wanted, void* start, size_t size)
{
  struct exposed_segment segment = {.arrivals = sym.uncounted ? PTL_CT_NONE : new_counter(sym.ni)};
  const ptl_le_t entry = {.start = start,
                          .length = size,
                          .ct_handle = segment.arrivals,
                          .uid = PTL_UID_ANY,
                          .options = PTL_LE_OP_PUT | PTL_LE_OP_GET | PTL_LE_EVENT_LINK_DISABLE |
                                     (sym.uncounted ? 0 : PTL_LE_EVENT_CT_COMM)};
  ptl_pt_index_t index;
  CALL(PtlPTAlloc(sym.ni, 0, PTL_EQ_NONE, wanted, &index));
  EQUAL(index, wanted);
  CALL(PtlLEAppend(sym.ni, index, &entry, PTL_PRIORITY_LIST, NULL, &segment.entry));
  return segment;
}

static inline bool argument(int argc, char** argv, const char* word)
{
  for (int i = 1; i < argc; ++i)
    if (strcmp(argv[i], word) == 0)
      return true;
  return false;
}

static inline void symmetric_begin(int argc, char** argv)
{
  const ptl_ni_limits_t wanted = {.max_entries = INT_MAX,
                                  .max_unexpected_headers = INT_MAX,
                                  .max_mds = INT_MAX,
                                  .max_cts = INT_MAX,
                                  .max_eqs = INT_MAX,
                                  .max_pt_index = INT_MAX,
                                  .max_iovecs = INT_MAX,
                                  .max_list_size = INT_MAX,
                                  .max_triggered_ops = INT_MAX,
                                  .max_msg_size = LONG_MAX,
                                  .max_atomic_size = LONG_MAX,
                                  .max_fetch_atomic_size = LONG_MAX,
                                  .max_waw_ordered_size = LONG_MAX,
                                  .max_war_ordered_size = LONG_MAX,
                                  .max_volatile_size = LONG_MAX,
                                  .features = PTL_TOTAL_DATA_ORDERING};
  const bool physical = argument(argc, argv, "physical");
  sym.unordered = argument(argc, argv, "unordered") ? PTL_MD_UNORDERED : 0;
  sym.uncounted = argument(argc, argv, "uncounted");
  CALL(PtlInit());
  job_begin();
  EXPECT(job_size <= most_pes);
  CALL(PtlNIInit(PTL_IFACE_DEFAULT, PTL_NI_NO_MATCHING | (physical ? PTL_NI_PHYSICAL : PTL_NI_LOGICAL), PTL_PID_ANY,
                 &wanted, &sym.limits, &sym.ni));
  EXPECT(sym.limits.max_volatile_size >= 32 && sym.limits.max_atomic_size >= 32 &&
         sym.limits.max_fetch_atomic_size >= 32 && sym.limits.max_msg_size >= heap_size);
  ptl_process_t* map = job_map(sym.ni);
  if (physical) {
    sym.map = map;
  } else {
    CALL(PtlSetMap(sym.ni, (ptl_size_t)job_size, map));
    free(map);
  }

  const uintptr_t gibibyte = (uintptr_t)1 << 30;
  const uintptr_t hint = ((uintptr_t)_end + 2 * gibibyte) & ~(gibibyte - 1);
  sym.heap = mmap((void*)hint, heap_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT(sym.heap != MAP_FAILED && sym.heap >= _end);
  sym.data = expose_segment(data_index, __data_start, (size_t)(_end - __data_start));
  sym.heap_segment = expose_segment(heap_index, sym.heap, heap_size);
  context_begin(&ctx);
  job_barrier(); /* nobody is sent to before its memory is there */
}

static inline void symmetric_end(void)
{
  barrier();
  context_end(&ctx);
  job_barrier(); /* nobody's memory goes before all have what they asked for */
  const struct exposed_segment segments[] = {sym.data, sym.heap_segment};
  for (ptl_pt_index_t i = 0; i < 2; ++i) {
    CALL(PtlLEUnlink(segments[i].entry));
    CALL(PtlPTFree(sym.ni, i == 0 ? data_index : heap_index));
    if (!sym.uncounted)
      CALL(PtlCTFree(segments[i].arrivals));
  }
  CALL(PtlNIFini(sym.ni));
  EXPECT(munmap(sym.heap, heap_size) == 0);
  free(sym.map);
  job_end();
  PtlFini();
}

/* One line of the whole job. */
#define SAY(...)                                                                                                       \
  do                                                                                                                   \
    if (job_rank == 0)                                                                                                 \
      printf(__VA_ARGS__);                                                                                             \
  while (0)
