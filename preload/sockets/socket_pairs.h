/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The pair of AF_UNIX sockets behind a simulated one: the program's end is its descriptor, the other goes to the
 * runtime. */
#pragma once

#include "preload/descriptors/descriptors.h"

#pragma GCC visibility push(hidden)
/* The program's end, with SOCK_CLOEXEC of `flags`, and the runtime's in *other; neither is known to the program yet.
 * -1: errno says why not. */
int umw_make_pair(bool datagram, int flags, int* other);
/* Closes an end that the program does not know of. */
void umw_release_pair(int own);
/* A descriptor for socket `number`, of the kind of `like`, or what the runtime answered instead. */
int umw_adopt_pair(int fd, int number, const struct umw_socket* like, int flags);

/* Fills the buffer of the pair, made as small as can be; returns the bytes. */
uint64_t umw_fill_buffer(int fd, struct umw_socket* socket);
/* Once the connection stands: its buffer gets the size it is to have. */
void umw_restore_buffer(int fd, struct umw_socket* socket);
/* After an attempt to connect that has failed: a new pair in the place of the one that ended with it. A negative errno,
 * as services have. */
int umw_renew_pair(int fd, struct umw_socket* socket);
#pragma GCC visibility pop
