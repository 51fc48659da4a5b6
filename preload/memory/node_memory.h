/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Memory that the rank may share with others of its node (node_memory.c). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)
/* A file was mapped with MAP_SHARED, from `offset` on. */
void umw_note_mapped(const void* address, size_t size, int fd, uint64_t offset);
/* What was mapped there is there no longer. */
void umw_note_unmapped(const void* address, size_t size);
/* It lies somewhere else now, with that size. */
void umw_note_moved(const void* address, size_t size, const void* moved, size_t new_size);
/* Where an object lies for all ranks that have it mapped. False: in no such memory. */
struct umw_place {
  uint64_t device, inode, offset;
};
bool umw_shared_place(const void* address, struct umw_place* place);
#pragma GCC visibility pop
