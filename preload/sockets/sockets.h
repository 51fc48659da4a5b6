/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Reading from and writing to simulated sockets, for the calls that know descriptors only. */
#pragma once

#include <sys/socket.h>

#include "preload/descriptors/descriptors.h"

#pragma GCC visibility push(hidden)
ssize_t umw_socket_send(int fd, struct umw_socket* socket, const struct msghdr* message, int flags);
ssize_t umw_socket_receive(int fd, struct umw_socket* socket, struct msghdr* message, int flags);
/* interfaces.c: the requests of netdevice(7). -1 and errno as ioctl(2). */
int umw_interface_request(const struct umw_socket* socket, unsigned long request, void* argument);
#pragma GCC visibility pop
