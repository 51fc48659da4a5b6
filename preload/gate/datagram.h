/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * In front of every datagram that lies in the pair of sockets behind a simulated UDP socket: where it comes from, or where it is to go
 * (all 0: to the peer of a connected socket). Host byte order. */
#pragma once

#include <stdint.h>

#define UMW_LARGEST_DATAGRAM 65507 /* of UDP over IPv4 */

typedef struct umw_datagram_head {
  uint32_t host;
  uint16_t port;
  uint16_t unused;
} umw_datagram_head;
