/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Large transfers between memory of all kinds: anonymous mappings, which worker processes share with the runtime, and
 * others; before and after parts of them have gone and a child process was made. */
#define _GNU_SOURCE
#include "tests/portals_programs/exposed.h"

#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { size = 5 << 18, odd = 4097 };

static unsigned char data[size + odd];
static const char* kinds[] = {"data", "heap", "mapping"};

static unsigned char* memory_of(size_t kind)
{
  if (kind == 0)
    return data;
  void* memory = kind == 1 ? malloc(size + odd)
                           : mmap(NULL, size + odd, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT(memory && memory != MAP_FAILED);
  return memory;
}

static unsigned char value(int rank, size_t kind, size_t i, int turn)
{
  return (unsigned char)(i * 7 + i / 4096 + (size_t)rank * 31 + kind * 3 + (size_t)turn);
}

static void fill(unsigned char* memory, size_t kind, int turn)
{
  for (size_t i = 0; i < size + odd; ++i)
    memory[i] = value(job_rank, kind, i, turn);
}

static void exchange(ptl_handle_ni_t ni, unsigned char* const* sources, unsigned char* const* targets, int turn)
{
  for (size_t from = 0; from < 3; ++from)
    for (size_t to = 0; to < 3; ++to) {
      const ptl_handle_ct_t counter = new_counter(ni);
      const ptl_handle_ct_t arrived = new_counter(ni);
      const struct exposed target =
          expose(ni, 0, sources[from], size + odd, PTL_LE_OP_PUT | PTL_LE_OP_GET | PTL_LE_EVENT_CT_COMM, arrived);
      const ptl_handle_md_t memory = bind_memory(ni, targets[to], size + odd, PTL_MD_EVENT_CT_REPLY, counter);
      fill(sources[from], from, turn);
      if (targets[to] != sources[from])
        memset(targets[to], 0, size + odd);
      job_barrier();
      if (targets[to] != sources[from]) {
        CALL(PtlGet(memory, odd, size, rank_id(next_rank()), target.index, 0, 0, NULL));
        wait_for(counter, 1);
        for (size_t i = 0; i < size; ++i)
          if (targets[to][odd + i] != value(next_rank(), from, i, turn)) {
            fprintf(stderr, "rank %d: byte %zu of a get from %s to %s\n", job_rank, i, kinds[from], kinds[to]);
            exit(1);
          }
        EXPECT(targets[to][0] == 0 && targets[to][odd - 1] == 0);
      }
      job_barrier();
      CALL(PtlMDRelease(memory));
      withdraw(ni, target);
      CALL(PtlCTFree(counter));
      CALL(PtlCTFree(arrived));
      job_barrier();
    }
}

int main(void)
{
  const ptl_handle_ni_t ni = begin_logical(PTL_NI_NO_MATCHING);
  unsigned char* sources[3];
  unsigned char* targets[3];
  for (size_t kind = 0; kind < 3; ++kind) {
    sources[kind] = memory_of(kind);
    targets[kind] = memory_of(kind);
  }
  exchange(ni, sources, targets, 0);

  /* A part is read-only, then it is not; another is new. */
  CALL(mprotect(targets[2] + (1 << 20), 4096, PROT_READ));
  CALL(mprotect(targets[2] + (1 << 20), 4096, PROT_READ | PROT_WRITE));
  EXPECT(mmap(sources[2] + (1 << 20), 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
         sources[2] + (1 << 20));
  exchange(ni, sources, targets, 1);

  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    memset(sources[2], 0, size + odd);
    memset(targets[2], 0, size + odd);
    _exit(7);
  }
  EXPECT(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
  exchange(ni, sources, targets, 2);
  end_portals(ni);
  return 0;
}
