// SPDX-License-Identifier: LGPL-2.1-or-later
// Where messages go that nobody waits for yet: short ones into blocks of the overflow list, one after the other; of
// long ones the header is kept. Blocks are added while a program lets more come than it takes.
#include "provider.h"

#include <stdlib.h>
#include <sys/mman.h>

static ptl_pt_index_t entry_of(const struct endpoint* endpoint, bool tagged)
{
  return tagged ? endpoint->name.tagged_pt : endpoint->name.message_pt;
}

static int link_block(struct block* block)
{
  const struct endpoint* const endpoint = block->endpoint;
  const ptl_me_t me = {.start = block->memory,
                       .length = BLOCK_SIZE,
                       .ct_handle = PTL_CT_NONE,
                       .uid = PTL_UID_ANY,
                       .options = PTL_ME_OP_PUT | PTL_ME_MANAGE_LOCAL | PTL_ME_MAY_ALIGN | PTL_ME_EVENT_LINK_DISABLE |
                                  PTL_ME_EVENT_COMM_DISABLE,
                       .match_id.phys = {PTL_NID_ANY, PTL_PID_ANY},
                       .match_bits = 0,
                       .ignore_bits = ~LONG_BIT,
                       .min_free = endpoint->domain->eager_size};
  const int code = PtlMEAppend(endpoint->domain->ni, entry_of(endpoint, block->tagged), &me, PTL_OVERFLOW_LIST,
                               &block->origin, &block->me);
  block->linked = code == PTL_OK;
  return umw_fi_error(code);
}

static int add_block(struct endpoint* endpoint, bool tagged)
{
  struct block* const block = calloc(1, sizeof *block);
  if (block == NULL)
    return -FI_ENOMEM;
  block->memory = mmap(NULL, BLOCK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block->memory == MAP_FAILED) {
    free(block);
    return -FI_ENOMEM;
  }
  block->origin = OF_BLOCK;
  block->endpoint = endpoint;
  block->tagged = tagged;
  const int error = link_block(block);
  if (error != 0) {
    munmap(block->memory, BLOCK_SIZE);
    free(block);
    return error;
  }
  block->next = endpoint->blocks;
  endpoint->blocks = block;
  return 0;
}

static void reuse(struct block* block)
{
  madvise(block->memory, BLOCK_SIZE, MADV_DONTNEED);
  link_block(block);
}

static void keep_linked(struct endpoint* endpoint, bool tagged)
{
  int linked = 0;
  for (const struct block* block = endpoint->blocks; block != NULL; block = block->next)
    linked += block->tagged == tagged && block->linked;
  while (linked++ < BLOCKS / 2)
    if (add_block(endpoint, tagged) != 0)
      return;
}

void umw_fi_block_event(struct block* block, const ptl_event_t* event)
{
  if (event->type == PTL_EVENT_AUTO_UNLINK)
    block->linked = false;
  if (!block->endpoint->enabled) // it is about to be closed
    return;
  if (event->type == PTL_EVENT_AUTO_UNLINK)
    keep_linked(block->endpoint, block->tagged);
  else if (event->type == PTL_EVENT_AUTO_FREE)
    reuse(block);
}

void umw_fi_disabled(struct domain* domain, ptl_pt_index_t index)
{
  for (struct endpoint* endpoint = domain->endpoints; endpoint != NULL; endpoint = endpoint->next)
    for (int tagged = 0; tagged < 2; ++tagged)
      if (endpoint->enabled && entry_of(endpoint, tagged) == index)
        keep_linked(endpoint, tagged);
  PtlPTEnable(domain->ni, index);
}

int umw_fi_open_blocks(struct endpoint* endpoint)
{
  struct domain* const domain = endpoint->domain;
  for (int tagged = 0; tagged < 2; ++tagged) {
    const ptl_me_t me = {.ct_handle = PTL_CT_NONE,
                         .uid = PTL_UID_ANY,
                         .options = PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_COMM_DISABLE |
                                    PTL_ME_EVENT_UNLINK_DISABLE,
                         .match_id.phys = {PTL_NID_ANY, PTL_PID_ANY},
                         .match_bits = LONG_BIT,
                         .ignore_bits = ~LONG_BIT};
    int error = umw_fi_error(PtlMEAppend(domain->ni, entry_of(endpoint, tagged), &me, PTL_OVERFLOW_LIST, NULL,
                                         &endpoint->long_headers[tagged]));
    for (int i = 0; i < BLOCKS && error == 0; ++i)
      error = add_block(endpoint, tagged);
    if (error != 0)
      return error;
  }
  return 0;
}

// Unexpected headers that nobody will ask for any more keep entries in use.
static void drop_headers(struct endpoint* endpoint, bool tagged)
{
  static enum origin nothing = OF_NOTHING;
  const ptl_me_t all = {.ct_handle = PTL_CT_NONE,
                        .uid = PTL_UID_ANY,
                        .options = PTL_ME_OP_PUT,
                        .match_id.phys = {PTL_NID_ANY, PTL_PID_ANY},
                        .ignore_bits = ~UINT64_C(0)};
  PtlMESearch(endpoint->domain->ni, entry_of(endpoint, tagged), &all, PTL_SEARCH_DELETE, &nothing);
}

void umw_fi_close_blocks(struct endpoint* endpoint)
{
  struct domain* const domain = endpoint->domain;
  for (int tagged = 0; tagged < 2; ++tagged)
    drop_headers(endpoint, tagged);
  umw_fi_drain(domain);
  for (int tagged = 0; tagged < 2; ++tagged)
    if (endpoint->long_headers[tagged] != PTL_INVALID_HANDLE)
      PtlMEUnlink(endpoint->long_headers[tagged]);
  for (struct block* block = endpoint->blocks; block != NULL; block = block->next)
    if (block->linked)
      PtlMEUnlink(block->me);
  umw_fi_drain(domain); // no event may name a block any more
  while (endpoint->blocks != NULL) {
    struct block* const block = endpoint->blocks;
    endpoint->blocks = block->next;
    munmap(block->memory, BLOCK_SIZE);
    free(block);
  }
  for (int tagged = 0; tagged < 2; ++tagged)
    PtlPTFree(domain->ni, entry_of(endpoint, tagged));
}
