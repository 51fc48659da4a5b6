/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bootstrap.h"

#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pmix_proc_t self;
static int connected;

_Noreturn void end_job(int code, const char* text)
{
  fprintf(stderr, "ptlbench: %s\n", text);
  if (connected)
    PMIx_Abort(code, text, NULL, 0);
  exit(code);
}

static void expect(const char* call, pmix_status_t status)
{
  if (status == PMIX_SUCCESS)
    return;
  char text[256];
  snprintf(text, sizeof text, "%s: expected the launcher to answer, got %s. Start it with: umwelt run -np 2 ptlbench",
           call, PMIx_Error_string(status));
  end_job(1, text);
}

struct job bootstrap(void)
{
  expect("PMIx_Init", PMIx_Init(&self, NULL, 0));
  connected = 1;
  pmix_proc_t everybody;
  PMIX_PROC_CONSTRUCT(&everybody);
  memcpy(everybody.nspace, self.nspace, sizeof self.nspace);
  everybody.rank = PMIX_RANK_WILDCARD;
  pmix_value_t* size = NULL;
  expect("PMIx_Get(job size)", PMIx_Get(&everybody, PMIX_JOB_SIZE, NULL, 0, &size));
  const struct job job = {(int)self.rank, (int)size->data.uint32};
  PMIX_VALUE_RELEASE(size);
  return job;
}

void barrier(void)
{
  expect("PMIx_Fence", PMIx_Fence(NULL, 0, NULL, 0));
}

void exchange(const struct job* job, const void* mine, size_t size, void* all)
{
  pmix_value_t value;
  PMIX_VALUE_CONSTRUCT(&value);
  value.type = PMIX_BYTE_OBJECT;
  value.data.bo.bytes = (char*)(size_t)mine; /* read only */
  value.data.bo.size = size;
  expect("PMIx_Put", PMIx_Put(PMIX_GLOBAL, "ptlbench.process", &value));
  expect("PMIx_Commit", PMIx_Commit());
  barrier();
  for (int rank = 0; rank < job->size; ++rank) {
    pmix_proc_t other = self;
    other.rank = (pmix_rank_t)rank;
    pmix_value_t* theirs = NULL;
    expect("PMIx_Get(process)", PMIx_Get(&other, "ptlbench.process", NULL, 0, &theirs));
    if (theirs->type != PMIX_BYTE_OBJECT || theirs->data.bo.size != size)
      end_job(1, "the other rank published something else. Start all ranks from the same program");
    memcpy((char*)all + (size_t)rank * size, theirs->data.bo.bytes, size);
    PMIX_VALUE_RELEASE(theirs);
  }
}

void leave(void)
{
  expect("PMIx_Finalize", PMIx_Finalize(NULL, 0));
  connected = 0;
}
