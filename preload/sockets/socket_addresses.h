/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Addresses as programs give and get them, and as the gate has them. */
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include "preload/abi/address.h"
#include "preload/descriptors/descriptors.h"

#pragma GCC visibility push(hidden)
enum umw_address_for { umw_for_bind, umw_for_connect, umw_for_sending };

/* What the program gives for a socket. False: errno says why not. */
bool umw_read_address(const struct umw_socket* socket, enum umw_address_for purpose, const struct sockaddr* address,
                      socklen_t length, umw_address* result);
/* As the family of the socket has it; cut to *length, which becomes the length it has. */
void umw_give_address(const struct umw_socket* socket, const umw_address* given, struct sockaddr* address,
                      socklen_t* length);
/* The same with the socket's own address, or with its peer's; -1 and errno as getpeername(2). */
int umw_give_name(const struct umw_socket* socket, int peer, struct sockaddr* address, socklen_t* length);

umw_address umw_address_of_v4(uint32_t host, uint16_t port); /* in host byte order */
umw_address umw_address_of_v6(const struct in6_addr* host, uint16_t port);
bool umw_is_v4(const umw_address* address);
struct sockaddr_in umw_sockaddr_v4(const umw_address* address);  /* of one of IPv4 */
struct sockaddr_in6 umw_sockaddr_v6(const umw_address* address); /* with the scope, if it is link-local */

/* The addresses of the node whose IPv4 address that is. */
umw_address umw_unique_local_of(uint32_t host);
umw_address umw_link_local_of(uint32_t host);
/* IPv4 address, in host byte order, of the node that has this one, whether there is such a node or not; 0: it is not on
 * the network. */
uint32_t umw_v4_of_node(const umw_address* address);
#pragma GCC visibility pop
