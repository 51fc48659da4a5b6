/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Addresses of simulated sockets as they cross the gate, and those of the nodes. IPv4 addresses are ::ffff:a.b.c.d (RFC
 * 4291, 2.5.5.2). Node n has 10.0.0.1 + n, and the same 32 bits at the end of a unique local address (RFC 4193) and of
 * a link-local one. */
#pragma once

#include <stdint.h>

/* The first 8 bytes of all nodes' addresses; the next 4 are 0. */
#define UMW_UNIQUE_LOCAL 0xfd62786900000000u /* fd62:7869::/64 */
#define UMW_LINK_LOCAL 0xfe80000000000000u   /* fe80::/64 */

#define UMW_STREAM_WINDOW (512 * 1024) /* bytes of a stream that may be under way or wait at the receiver */

/* The interfaces of a node (if_nametoindex) */
#define UMW_LOOPBACK_INDEX 1
#define UMW_NETWORK_INDEX 2

typedef struct umw_address {
  uint64_t high, low; /* of the IPv6 address, in host byte order */
  uint16_t port;      /* likewise */
  uint16_t unused[3];
} umw_address;
