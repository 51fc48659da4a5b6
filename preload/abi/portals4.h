/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Portals 4.3 application interface: the ABI of the public reference implementation (layouts and values), written
 * anew. Valid C99 and C++. Section numbers in comments are those of the Portals 4 specification.
 *
 * Beyond 4.3 it offers what programs written for its neighbours use:
 *   4.2: PTL_INTERRUPTED, PTL_ME_ACK_DISABLE, PTL_LE_ACK_DISABLE
 *   BXI: PtlNIAtomicSync
 *   reference implementation: PtlTriggeredMEAppend, PtlTriggeredMEUnlink; here also their LE twins
 *
 * Unless said otherwise every function returns PTL_OK, PTL_NO_INIT before PtlInit, and PTL_ARG_INVALID for a handle,
 * index, pointer or option that is not valid; only further codes are listed.
 */
#ifndef PORTALS4_H
#define PORTALS4_H

#include <stdint.h>

/* A note that says which numbers an object was compiled with. Nothing but `umwelt run` reads it: 4.2 and 4.3 have the
 * same functions under the same library name. */
#if defined(__ELF__) && defined(__GNUC__) && !defined(PORTALS4_NO_NOTE)
__asm__(".pushsection .note.portals4,\"a\",@note\n\t"
        ".balign 4\n\t"
        ".long 8, 4, 1\n\t" /* bytes of the name, bytes of what it says, type */
        ".asciz \"Portals\"\n\t"
        ".long 0x403\n\t"
        ".popsection");
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Return codes (3.3) ---- */

enum ptl_retvals {
  PTL_OK = 0,
  PTL_ARG_INVALID = 1,     /* an argument is not valid */
  PTL_CT_NONE_REACHED = 2, /* PtlCTPoll: the time-out passed before any counter reached its test */
  PTL_EQ_DROPPED = 3,      /* an event is returned, and at least one before it was lost */
  PTL_EQ_EMPTY = 4,        /* no event */
  PTL_FAIL = 5,            /* any other failure */
  PTL_IGNORED = 6,         /* PtlSetMap: the map cannot be changed */
  PTL_IN_USE = 7,          /* the object still has operations in progress */
  PTL_LIST_TOO_LONG = 8,   /* the list would exceed max_list_size */
  PTL_NO_INIT = 9,         /* PtlInit has not been called */
  PTL_NO_SPACE = 10,       /* a limit or memory is exhausted */
  PTL_PID_IN_USE = 11,     /* another process of the node has this pid */
  PTL_PT_FULL = 12,        /* no free portal table entry */
  PTL_PT_EQ_NEEDED = 13,   /* flow control without an event queue */
  PTL_PT_IN_USE = 14,      /* the portal table entry is taken, or still has list entries */
  PTL_ABORTED = 15         /* PtlAbort ended the wait */
};
#define PTL_STATUS_LAST (PTL_PT_IN_USE + 1)

/* 4.2's name for the end of a wait from outside; 4.3 says PTL_ABORTED. */
#define PTL_INTERRUPTED PTL_ABORTED

/* ---- Base types (3.4) ---- */

typedef uint64_t ptl_size_t;
typedef uint32_t ptl_pt_index_t; /* index into the portal table */
typedef uint64_t ptl_match_bits_t;
typedef uint64_t ptl_hdr_data_t; /* 64 bits of out-of-band data */
typedef unsigned int ptl_time_t; /* milliseconds */
typedef unsigned int ptl_interface_t;
typedef uint32_t ptl_nid_t;  /* node of a physical address */
typedef uint32_t ptl_pid_t;  /* process of a physical address */
typedef uint32_t ptl_rank_t; /* logical address */
typedef uint32_t ptl_uid_t;

typedef uint32_t ptl_handle_any_t;
typedef ptl_handle_any_t ptl_handle_ni_t;
typedef ptl_handle_any_t ptl_handle_eq_t;
typedef ptl_handle_any_t ptl_handle_ct_t;
typedef ptl_handle_any_t ptl_handle_md_t;
typedef ptl_handle_any_t ptl_handle_le_t;
typedef ptl_handle_any_t ptl_handle_me_t;

/* Status registers of an interface (3.6). */
typedef enum {
  PTL_SR_DROP_COUNT = 0,            /* messages dropped */
  PTL_SR_PERMISSION_VIOLATIONS = 1, /* messages refused because of their uid */
  PTL_SR_OPERATION_VIOLATIONS = 2   /* messages refused because of their operation */
} ptl_sr_index_t;
#define PTL_SR_LAST (PTL_SR_OPERATION_VIOLATIONS + 1)
typedef int ptl_sr_value_t;

/* A process: its rank on a logical interface, node and process id on a physical one (3.9). */
typedef union {
  ptl_rank_t rank;
  struct {
    ptl_nid_t nid;
    ptl_pid_t pid;
  } phys;
} ptl_process_t;

/* Element of a scatter/gather list; same layout as struct iovec. */
typedef struct {
  void* iov_base;
  ptl_size_t iov_len;
} ptl_iovec_t;

/* ---- Constants ---- */

#define PTL_EQ_NONE ((ptl_handle_eq_t)0x3fffffff)
#define PTL_CT_NONE ((ptl_handle_ct_t)0x5fffffff)
#define PTL_INVALID_HANDLE ((ptl_handle_any_t)0xffffffff)
#define PTL_IFACE_DEFAULT ((ptl_interface_t)0xffffffff)
#define PTL_PID_ANY ((ptl_pid_t)0xffff)
#define PTL_PID_MAX ((ptl_pid_t)1024)
#define PTL_NID_ANY ((ptl_nid_t)0xffff)
#define PTL_UID_ANY ((ptl_uid_t)0xffffffff)
#define PTL_PT_ANY ((ptl_pt_index_t)0xffffffff)
#define PTL_RANK_ANY ((ptl_rank_t)0xffffffff)
#define PTL_TIME_FOREVER ((ptl_time_t)0xffffffff)
#define PTL_SIZE_MAX ((ptl_size_t)0xffffffffffffffffULL)

/* In the options of an MD, LE or ME: start points to an array of ptl_iovec_t, length counts its elements. */
#define PTL_IOVEC (1 << 0)

/* ---- Initialisation (3.5) ---- */

/* Counts references; every PtlInit needs a PtlFini. PTL_FAIL if the library cannot run. */
int PtlInit(void);
/* The last one releases everything the process holds. */
void PtlFini(void);
/* Ends all waits and polls of the process: those under way and all later ones return PTL_ABORTED (4.3). */
void PtlAbort(void);

/* ---- Network interfaces (3.6) ---- */

/* Options: one of the first two and one of the last two. */
#define PTL_NI_MATCHING (1 << 0)
#define PTL_NI_NO_MATCHING (1 << 1)
#define PTL_NI_LOGICAL (1 << 2)
#define PTL_NI_PHYSICAL (1 << 3)
#define PTL_NI_INIT_OPTIONS_MASK 0xf

/* How an operation failed, in events. */
typedef unsigned char ptl_ni_fail_t;
#define PTL_NI_OK 0
#define PTL_NI_UNDELIVERABLE 1  /* the network or the target process is gone */
#define PTL_NI_DROPPED 2        /* nothing matched, or the portal table entry does not exist */
#define PTL_NI_PT_DISABLED 3    /* the portal table entry is disabled, by its owner or by flow control */
#define PTL_NI_PERM_VIOLATION 4 /* wrong uid */
#define PTL_NI_OP_VIOLATION 5   /* the entry does not take this operation */
#define PTL_NI_NO_MATCH 6       /* a search found nothing */
#define PTL_NI_SEGV 7           /* the target memory is not accessible */

/* Features in ptl_ni_limits_t. */
#define PTL_TARGET_BIND_INACCESSIBLE (1 << 0) /* LEs and MEs may span memory that is not mapped */
#define PTL_TOTAL_DATA_ORDERING (1 << 1)      /* data of ordered messages arrives in order */
#define PTL_COHERENT_ATOMICS (1 << 2)         /* atomics are coherent with those of the processor */

typedef struct {
  int max_entries; /* LEs and MEs */
  int max_unexpected_headers;
  int max_mds;
  int max_cts;
  int max_eqs;
  int max_pt_index;                 /* the largest valid index */
  int max_iovecs;                   /* elements of one scatter/gather list */
  int max_list_size;                /* entries in one list of a portal table entry */
  int max_triggered_ops;            /* outstanding triggered operations */
  ptl_size_t max_msg_size;          /* bytes of a put, get or reply */
  ptl_size_t max_atomic_size;       /* bytes of an atomic */
  ptl_size_t max_fetch_atomic_size; /* bytes of an atomic that returns data */
  ptl_size_t max_waw_ordered_size;  /* bytes up to which write after write and read after write are ordered */
  ptl_size_t max_war_ordered_size;  /* bytes up to which write after read is ordered */
  ptl_size_t max_volatile_size;     /* bytes of a put or atomic from a PTL_MD_VOLATILE descriptor */
  unsigned int features;
} ptl_ni_limits_t;

/* Opens an interface, or references the one that is open with these options (then pid and desired are ignored).
 * desired and actual may be NULL. PTL_PID_IN_USE. */
int PtlNIInit(ptl_interface_t iface, unsigned int options, ptl_pid_t pid, const ptl_ni_limits_t* desired,
              ptl_ni_limits_t* actual, ptl_handle_ni_t* ni_handle);
/* Drops a reference; the last one releases the interface and all its objects. */
int PtlNIFini(ptl_handle_ni_t ni_handle);
/* Reads a status register. */
int PtlNIStatus(ptl_handle_ni_t ni_handle, ptl_sr_index_t status_register, ptl_sr_value_t* status);
/* The interface to which an object belongs. */
int PtlNIHandle(ptl_handle_any_t handle, ptl_handle_ni_t* ni_handle);
/* Logical interfaces: rank N is the process mapping[N]. A later call replaces the map. */
int PtlSetMap(ptl_handle_ni_t ni_handle, ptl_size_t map_size, const ptl_process_t* mapping);
/* Copies at most map_size elements; *actual_map_size (may be NULL) is the size of the map. PTL_NO_SPACE: no map yet. */
int PtlGetMap(ptl_handle_ni_t ni_handle, ptl_size_t map_size, ptl_process_t* mapping, ptl_size_t* actual_map_size);
/* BXI: PtlAtomicSync for one interface. */
int PtlNIAtomicSync(ptl_handle_ni_t ni_handle);

/* ---- Portal table (3.7) ---- */

#define PTL_PT_ONLY_USE_ONCE (1 << 0)   /* hint: all entries are use-once */
#define PTL_PT_FLOWCTRL (1 << 1)        /* flow control: exhaustion disables the entry instead of losing messages */
#define PTL_PT_ONLY_TRUNCATE (1 << 2)   /* hint: no priority entry sets NO_TRUNCATE */
#define PTL_PT_MATCH_UNORDERED (1 << 3) /* hint: the order of matching does not matter */
#define PTL_PT_ALLOC_DISABLED (1 << 4)  /* created disabled (4.3) */
#define PTL_PT_ALLOC_OPTIONS_MASK 0x1f

/* Takes the entry pt_index_req, any free one for PTL_PT_ANY. PTL_PT_FULL, PTL_PT_IN_USE, PTL_PT_EQ_NEEDED. */
int PtlPTAlloc(ptl_handle_ni_t ni_handle, unsigned int options, ptl_handle_eq_t eq_handle, ptl_pt_index_t pt_index_req,
               ptl_pt_index_t* pt_index);
/* PTL_PT_IN_USE while list entries are attached. */
int PtlPTFree(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index);
/* Refuses new messages; returns when those in progress are complete and their events posted. */
int PtlPTDisable(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index);
/* Accepts messages again. */
int PtlPTEnable(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index);

/* ---- Identification (3.8, 3.9) ---- */

/* The user that messages of this process carry. */
int PtlGetUid(ptl_handle_ni_t ni_handle, ptl_uid_t* uid);
/* The process on this interface: rank if logical (PTL_RANK_ANY before PtlSetMap), node and pid if physical. */
int PtlGetId(ptl_handle_ni_t ni_handle, ptl_process_t* id);
/* Node and pid, whatever the interface. */
int PtlGetPhysId(ptl_handle_ni_t ni_handle, ptl_process_t* id);

/* ---- Memory descriptors (3.10) ---- */

typedef struct {
  void* start;
  ptl_size_t length;
  unsigned int options;
  ptl_handle_eq_t eq_handle; /* PTL_EQ_NONE: no events */
  ptl_handle_ct_t ct_handle; /* PTL_CT_NONE: no counting */
} ptl_md_t;

#define PTL_MD_EVENT_CT_SEND (1 << 1)
#define PTL_MD_EVENT_CT_REPLY (1 << 2)
#define PTL_MD_EVENT_CT_ACK (1 << 3)
#define PTL_MD_UNORDERED (1 << 4)             /* messages may overtake each other */
#define PTL_MD_EVENT_SUCCESS_DISABLE (1 << 5) /* events only for failures */
#define PTL_MD_VOLATILE (1 << 6)              /* the buffer may change as soon as the call returns */
#define PTL_MD_EVENT_SEND_DISABLE (1 << 7)    /* no SEND events */
#define PTL_MD_UNRELIABLE (1 << 8)            /* messages may be lost; puts without acknowledgement only (4.3) */
#define PTL_MD_EVENT_CT_BYTES (1 << 14)       /* count bytes of successful operations */
#define PTL_MD_OPTIONS_MASK (0x1ff | PTL_MD_EVENT_CT_BYTES)

/* Describes memory for operations this process initiates. PTL_NO_SPACE. */
int PtlMDBind(ptl_handle_ni_t ni_handle, const ptl_md_t* md, ptl_handle_md_t* md_handle);
/* Releases it, after operations in progress no longer use the memory. */
int PtlMDRelease(ptl_handle_md_t md_handle);

/* ---- List entries and match list entries (3.11, 3.12) ---- */

typedef unsigned char ptl_list_t;
#define PTL_PRIORITY_LIST 0
#define PTL_OVERFLOW_LIST 1

typedef unsigned char ptl_search_op_t;
#define PTL_SEARCH_ONLY 0   /* report matching unexpected headers */
#define PTL_SEARCH_DELETE 1 /* and remove them */

/* Options of both kinds of entry. */
#define PTL_ME_OP_PUT (1 << 1)                 /* takes puts (and, with OP_GET, fetching atomics) */
#define PTL_ME_OP_GET (1 << 2)                 /* takes gets */
#define PTL_ME_USE_ONCE (1 << 3)               /* unlinks after the first message */
#define PTL_ME_UNEXPECTED_HDR_DISABLE (1 << 4) /* overflow list: leave no unexpected header */
#define PTL_ME_IS_ACCESSIBLE (1 << 5)          /* all of the memory is mapped */
#define PTL_ME_EVENT_LINK_DISABLE (1 << 6)
#define PTL_ME_EVENT_COMM_DISABLE (1 << 7)
#define PTL_ME_EVENT_FLOWCTRL_DISABLE (1 << 8)
#define PTL_ME_EVENT_SUCCESS_DISABLE (1 << 9)
#define PTL_ME_EVENT_OVER_DISABLE (1 << 10)
#define PTL_ME_EVENT_UNLINK_DISABLE (1 << 11) /* neither AUTO_UNLINK nor AUTO_FREE */
#define PTL_ME_EVENT_CT_COMM (1 << 12)
#define PTL_ME_EVENT_CT_OVERFLOW (1 << 13)
#define PTL_ME_EVENT_CT_BYTES (1 << 14)
/* Options of match list entries only. */
#define PTL_ME_MANAGE_LOCAL (1 << 15)         /* the target keeps the offset */
#define PTL_ME_NO_TRUNCATE (1 << 16)          /* a message that does not fit does not match */
#define PTL_ME_MAY_ALIGN (1 << 17)            /* hint, with MANAGE_LOCAL: placement may be aligned */
#define PTL_ME_LOCAL_INC_UH_RLENGTH (1 << 18) /* with MANAGE_LOCAL: unexpected headers advance the offset (4.3) */
#define PTL_ME_APPEND_OPTIONS_MASK (0x7ffff | PTL_ME_ACK_DISABLE)
/* 4.2, gone in 4.3: send no acknowledgement even if the initiator asks for one. The bit is free in 4.3. */
#define PTL_ME_ACK_DISABLE (1 << 30)

#define PTL_LE_OP_PUT PTL_ME_OP_PUT
#define PTL_LE_OP_GET PTL_ME_OP_GET
#define PTL_LE_USE_ONCE PTL_ME_USE_ONCE
#define PTL_LE_UNEXPECTED_HDR_DISABLE PTL_ME_UNEXPECTED_HDR_DISABLE
#define PTL_LE_IS_ACCESSIBLE PTL_ME_IS_ACCESSIBLE
#define PTL_LE_EVENT_LINK_DISABLE PTL_ME_EVENT_LINK_DISABLE
#define PTL_LE_EVENT_COMM_DISABLE PTL_ME_EVENT_COMM_DISABLE
#define PTL_LE_EVENT_FLOWCTRL_DISABLE PTL_ME_EVENT_FLOWCTRL_DISABLE
#define PTL_LE_EVENT_SUCCESS_DISABLE PTL_ME_EVENT_SUCCESS_DISABLE
#define PTL_LE_EVENT_OVER_DISABLE PTL_ME_EVENT_OVER_DISABLE
#define PTL_LE_EVENT_UNLINK_DISABLE PTL_ME_EVENT_UNLINK_DISABLE
#define PTL_LE_EVENT_CT_COMM PTL_ME_EVENT_CT_COMM
#define PTL_LE_EVENT_CT_OVERFLOW PTL_ME_EVENT_CT_OVERFLOW
#define PTL_LE_EVENT_CT_BYTES PTL_ME_EVENT_CT_BYTES
#define PTL_LE_ACK_DISABLE PTL_ME_ACK_DISABLE
#define PTL_LE_APPEND_OPTIONS_MASK (0x7fff | PTL_LE_ACK_DISABLE)

typedef struct {
  void* start;
  ptl_size_t length;
  ptl_handle_ct_t ct_handle; /* PTL_CT_NONE: no counting */
  ptl_uid_t uid;             /* who may use it; PTL_UID_ANY */
  unsigned int options;
} ptl_le_t;

typedef struct {
  void* start;
  ptl_size_t length;
  ptl_handle_ct_t ct_handle; /* PTL_CT_NONE: no counting */
  ptl_uid_t uid;             /* who may use it; PTL_UID_ANY */
  unsigned int options;
  ptl_process_t match_id; /* who matches; PTL_RANK_ANY, PTL_NID_ANY, PTL_PID_ANY */
  ptl_match_bits_t match_bits;
  ptl_match_bits_t ignore_bits;
  ptl_size_t min_free; /* with MANAGE_LOCAL: unlinks when less is left; 0: never */
} ptl_me_t;

/* Appends an entry to a list of a non-matching interface. On the priority list it first takes matching unexpected
 * headers. PTL_NO_SPACE. */
int PtlLEAppend(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, const ptl_le_t* le, ptl_list_t ptl_list,
                void* user_ptr, ptl_handle_le_t* le_handle);
/* Removes an entry. PTL_IN_USE while a message or an unexpected header still refers to it. */
int PtlLEUnlink(ptl_handle_le_t le_handle);
/* Looks for unexpected headers the entry would take. */
int PtlLESearch(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, const ptl_le_t* le, ptl_search_op_t ptl_search_op,
                void* user_ptr);
/* The same three for a matching interface. */
int PtlMEAppend(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, const ptl_me_t* me, ptl_list_t ptl_list,
                void* user_ptr, ptl_handle_me_t* me_handle);
int PtlMEUnlink(ptl_handle_me_t me_handle);
int PtlMESearch(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, const ptl_me_t* me, ptl_search_op_t ptl_search_op,
                void* user_ptr);

/* ---- Events (3.13) ---- */

typedef unsigned char ptl_op_t;       /* PTL_MIN ... PTL_MSWAP below */
typedef unsigned char ptl_datatype_t; /* PTL_INT8_T ... below */

typedef unsigned char ptl_event_kind_t;
#define PTL_EVENT_GET 0
#define PTL_EVENT_GET_OVERFLOW 1
#define PTL_EVENT_PUT 2
#define PTL_EVENT_PUT_OVERFLOW 3
#define PTL_EVENT_ATOMIC 4
#define PTL_EVENT_ATOMIC_OVERFLOW 5
#define PTL_EVENT_FETCH_ATOMIC 6
#define PTL_EVENT_FETCH_ATOMIC_OVERFLOW 7
#define PTL_EVENT_REPLY 8        /* data is in the memory descriptor */
#define PTL_EVENT_SEND 9         /* the buffer may be used again */
#define PTL_EVENT_ACK 10         /* the target has completed the operation */
#define PTL_EVENT_PT_DISABLED 11 /* flow control disabled the portal table entry */
#define PTL_EVENT_LINK 12
#define PTL_EVENT_AUTO_UNLINK 13
#define PTL_EVENT_AUTO_FREE 14 /* no unexpected header refers to the overflow entry any more */
#define PTL_EVENT_SEARCH 15

typedef struct {
  void* start; /* where the data is */
  void* user_ptr;
  ptl_hdr_data_t hdr_data;
  ptl_match_bits_t match_bits;
  ptl_size_t rlength;       /* requested */
  ptl_size_t mlength;       /* moved */
  ptl_size_t remote_offset; /* target: as requested; initiator: as used by the target */
  ptl_process_t initiator;
  ptl_uid_t uid;
  ptl_pt_index_t pt_index;
  ptl_event_kind_t type;
  ptl_list_t ptl_list;
  ptl_ni_fail_t ni_fail_type;
  ptl_op_t atomic_operation;
  ptl_datatype_t atomic_type;
} ptl_event_t;

/* A queue for at least count events; when it is full the oldest is lost. PTL_NO_SPACE. */
int PtlEQAlloc(ptl_handle_ni_t ni_handle, ptl_size_t count, ptl_handle_eq_t* eq_handle);
int PtlEQFree(ptl_handle_eq_t eq_handle);
/* Takes the next event. PTL_EQ_EMPTY, PTL_EQ_DROPPED. */
int PtlEQGet(ptl_handle_eq_t eq_handle, ptl_event_t* event);
/* Waits for it. PTL_EQ_DROPPED, PTL_ABORTED. */
int PtlEQWait(ptl_handle_eq_t eq_handle, ptl_event_t* event);
/* Waits at most timeout milliseconds for an event in any of the queues; *which is its queue. PTL_EQ_EMPTY,
 * PTL_EQ_DROPPED, PTL_ABORTED. */
int PtlEQPoll(const ptl_handle_eq_t* eq_handles, unsigned int size, ptl_time_t timeout, ptl_event_t* event,
              unsigned int* which);

/* ---- Counting events (3.14) ---- */

typedef struct {
  ptl_size_t success;
  ptl_size_t failure;
} ptl_ct_event_t;

typedef enum { PTL_CT_OPERATION = 0, PTL_CT_BYTE = 1 } ptl_ct_type_t;

/* A counter at zero. PTL_NO_SPACE. */
int PtlCTAlloc(ptl_handle_ni_t ni_handle, ptl_handle_ct_t* ct_handle);
/* Releases it together with the triggered operations that wait for it. */
int PtlCTFree(ptl_handle_ct_t ct_handle);
/* Destroys the triggered operations that wait for it. */
int PtlCTCancelTriggered(ptl_handle_ct_t ct_handle);
int PtlCTGet(ptl_handle_ct_t ct_handle, ptl_ct_event_t* event);
/* Waits until success reaches test or failure is not zero. PTL_ABORTED. */
int PtlCTWait(ptl_handle_ct_t ct_handle, ptl_size_t test, ptl_ct_event_t* event);
/* The same for any of several counters, at most timeout milliseconds. PTL_CT_NONE_REACHED, PTL_ABORTED. */
int PtlCTPoll(const ptl_handle_ct_t* ct_handles, const ptl_size_t* tests, unsigned int size, ptl_time_t timeout,
              ptl_ct_event_t* event, unsigned int* which);
int PtlCTSet(ptl_handle_ct_t ct_handle, ptl_ct_event_t new_ct);
/* Only one of the two fields may be non-zero. */
int PtlCTInc(ptl_handle_ct_t ct_handle, ptl_ct_event_t increment);

/* ---- Data movement (3.15) ---- */

typedef unsigned char ptl_ack_req_t;
#define PTL_NO_ACK_REQ 0
#define PTL_ACK_REQ 1    /* event and count; needs an event queue */
#define PTL_CT_ACK_REQ 2 /* count; needs a counter */
#define PTL_OC_ACK_REQ 3 /* count that the operation is over, whatever became of it */

#define PTL_MIN 0
#define PTL_MAX 1
#define PTL_SUM 2
#define PTL_PROD 3
#define PTL_LOR 4
#define PTL_LAND 5
#define PTL_BOR 6
#define PTL_BAND 7
#define PTL_LXOR 8
#define PTL_BXOR 9
#define PTL_SWAP 10
#define PTL_CSWAP 11    /* swap if operand == target; this and all below: one item */
#define PTL_CSWAP_NE 12 /* operand != target */
#define PTL_CSWAP_LE 13 /* operand <= target */
#define PTL_CSWAP_LT 14 /* operand < target */
#define PTL_CSWAP_GE 15 /* operand >= target */
#define PTL_CSWAP_GT 16 /* operand > target */
#define PTL_MSWAP 17    /* swap the bits that are set in operand */
#define PTL_OP_LAST 18

#define PTL_INT8_T 0
#define PTL_UINT8_T 1
#define PTL_INT16_T 2
#define PTL_UINT16_T 3
#define PTL_INT32_T 4
#define PTL_UINT32_T 5
#define PTL_FLOAT 6
#define PTL_INT64_T 7
#define PTL_UINT64_T 8
#define PTL_DOUBLE 9
#define PTL_FLOAT_COMPLEX 10
#define PTL_DOUBLE_COMPLEX 11
#define PTL_LONG_DOUBLE 12
#define PTL_LONG_DOUBLE_COMPLEX 13
#define PTL_DATATYPE_LAST 14

/* Writes length bytes of the descriptor to the target. */
int PtlPut(ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length, ptl_ack_req_t ack_req,
           ptl_process_t target_id, ptl_pt_index_t pt_index, ptl_match_bits_t match_bits, ptl_size_t remote_offset,
           void* user_ptr, ptl_hdr_data_t hdr_data);
/* Reads from the target into the descriptor. */
int PtlGet(ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length, ptl_process_t target_id,
           ptl_pt_index_t pt_index, ptl_match_bits_t match_bits, ptl_size_t remote_offset, void* user_ptr);
/* Combines data of the descriptor with that of the target. */
int PtlAtomic(ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length, ptl_ack_req_t ack_req,
              ptl_process_t target_id, ptl_pt_index_t pt_index, ptl_match_bits_t match_bits, ptl_size_t remote_offset,
              void* user_ptr, ptl_hdr_data_t hdr_data, ptl_op_t operation, ptl_datatype_t datatype);
/* The same, and brings back what the target held before. */
int PtlFetchAtomic(ptl_handle_md_t get_md_handle, ptl_size_t local_get_offset, ptl_handle_md_t put_md_handle,
                   ptl_size_t local_put_offset, ptl_size_t length, ptl_process_t target_id, ptl_pt_index_t pt_index,
                   ptl_match_bits_t match_bits, ptl_size_t remote_offset, void* user_ptr, ptl_hdr_data_t hdr_data,
                   ptl_op_t operation, ptl_datatype_t datatype);
/* Swaps, also conditionally; operand is one item, read during the call. */
int PtlSwap(ptl_handle_md_t get_md_handle, ptl_size_t local_get_offset, ptl_handle_md_t put_md_handle,
            ptl_size_t local_put_offset, ptl_size_t length, ptl_process_t target_id, ptl_pt_index_t pt_index,
            ptl_match_bits_t match_bits, ptl_size_t remote_offset, void* user_ptr, ptl_hdr_data_t hdr_data,
            const void* operand, ptl_op_t operation, ptl_datatype_t datatype);
/* Returns when the host may touch what atomics have touched here. */
int PtlAtomicSync(void);

/* ---- Triggered operations (3.16): start when success + failure of trig_ct_handle reaches threshold. Further code:
 * PTL_NO_SPACE. ---- */

int PtlTriggeredPut(ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length, ptl_ack_req_t ack_req,
                    ptl_process_t target_id, ptl_pt_index_t pt_index, ptl_match_bits_t match_bits,
                    ptl_size_t remote_offset, void* user_ptr, ptl_hdr_data_t hdr_data, ptl_handle_ct_t trig_ct_handle,
                    ptl_size_t threshold);
int PtlTriggeredGet(ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length, ptl_process_t target_id,
                    ptl_pt_index_t pt_index, ptl_match_bits_t match_bits, ptl_size_t remote_offset, void* user_ptr,
                    ptl_handle_ct_t trig_ct_handle, ptl_size_t threshold);
int PtlTriggeredAtomic(ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length, ptl_ack_req_t ack_req,
                       ptl_process_t target_id, ptl_pt_index_t pt_index, ptl_match_bits_t match_bits,
                       ptl_size_t remote_offset, void* user_ptr, ptl_hdr_data_t hdr_data, ptl_op_t operation,
                       ptl_datatype_t datatype, ptl_handle_ct_t trig_ct_handle, ptl_size_t threshold);
int PtlTriggeredFetchAtomic(ptl_handle_md_t get_md_handle, ptl_size_t local_get_offset, ptl_handle_md_t put_md_handle,
                            ptl_size_t local_put_offset, ptl_size_t length, ptl_process_t target_id,
                            ptl_pt_index_t pt_index, ptl_match_bits_t match_bits, ptl_size_t remote_offset,
                            void* user_ptr, ptl_hdr_data_t hdr_data, ptl_op_t operation, ptl_datatype_t datatype,
                            ptl_handle_ct_t trig_ct_handle, ptl_size_t threshold);
int PtlTriggeredSwap(ptl_handle_md_t get_md_handle, ptl_size_t local_get_offset, ptl_handle_md_t put_md_handle,
                     ptl_size_t local_put_offset, ptl_size_t length, ptl_process_t target_id, ptl_pt_index_t pt_index,
                     ptl_match_bits_t match_bits, ptl_size_t remote_offset, void* user_ptr, ptl_hdr_data_t hdr_data,
                     const void* operand, ptl_op_t operation, ptl_datatype_t datatype, ptl_handle_ct_t trig_ct_handle,
                     ptl_size_t threshold);
int PtlTriggeredCTInc(ptl_handle_ct_t ct_handle, ptl_ct_event_t increment, ptl_handle_ct_t trig_ct_handle,
                      ptl_size_t threshold);
int PtlTriggeredCTSet(ptl_handle_ct_t ct_handle, ptl_ct_event_t new_ct, ptl_handle_ct_t trig_ct_handle,
                      ptl_size_t threshold);
/* Outside the specification. The handle is valid at once, the entry linked when the operation starts; the entry's
 * description is read during the call. */
int PtlTriggeredMEAppend(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, ptl_me_t* me, ptl_list_t ptl_list,
                         void* user_ptr, ptl_handle_me_t* me_handle, ptl_handle_ct_t trig_ct_handle,
                         ptl_size_t threshold);
int PtlTriggeredMEUnlink(ptl_handle_me_t me_handle, ptl_handle_ct_t trig_ct_handle, ptl_size_t threshold);
int PtlTriggeredLEAppend(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, ptl_le_t* le, ptl_list_t ptl_list,
                         void* user_ptr, ptl_handle_le_t* le_handle, ptl_handle_ct_t trig_ct_handle,
                         ptl_size_t threshold);
int PtlTriggeredLEUnlink(ptl_handle_le_t le_handle, ptl_handle_ct_t trig_ct_handle, ptl_size_t threshold);

/* ---- Deferred communication (3.17) and handles (3.18) ---- */

/* Hints that operations between the two calls belong together. */
int PtlStartBundle(ptl_handle_ni_t ni_handle);
int PtlEndBundle(ptl_handle_ni_t ni_handle);
/* Non-zero if both name the same object; needs no PtlInit. */
int PtlHandleIsEqual(ptl_handle_any_t handle1, ptl_handle_any_t handle2);

#ifdef __cplusplus
}
#endif

#endif /* PORTALS4_H */
