/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * In front of every datagram that lies in the pair of sockets behind a simulated UDP socket: where it comes from, or
 * where it is to go (all 0: to the peer of a connected socket). */
#pragma once

#include "preload/abi/address.h"

#define UMW_LARGEST_DATAGRAM 65527    /* of UDP over IPv6 */
#define UMW_LARGEST_DATAGRAM_V4 65507 /* of UDP over IPv4 */

typedef struct umw_datagram_head {
  umw_address address;
} umw_datagram_head;
