/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Portals 4 in the BXI ABI, for tests of its translation (preload/portals/ABIS.md) and what implements its own
 * functions. Comments on what all ABIs have in common are those of preload/abi/portals4.h; the numbers are those of
 * S4BXI's public header. */
#ifndef PORTALS4_H
#define PORTALS4_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/abi/portals_bxi/layouts.h"
#include "preload/abi/table.h"

#ifdef __cplusplus
extern "C" {
#endif

#define UMW_PTL_BXI(name, four_three, four_two, bxi) name = bxi,
#define UMW_PTL_RETURN UMW_PTL_BXI
#define UMW_PTL_NI_OPTION UMW_PTL_BXI
#define UMW_PTL_FEATURE UMW_PTL_BXI
#define UMW_PTL_PT_OPTION UMW_PTL_BXI
#define UMW_PTL_IOVEC UMW_PTL_BXI
#define UMW_PTL_MD_OPTION UMW_PTL_BXI
#define UMW_PTL_ENTRY_OPTION(name, four_three, four_two, bxi) PTL_ME_##name = bxi, PTL_LE_##name = bxi,
#define UMW_PTL_ME_OPTION UMW_PTL_BXI
#define UMW_PTL_LIST UMW_PTL_BXI
#define UMW_PTL_SEARCH UMW_PTL_BXI
#define UMW_PTL_FAIL_TYPE UMW_PTL_BXI
#define UMW_PTL_ACK UMW_PTL_BXI
/* What BXI does not have gets UMW_ABSENT, which no call accepts. */
enum ptl_constants {
#include "preload/abi/portals_constants.def"
};
#define UMW_PTL_REGISTER UMW_PTL_BXI
typedef enum ptl_sr_index {
#include "preload/abi/portals_constants.def"
} ptl_sr_index_t;
#define UMW_PTL_EVENT UMW_PTL_BXI
typedef enum ptl_event_kind {
#include "preload/abi/portals_constants.def"
} ptl_event_kind_t;
#define UMW_PTL_OP UMW_PTL_BXI
typedef enum ptl_op {
#include "preload/abi/portals_constants.def"
} ptl_op_t;
#define UMW_PTL_DATATYPE UMW_PTL_BXI
typedef enum ptl_datatype {
#include "preload/abi/portals_constants.def"
} ptl_datatype_t;
#undef UMW_PTL_BXI

typedef uint64_t ptl_size_t;
typedef uint64_t ptl_match_bits_t;
typedef uint64_t ptl_hdr_data_t;
typedef unsigned int ptl_index_t;
typedef unsigned int ptl_pt_index_t;
typedef unsigned int ptl_search_op_t;
typedef unsigned int ptl_ni_fail_t;
typedef unsigned int ptl_nid_t;
typedef unsigned int ptl_pid_t;
typedef unsigned int ptl_rank_t;
typedef int ptl_uid_t;
typedef int ptl_interface_t;
typedef int ptl_ack_req_t;
typedef int ptl_list_t;
typedef int ptl_sr_value_t;
typedef long ptl_time_t; /* milliseconds */

typedef void* ptl_handle_any_t;
typedef ptl_handle_any_t ptl_handle_ni_t;
typedef ptl_handle_any_t ptl_handle_eq_t;
typedef ptl_handle_any_t ptl_handle_ct_t;
typedef ptl_handle_any_t ptl_handle_md_t;
typedef ptl_handle_any_t ptl_handle_le_t;
typedef ptl_handle_any_t ptl_handle_me_t;

#define PTL_EQ_NONE ((ptl_handle_eq_t)NULL)
#define PTL_CT_NONE ((ptl_handle_ct_t)NULL)
#define PTL_INVALID_HANDLE ((ptl_handle_any_t)NULL)
#define PTL_IFACE_DEFAULT ((ptl_interface_t)0)
#define PTL_PID_ANY ((ptl_pid_t)0)
#define PTL_PID_MAX ((ptl_pid_t)4095)
#define PTL_NID_ANY ((ptl_nid_t)0)
#define PTL_UID_ANY ((ptl_uid_t)-1)
#define PTL_PT_ANY ((ptl_pt_index_t)0xffffffff)
#define PTL_RANK_ANY ((ptl_rank_t)0x7fffff)
#define PTL_TIME_FOREVER ((ptl_time_t)-1)
#define PTL_SIZE_MAX ((ptl_size_t)0xffffffffffff)

typedef union umw_bxi_process ptl_process_t;
typedef struct umw_bxi_md ptl_md_t;
typedef struct umw_bxi_me ptl_le_t;
typedef struct umw_bxi_me ptl_me_t;
typedef struct umw_bxi_event ptl_event_t;

/* As in 4.3. */
typedef struct {
  void* iov_base;
  ptl_size_t iov_len;
} ptl_iovec_t;
typedef struct {
  ptl_size_t success;
  ptl_size_t failure;
} ptl_ct_event_t;
typedef struct {
  int max_entries;
  int max_unexpected_headers;
  int max_mds;
  int max_cts;
  int max_eqs;
  int max_pt_index;
  int max_iovecs;
  int max_list_size;
  int max_triggered_ops;
  ptl_size_t max_msg_size;
  ptl_size_t max_atomic_size;
  ptl_size_t max_fetch_atomic_size;
  ptl_size_t max_waw_ordered_size;
  ptl_size_t max_war_ordered_size;
  ptl_size_t max_volatile_size;
  unsigned int features;
} ptl_ni_limits_t;

#define UMW_CALL(result_type, name, kind, version, level, note, ...)                                                   \
  result_type name(__VA_OPT__(UMW_LIST(UMW_PARAMETER, __VA_ARGS__)));
#define UMW_CALL_VOID(name, kind, version, level, note, ...)                                                           \
  void name(__VA_OPT__(UMW_LIST(UMW_PARAMETER, __VA_ARGS__)));
#include "preload/abi/tables/portals.def"
#undef UMW_CALL
#undef UMW_CALL_VOID

/* ---- BXI's own functions (preload/abi/tables/portals_bxi.def) ---- */

#define UMW_PTL_NOT_BLOCKING(name, of) __typeof__(of) name;
#define UMW_LOCAL(name, version, level, note)
#include "preload/abi/tables/portals_bxi.def"
#undef UMW_PTL_NOT_BLOCKING
#undef UMW_LOCAL

typedef struct ptl_activate_hook* ptl_activate_hook_t;
#define PTL_ACTIVATE_ATTACH 0
#define PTL_ACTIVATE_DETACH 1
/* callback: of a NIC that comes or goes. */
int PtlActivateHookAdd(void (*callback)(void* argument, unsigned int nic, int what), void* argument,
                       ptl_activate_hook_t* hook);
int PtlActivateHookRemove(ptl_activate_hook_t hook);

int PtlGetHwid(ptl_handle_ni_t ni_handle, uint64_t* id, uint64_t* version);
/* callback: of an event queue that has events. */
int PtlEQAllocAsync(ptl_handle_ni_t ni_handle, ptl_size_t count, ptl_handle_eq_t* eq_handle,
                    void (*callback)(void* argument, ptl_handle_eq_t eq_handle), void* argument, int hint);
/* Waiting for events by poll(2): how many descriptors, which, and what has come of them. */
int PtlNFDs(ptl_handle_ni_t ni_handle);
int PtlPollFDs(ptl_handle_ni_t ni_handle, struct pollfd* descriptors, int events);
int PtlPollEvents(ptl_handle_ni_t ni_handle, struct pollfd* descriptors);

/* Of portals4_bxiext.h: the name of a constant. */
enum ptl_str_type { PTL_STR_ERROR, PTL_STR_EVENT, PTL_STR_FAIL_TYPE };
const char* PtlToStr(int value, enum ptl_str_type type);
/* How many numbers there are for how an operation failed. */
int PtlFailTypeSize(void);

#ifdef __cplusplus
}
#endif

#endif /* PORTALS4_H */
