/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Both ends of a transfer as most of these programs want them: memory behind a portal table entry of its own that every
 * rank may use, and a memory descriptor without an event queue. PTL_CT_NONE stands for no counter. */
#pragma once

#include "tests/portals_programs/program.h"

struct exposed {
  ptl_pt_index_t index;
  ptl_handle_le_t entry;
};

/* On a non-matching interface. */
static inline struct exposed expose(ptl_handle_ni_t ni, ptl_pt_index_t wanted, void* start, ptl_size_t length,
                                    unsigned options, ptl_handle_ct_t counter)
{
  const ptl_le_t entry = {
      .start = start, .length = length, .ct_handle = counter, .uid = PTL_UID_ANY, .options = options};
  struct exposed memory;
  CALL(PtlPTAlloc(ni, 0, PTL_EQ_NONE, wanted, &memory.index));
  CALL(PtlLEAppend(ni, memory.index, &entry, PTL_PRIORITY_LIST, NULL, &memory.entry));
  return memory;
}

/* On a matching interface; any match bits will do. */
static inline struct exposed expose_matching(ptl_handle_ni_t ni, ptl_pt_index_t wanted, void* start, ptl_size_t length,
                                             unsigned options, ptl_handle_ct_t counter)
{
  const ptl_me_t entry = {.start = start,
                          .length = length,
                          .ct_handle = counter,
                          .uid = PTL_UID_ANY,
                          .options = options,
                          .match_id = {.rank = PTL_RANK_ANY},
                          .ignore_bits = ~(ptl_match_bits_t)0};
  struct exposed memory;
  CALL(PtlPTAlloc(ni, 0, PTL_EQ_NONE, wanted, &memory.index));
  CALL(PtlMEAppend(ni, memory.index, &entry, PTL_PRIORITY_LIST, NULL, &memory.entry));
  return memory;
}

static inline void withdraw(ptl_handle_ni_t ni, struct exposed memory)
{
  CALL(PtlLEUnlink(memory.entry));
  CALL(PtlPTFree(ni, memory.index));
}

static inline void withdraw_matching(ptl_handle_ni_t ni, struct exposed memory)
{
  CALL(PtlMEUnlink(memory.entry));
  CALL(PtlPTFree(ni, memory.index));
}

static inline ptl_handle_md_t bind_memory(ptl_handle_ni_t ni, void* start, ptl_size_t length, unsigned options,
                                          ptl_handle_ct_t counter)
{
  const ptl_md_t memory = {
      .start = start, .length = length, .options = options, .eq_handle = PTL_EQ_NONE, .ct_handle = counter};
  ptl_handle_md_t handle;
  CALL(PtlMDBind(ni, &memory, &handle));
  return handle;
}
