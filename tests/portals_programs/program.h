/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a program written directly against Portals 4 needs of its launcher: rank, size, a key-value space and a barrier,
 * over PMI-1 (environment PMI_RANK, PMI_SIZE, PMI_FD; lines of name=value pairs on that descriptor). Everything Portals
 * is in the programs themselves. A program ends with 1 and a line on stderr if anything is not as the specification
 * says.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <portals4.h>

static int job_rank, job_size = 1, job_fd = -1;
static char job_space[256];

#define EXPECT(condition)                                                                                              \
  do                                                                                                                   \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "rank %d: %s:%d: expected %s\n", job_rank, __FILE__, __LINE__, #condition);                      \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  while (0)

/* A Portals call that is to return PTL_OK. */
#define CALL(call)                                                                                                     \
  do {                                                                                                                 \
    const int result_ = (call);                                                                                        \
    if (result_ != PTL_OK) {                                                                                           \
      fprintf(stderr, "rank %d: %s:%d: %s returned %d, expected PTL_OK\n", job_rank, __FILE__, __LINE__, #call,        \
              result_);                                                                                                \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

/* Sends `request` and returns the line that answers it, valid until the next. */
static inline const char* job_ask(const char* request)
{
  static char answer[2048];
  EXPECT(write(job_fd, request, strlen(request)) == (ssize_t)strlen(request));
  size_t length = 0;
  do
    EXPECT(length + 1 < sizeof answer && read(job_fd, answer + length, 1) == 1);
  while (answer[length++] != '\n');
  answer[length - 1] = '\0';
  return answer;
}

/* The value of `name` in an answer, up to the next blank. */
static inline void job_value(const char* answer, const char* name, char* value, size_t size)
{
  char pattern[64];
  snprintf(pattern, sizeof pattern, " %s=", name);
  const char* begin = strstr(answer, pattern);
  EXPECT(begin);
  begin += strlen(pattern);
  const size_t length = strcspn(begin, " ");
  EXPECT(length < size);
  memcpy(value, begin, length);
  value[length] = '\0';
}

static inline void job_begin(void)
{
  EXPECT(getenv("PMI_FD") && getenv("PMI_RANK") && getenv("PMI_SIZE"));
  job_fd = atoi(getenv("PMI_FD"));
  job_rank = atoi(getenv("PMI_RANK"));
  job_size = atoi(getenv("PMI_SIZE"));
  EXPECT(strstr(job_ask("cmd=init pmi_version=1 pmi_subversion=1\n"), "rc=0"));
  job_value(job_ask("cmd=get_my_kvsname\n"), "kvsname", job_space, sizeof job_space);
}

static inline void job_barrier(void)
{
  EXPECT(strncmp(job_ask("cmd=barrier_in\n"), "cmd=barrier_out", 15) == 0);
}

static inline void job_end(void)
{
  EXPECT(strncmp(job_ask("cmd=finalize\n"), "cmd=finalize_ack", 16) == 0);
}

/* Every rank's physical id, of an interface that every rank has initialised in the same order. */
static inline ptl_process_t* job_map(ptl_handle_ni_t ni)
{
  char line[512], value[64];
  ptl_process_t own;
  CALL(PtlGetPhysId(ni, &own));
  snprintf(line, sizeof line, "cmd=put kvsname=%s key=id-%u-%d value=%u,%u\n", job_space, (unsigned)(uintptr_t)ni,
           job_rank, (unsigned)own.phys.nid, (unsigned)own.phys.pid);
  EXPECT(strstr(job_ask(line), "rc=0"));
  job_barrier();
  ptl_process_t* map = calloc((size_t)job_size, sizeof *map);
  for (int rank = 0; rank < job_size; ++rank) {
    unsigned nid, pid;
    snprintf(line, sizeof line, "cmd=get kvsname=%s key=id-%u-%d\n", job_space, (unsigned)(uintptr_t)ni, rank);
    job_value(job_ask(line), "value", value, sizeof value);
    EXPECT(sscanf(value, "%u,%u", &nid, &pid) == 2);
    map[rank].phys.nid = nid;
    map[rank].phys.pid = pid;
  }
  return map;
}

/* The next event, which is to be of this type and without failure. */
static inline ptl_event_t next_event(ptl_handle_eq_t queue, ptl_event_kind_t type)
{
  ptl_event_t event;
  CALL(PtlEQWait(queue, &event));
  if (event.type != type || event.ni_fail_type != PTL_NI_OK) {
    fprintf(stderr, "rank %d: event of type %d, failure %d; expected type %d, no failure\n", job_rank, (int)event.type,
            (int)event.ni_fail_type, (int)type);
    exit(1);
  }
  return event;
}

/* Waits until `count` successes. */
static inline void wait_for(ptl_handle_ct_t counter, ptl_size_t count)
{
  ptl_ct_event_t value;
  CALL(PtlCTWait(counter, count, &value));
  EXPECT(value.success >= count && value.failure == 0);
}

static inline ptl_handle_ct_t new_counter(ptl_handle_ni_t ni)
{
  ptl_handle_ct_t counter;
  CALL(PtlCTAlloc(ni, &counter));
  return counter;
}

static inline ptl_handle_ni_t begin_portals(unsigned options)
{
  ptl_handle_ni_t ni;
  CALL(PtlInit());
  job_begin();
  CALL(PtlNIInit(PTL_IFACE_DEFAULT, options, PTL_PID_ANY, NULL, NULL, &ni));
  return ni;
}

/* A logical interface: rank numbers instead of nid and pid. */
static inline ptl_handle_ni_t begin_logical(unsigned options)
{
  const ptl_handle_ni_t ni = begin_portals(options | PTL_NI_LOGICAL);
  ptl_process_t* map = job_map(ni);
  CALL(PtlSetMap(ni, (ptl_size_t)job_size, map));
  free(map);
  job_barrier(); /* nobody is sent to before it has its map */
  return ni;
}

static inline void end_portals(ptl_handle_ni_t ni)
{
  job_barrier();
  CALL(PtlNIFini(ni));
  job_end();
  PtlFini();
}

static inline ptl_process_t rank_id(int rank)
{
  ptl_process_t id;
  id.rank = (ptl_rank_t)rank;
  return id;
}

static inline int next_rank(void)
{
  return (job_rank + 1) % job_size;
}

static inline int previous_rank(void)
{
  return (job_rank + job_size - 1) % job_size;
}
