/* SPDX-License-Identifier: LGPL-2.1-or-later
 * How much fits into the node's /dev/shm (shm_room.c). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

#pragma GCC visibility push(hidden)
/* The rank has named a file in it. */
extern bool umw_shm_used;
/* `path`, as the kernel knows it, or the descriptor lies in it: the status becomes that of the node's tmpfs. */
void umw_shm_status(const char* path, int fd, struct statfs* status);
void umw_shm_status_v(const char* path, int fd, struct statvfs* status);
/* `size` bytes are to be written to `fd` at `offset` (-1: where it stands): *size becomes what fits. False: ENOSPC. */
bool umw_shm_fits(int fd, off_t offset, size_t* size);
#pragma GCC visibility pop
