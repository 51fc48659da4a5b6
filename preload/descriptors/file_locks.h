/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Locks of files: fcntl(2), lockf(3), flock(2). Who has which is kept by the runtime (runtime/job/file_locks.h), since
 * the kernel takes all ranks of a process for one; here is which file and which open file description a descriptor
 * leads to. */
#pragma once

#include <fcntl.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* F_SETLK and the like. `fd` is the process's number, as everywhere in this file. */
bool umw_is_lock_command(int command);
int umw_lock_command(int fd, int command, struct flock* lock);

/* `to` leads to the same open file description as `from` (dup). */
void umw_locks_copied(int from, int to);
/* The rank is about to close `fd`: what goes with it is released. Keeps errno. */
void umw_locks_closing(int fd);
#pragma GCC visibility pop
