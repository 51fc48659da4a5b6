/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Portals 4 in the ABI of version 4.2 of the public reference implementation, for tests of its translation
 * (preload/portals/ABIS.md): structures and functions of 4.3, and the numbers of 4.2 where those are others. That
 * these are those of preload/abi/portals_constants.def is what tests/preload/abi checks. */
#ifndef PORTALS4_4_2_H
#define PORTALS4_4_2_H

#define PORTALS4_NO_NOTE /* it would say 4.3 */
#include "preload/abi/portals4.h"

/* macros, since the names are those of an enumeration already */
#undef PTL_INTERRUPTED
#define PTL_INTERRUPTED 8
#define PTL_LIST_TOO_LONG 9
#define PTL_NO_INIT 10
#define PTL_NO_SPACE 11
#define PTL_PID_IN_USE 12
#define PTL_PT_FULL 13
#define PTL_PT_EQ_NEEDED 14
#define PTL_PT_IN_USE 15
/* 4.3 only */
#define PTL_ABORTED ABORTED_is_not_in_4_2
#undef PTL_PT_ALLOC_DISABLED
#undef PTL_MD_UNRELIABLE
#undef PTL_ME_LOCAL_INC_UH_RLENGTH

#undef PTL_MD_EVENT_CT_BYTES
#define PTL_MD_EVENT_CT_BYTES (1 << 15)

#undef PTL_ME_ACK_DISABLE
#undef PTL_ME_UNEXPECTED_HDR_DISABLE
#undef PTL_ME_IS_ACCESSIBLE
#undef PTL_ME_EVENT_LINK_DISABLE
#undef PTL_ME_EVENT_COMM_DISABLE
#undef PTL_ME_EVENT_FLOWCTRL_DISABLE
#undef PTL_ME_EVENT_SUCCESS_DISABLE
#undef PTL_ME_EVENT_OVER_DISABLE
#undef PTL_ME_EVENT_UNLINK_DISABLE
#undef PTL_ME_EVENT_CT_COMM
#undef PTL_ME_EVENT_CT_OVERFLOW
#undef PTL_ME_EVENT_CT_BYTES
#undef PTL_ME_MANAGE_LOCAL
#undef PTL_ME_NO_TRUNCATE
#undef PTL_ME_MAY_ALIGN
#define PTL_ME_ACK_DISABLE (1 << 4) /* all below: one bit higher than in 4.3 */
#define PTL_ME_UNEXPECTED_HDR_DISABLE (1 << 5)
#define PTL_ME_IS_ACCESSIBLE (1 << 6)
#define PTL_ME_EVENT_LINK_DISABLE (1 << 7)
#define PTL_ME_EVENT_COMM_DISABLE (1 << 8)
#define PTL_ME_EVENT_FLOWCTRL_DISABLE (1 << 9)
#define PTL_ME_EVENT_SUCCESS_DISABLE (1 << 10)
#define PTL_ME_EVENT_OVER_DISABLE (1 << 11)
#define PTL_ME_EVENT_UNLINK_DISABLE (1 << 12)
#define PTL_ME_EVENT_CT_COMM (1 << 13)
#define PTL_ME_EVENT_CT_OVERFLOW (1 << 14)
#define PTL_ME_EVENT_CT_BYTES (1 << 15)
#define PTL_ME_MANAGE_LOCAL (1 << 16)
#define PTL_ME_NO_TRUNCATE (1 << 17)
#define PTL_ME_MAY_ALIGN (1 << 18)

#endif /* PORTALS4_4_2_H */
