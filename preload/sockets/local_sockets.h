/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sockets of the node (AF_UNIX), and other families that the kernel serves. They are the kernel's; a call that waits
 * does so in simulated time, abstract names are the node's, and paths lead where others do (paths.h). Results are as of
 * the calls of these names. */
#pragma once

#include <sys/socket.h>

#pragma GCC visibility push(hidden)
int umw_local_bind(int fd, const struct sockaddr* address, socklen_t length);
int umw_local_connect(int fd, const struct sockaddr* address, socklen_t length);
int umw_local_accept(int fd, struct sockaddr* address, socklen_t* length, int flags);
int umw_local_name(int fd, struct sockaddr* address, socklen_t* length);
int umw_local_peer(int fd, struct sockaddr* address, socklen_t* length);
ssize_t umw_local_send(int fd, const struct msghdr* message, int flags);
ssize_t umw_local_receive(int fd, struct msghdr* message, int flags);
#pragma GCC visibility pop
