/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "endpoint.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bootstrap.h"

static const char* result_name(int result)
{
  static const char* const names[] = {
      "PTL_OK",      "PTL_ARG_INVALID",  "PTL_CT_NONE_REACHED", "PTL_EQ_DROPPED", "PTL_EQ_EMPTY", "PTL_FAIL",
      "PTL_IGNORED", "PTL_IN_USE",       "PTL_LIST_TOO_LONG",   "PTL_NO_INIT",    "PTL_NO_SPACE", "PTL_PID_IN_USE",
      "PTL_PT_FULL", "PTL_PT_EQ_NEEDED", "PTL_PT_IN_USE",       "PTL_ABORTED"};
  return result >= 0 && (size_t)result < sizeof names / sizeof *names ? names[result] : "an unknown result";
}

void check(const char* call, int result)
{
  if (result == PTL_OK)
    return;
  char text[160];
  snprintf(text, sizeof text, "%s: expected PTL_OK, got %s", call, result_name(result));
  end_job(1, text);
}

static void* allocate(size_t size)
{
  /* Page-aligned: what a page more costs must not depend on where malloc puts the buffer. */
  const size_t page = 4096;
  void* memory = size > SIZE_MAX - page ? NULL : aligned_alloc(page, (size + page) / page * page);
  if (!memory)
    end_job(1, "not enough memory. Ask for smaller sizes, counts or --entries");
  memset(memory, 0, size);
  return memory;
}

static void append_entries(struct endpoint* endpoint, size_t size, size_t entries)
{
  ptl_me_t entry = {.start = endpoint->buffer,
                    .length = size,
                    .ct_handle = PTL_CT_NONE,
                    .uid = PTL_UID_ANY,
                    .options = PTL_ME_OP_PUT | PTL_ME_OP_GET | PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE,
                    .match_id = {.phys = {PTL_NID_ANY, PTL_PID_ANY}}};
  if (!endpoint->roles.target_events || endpoint->roles.counting)
    entry.options |= PTL_ME_EVENT_COMM_DISABLE;
  if (endpoint->roles.target_events && endpoint->roles.counting) {
    entry.options |= PTL_ME_EVENT_CT_COMM;
    entry.ct_handle = endpoint->counter;
  }
  endpoint->entry_count = entries;
  endpoint->entries = allocate(entries * sizeof *endpoint->entries);
  for (size_t i = 0; i < entries; ++i) {
    entry.match_bits = entries - 1 - i; /* messages have 0: the last entry takes them */
    check("PtlMEAppend",
          PtlMEAppend(endpoint->ni, endpoint->data, &entry, PTL_PRIORITY_LIST, NULL, &endpoint->entries[i]));
  }
  entry.match_bits = 0;
  entry.start = NULL;
  entry.length = 0;
  entry.options &= ~(unsigned)(PTL_ME_EVENT_COMM_DISABLE | PTL_ME_EVENT_CT_COMM);
  entry.ct_handle = PTL_CT_NONE;
  check("PtlMEAppend",
        PtlMEAppend(endpoint->ni, endpoint->control, &entry, PTL_PRIORITY_LIST, NULL, &endpoint->control_entry));
}

static void bind_buffer(struct endpoint* endpoint, size_t size)
{
  ptl_md_t md = {
      .start = endpoint->buffer, .length = size, .eq_handle = endpoint->completions, .ct_handle = PTL_CT_NONE};
  if (!endpoint->roles.send_events)
    md.options |= PTL_MD_EVENT_SEND_DISABLE;
  if (endpoint->roles.counting) {
    md.options |= PTL_MD_EVENT_CT_ACK;
    md.ct_handle = endpoint->counter;
    md.eq_handle = PTL_EQ_NONE;
  }
  check("PtlMDBind", PtlMDBind(endpoint->ni, &md, &endpoint->md));
}

void rebind_buffer(struct endpoint* endpoint, size_t size)
{
  check("PtlMDRelease", PtlMDRelease(endpoint->md));
  bind_buffer(endpoint, size);
}

void open_endpoint(struct endpoint* endpoint, const struct roles* roles, size_t size, size_t queue, size_t entries)
{
  const struct job job = bootstrap();
  if (job.size != 2) {
    char text[160];
    snprintf(text, sizeof text, "expected 2 ranks, got %d. Start it with: umwelt run -np 2 ptlbench", job.size);
    end_job(2, text);
  }
  *endpoint = (struct endpoint){.rank = job.rank, .roles = *roles};
  check("PtlInit", PtlInit());
  check("PtlNIInit",
        PtlNIInit(PTL_IFACE_DEFAULT, PTL_NI_MATCHING | PTL_NI_PHYSICAL, PTL_PID_ANY, NULL, NULL, &endpoint->ni));
  ptl_process_t mine;
  ptl_process_t all[2];
  check("PtlGetPhysId", PtlGetPhysId(endpoint->ni, &mine));
  exchange(&job, &mine, sizeof mine, all);
  endpoint->peer = all[1 - job.rank];

  endpoint->buffer = allocate(size);
  check("PtlEQAlloc", PtlEQAlloc(endpoint->ni, queue, &endpoint->completions));
  check("PtlEQAlloc", PtlEQAlloc(endpoint->ni, queue, &endpoint->arrivals));
  check("PtlCTAlloc", PtlCTAlloc(endpoint->ni, &endpoint->counter));
  check("PtlPTAlloc", PtlPTAlloc(endpoint->ni, 0, endpoint->arrivals, 0, &endpoint->data));
  check("PtlPTAlloc", PtlPTAlloc(endpoint->ni, 0, endpoint->arrivals, 1, &endpoint->control));
  bind_buffer(endpoint, size);
  const ptl_md_t control = {.eq_handle = PTL_EQ_NONE, .ct_handle = PTL_CT_NONE};
  check("PtlMDBind", PtlMDBind(endpoint->ni, &control, &endpoint->control_md));
  append_entries(endpoint, size, entries);
}

void close_endpoint(struct endpoint* endpoint)
{
  barrier();
  for (size_t i = 0; i < endpoint->entry_count; ++i)
    check("PtlMEUnlink", PtlMEUnlink(endpoint->entries[i]));
  check("PtlMEUnlink", PtlMEUnlink(endpoint->control_entry));
  check("PtlMDRelease", PtlMDRelease(endpoint->md));
  check("PtlMDRelease", PtlMDRelease(endpoint->control_md));
  check("PtlPTFree", PtlPTFree(endpoint->ni, endpoint->data));
  check("PtlPTFree", PtlPTFree(endpoint->ni, endpoint->control));
  check("PtlCTFree", PtlCTFree(endpoint->counter));
  check("PtlEQFree", PtlEQFree(endpoint->completions));
  check("PtlEQFree", PtlEQFree(endpoint->arrivals));
  check("PtlNIFini", PtlNIFini(endpoint->ni));
  PtlFini();
  free(endpoint->entries);
  free(endpoint->buffer);
  leave();
}
