/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * libportals.so.1: Portals 4 in the ABI of BXI's library. A handle is a pointer with the number of the shim's handle,
 * null where that names nothing; almost all other constants differ, structures and events are converted.
 */
#include "preload/portals/shim_functions.h"

#include <stdint.h>
#include <stdlib.h>

#include "preload/abi/portals_bxi/layouts.h"

#define UMW_ABI "bxi"
#define LIBRARY "libportals.so.1, BXI"
#define UMW_COLUMN(four_two, bxi) bxi
#include "preload/portals/constants.h"

PUBLIC const char umw_portals_abi[] = UMW_ABI;

__attribute__((constructor)) static void begin(void)
{
  check_abi_of_rank(LIBRARY, UMW_ABI);
  find_shim();
}

static void explain(const char* function)
{
  explain_outside(LIBRARY, function);
}

enum {
#define UMW_PTL_RETURN(name, four_three, four_two, bxi) foreign_##name = (bxi),
#define UMW_PTL_NUMBER(name, four_three, four_two, bxi) foreign_##name = (bxi),
#include "preload/abi/portals_constants.def"
};

/* Types of their own, by which conversions are chosen. A structure of one number travels as the number does. */
typedef struct any* foreign_any;
typedef struct ni* foreign_ni;
typedef struct eq* foreign_eq;
typedef struct ct* foreign_ct;
typedef struct md* foreign_md;
typedef struct le* foreign_le;
typedef struct me* foreign_me;
typedef struct umw_bxi_md foreign_md_struct;
typedef struct {
  struct umw_bxi_me me;
} foreign_le_struct;
typedef struct umw_bxi_me foreign_me_struct;
typedef struct umw_bxi_event foreign_event;
typedef struct {
  unsigned int bits;
} foreign_ni_options;
typedef struct {
  unsigned int bits;
} foreign_pt_options;
typedef struct {
  unsigned int value;
} foreign_pid;
typedef struct {
  int value;
} foreign_list;
typedef struct {
  int value;
} foreign_search;
typedef struct {
  int value;
} foreign_ack;
typedef struct {
  int value;
} foreign_op;
typedef struct {
  int value;
} foreign_datatype;
typedef long foreign_time;

enum { HANDLES = 20 };

union umw_room {
  ptl_handle_any_t handle;
  ptl_handle_any_t handles[HANDLES];
  ptl_md_t md;
  ptl_le_t le;
  ptl_me_t me;
  ptl_event_t event;
};

/* ---- Handles ---- */

static inline ptl_handle_any_t own_handle(const void* pointer, ptl_handle_any_t none)
{
  const uintptr_t number = (uintptr_t)pointer;
  return number == 0 ? none : number > UINT32_MAX ? PTL_INVALID_HANDLE : (ptl_handle_any_t)number;
}

/* All conversions of arguments get the address of the argument, whatever that is, since the choices that are not taken
 * have to be valid C, too. */
static inline void* pointer_at(const void* argument)
{
  void* pointer;
  memcpy(&pointer, argument, sizeof pointer);
  return pointer;
}

static inline ptl_handle_any_t handle_in(const void* argument)
{
  return own_handle(pointer_at(argument), PTL_INVALID_HANDLE);
}

static inline ptl_handle_eq_t eq_in(const void* argument)
{
  return own_handle(pointer_at(argument), PTL_EQ_NONE);
}

static inline ptl_handle_ct_t ct_in(const void* argument)
{
  return own_handle(pointer_at(argument), PTL_CT_NONE);
}

static inline ptl_handle_any_t* handle_out_in(const void* argument, union umw_room* room)
{
  return pointer_at(argument) ? &room->handle : NULL;
}

static inline void handle_out(const void* argument, const union umw_room* room, const struct translated_call* call)
{
  void** const pointer = pointer_at(argument);
  if (pointer && call->result == PTL_OK)
    *pointer = (void*)(uintptr_t)room->handle;
}

static inline const ptl_handle_any_t* handles_in(const void* argument, union umw_room* room,
                                                 struct translated_call* call)
{
  const void* const* const pointers = pointer_at(argument);
  if (!pointers)
    return NULL;
  ptl_handle_any_t* handles = room->handles;
  if (call->number > HANDLES)
    call->allocated = handles = malloc(call->number * sizeof *handles);
  for (unsigned int i = 0; handles && i < call->number; ++i)
    handles[i] = own_handle(pointers[i], PTL_INVALID_HANDLE);
  return handles;
}

/* ---- Interfaces: a match_id is a node and a process on a physical one, else a rank ---- */

static ptl_handle_ni_t physical[2]; /* with and without matching; no other interface ever has such a handle */

static inline unsigned int ni_options_in(const void* argument)
{
  return ni_options(((const foreign_ni_options*)argument)->bits);
}

static inline void note_options(const void* argument, struct translated_call* call)
{
  call->number = ni_options_in(argument);
}

static inline void note_number(const void* argument, struct translated_call* call)
{
  call->number = *(const unsigned int*)argument;
}

static inline void note_interface(const void* argument, struct translated_call* call)
{
  const ptl_handle_ni_t ni = handle_in(argument);
  call->physical = ni == physical[0] || ni == physical[1];
}

static inline void interface_out(const void* argument, const union umw_room* room, const struct translated_call* call)
{
  handle_out(argument, room, call);
  if (call->function == UMW_OP_PtlNIInit && call->result == PTL_OK && (call->number & PTL_NI_PHYSICAL))
    physical[call->number & PTL_NI_MATCHING ? 0 : 1] = room->handle;
}

/* ---- Numbers ---- */

/* Each for the other where one means "any", so that no number means two things. */
static inline uint32_t exchanged(uint32_t value, uint32_t one, uint32_t other)
{
  return value == one ? other : value == other ? one : value;
}

static inline unsigned int pt_options_in(const void* argument)
{
  return pt_options(((const foreign_pt_options*)argument)->bits);
}

static inline ptl_pid_t pid_in(const void* argument)
{
  const unsigned int pid = ((const foreign_pid*)argument)->value;
  if (pid == foreign_PTL_PID_ANY)
    return PTL_PID_ANY;
  return pid <= PTL_PID_MAX ? pid : PTL_PID_MAX + 1; /* refused */
}

static inline ptl_list_t list_in(const void* argument)
{
  return (ptl_list_t)list_from(((const foreign_list*)argument)->value);
}

static inline ptl_search_op_t search_in(const void* argument)
{
  return (ptl_search_op_t)search_from(((const foreign_search*)argument)->value);
}

static inline ptl_ack_req_t ack_in(const void* argument)
{
  return (ptl_ack_req_t)ack_from(((const foreign_ack*)argument)->value);
}

static inline ptl_op_t op_in(const void* argument)
{
  return (ptl_op_t)operation_from(((const foreign_op*)argument)->value);
}

static inline ptl_datatype_t datatype_in(const void* argument)
{
  return (ptl_datatype_t)datatype_from(((const foreign_datatype*)argument)->value);
}

static inline ptl_time_t time_in(const void* argument)
{
  const long milliseconds = *(const foreign_time*)argument;
  if (milliseconds < 0)
    return PTL_TIME_FOREVER;
  return milliseconds < (long)PTL_TIME_FOREVER ? (ptl_time_t)milliseconds : PTL_TIME_FOREVER - 1;
}

static inline void process_out(const void* argument, const struct translated_call* call)
{
  ptl_process_t* const id = pointer_at(argument);
  if (call->function == UMW_OP_PtlGetId && call->result == PTL_OK && !call->physical)
    id->rank = exchanged(id->rank, PTL_RANK_ANY, foreign_PTL_RANK_ANY);
}

/* ---- Structures ---- */

static inline const ptl_md_t* md_in(const void* argument, union umw_room* room)
{
  const struct umw_bxi_md* md = pointer_at(argument);
  if (!md)
    return NULL;
  room->md = (ptl_md_t){md->start, md->length, md_options(md->options), own_handle(md->eq_handle, PTL_EQ_NONE),
                        own_handle(md->ct_handle, PTL_CT_NONE)};
  return &room->md;
}

static inline ptl_le_t* le_in(const void* argument, union umw_room* room)
{
  const struct umw_bxi_me* le = pointer_at(argument);
  if (!le)
    return NULL;
  room->le = (ptl_le_t){le->start, le->length, own_handle(le->ct_handle, PTL_CT_NONE), (ptl_uid_t)le->uid,
                        entry_options(le->options)};
  return &room->le;
}

static inline ptl_me_t* me_in(const void* argument, union umw_room* room, const struct translated_call* call)
{
  const struct umw_bxi_me* me = pointer_at(argument);
  if (!me)
    return NULL;
  room->me = (ptl_me_t){.start = me->start,
                        .length = me->length,
                        .ct_handle = own_handle(me->ct_handle, PTL_CT_NONE),
                        .uid = (ptl_uid_t)me->uid,
                        .options = entry_options(me->options),
                        .match_bits = me->match_bits,
                        .ignore_bits = me->ignore_bits,
                        .min_free = me->min_free};
  if (call->physical) {
    room->me.match_id.phys.nid = exchanged(me->match_id.phys.nid, foreign_PTL_NID_ANY, PTL_NID_ANY);
    room->me.match_id.phys.pid = exchanged(me->match_id.phys.pid, foreign_PTL_PID_ANY, PTL_PID_ANY);
  } else {
    room->me.match_id.rank = exchanged(me->match_id.rank, foreign_PTL_RANK_ANY, PTL_RANK_ANY);
  }
  return &room->me;
}

static inline ptl_event_t* event_in(const void* argument, union umw_room* room)
{
  return pointer_at(argument) ? &room->event : NULL;
}

static inline void event_out(const void* argument, const union umw_room* room, const struct translated_call* call)
{
  struct umw_bxi_event* const event = pointer_at(argument);
  const ptl_event_t* own = &room->event;
  if (!event || (call->result != PTL_OK && call->result != PTL_EQ_DROPPED))
    return;
  *event = (struct umw_bxi_event){.start = own->start,
                                  .user_ptr = own->user_ptr,
                                  .hdr_data = own->hdr_data,
                                  .match_bits = own->match_bits,
                                  .rlength = own->rlength,
                                  .mlength = own->mlength,
                                  .remote_offset = own->remote_offset,
                                  .uid = (int)own->uid,
                                  .type = (unsigned int)event_to(own->type),
                                  .ptl_list = list_to(own->ptl_list),
                                  .pt_index = own->pt_index,
                                  .ni_fail_type = (unsigned int)fail_type_to(own->ni_fail_type),
                                  .atomic_operation = (unsigned int)operation_to(own->atomic_operation),
                                  .atomic_type = (unsigned int)datatype_to(own->atomic_type)};
  memcpy(&event->initiator, &own->initiator, sizeof event->initiator);
}

// clang-format off
#define UMW_NOTE(argument, call)                                                                                       \
  _Generic((argument),                                                                                                 \
      foreign_ni_options: note_options(&(argument), call),                                                             \
      unsigned int: note_number(&(argument), call),                                                                    \
      foreign_ni: note_interface(&(argument), call),                                                                   \
      default: (void)0)
#define UMW_IN(argument, room, call)                                                                                   \
  _Generic((argument),                                                                                                 \
      foreign_any: handle_in(&(argument)),                                                                             \
      foreign_ni: handle_in(&(argument)),                                                                              \
      foreign_eq: eq_in(&(argument)),                                                                                  \
      foreign_ct: ct_in(&(argument)),                                                                                  \
      foreign_md: handle_in(&(argument)),                                                                              \
      foreign_le: handle_in(&(argument)),                                                                              \
      foreign_me: handle_in(&(argument)),                                                                              \
      foreign_ni*: handle_out_in(&(argument), room),                                                                   \
      foreign_eq*: handle_out_in(&(argument), room),                                                                   \
      foreign_ct*: handle_out_in(&(argument), room),                                                                   \
      foreign_md*: handle_out_in(&(argument), room),                                                                   \
      foreign_le*: handle_out_in(&(argument), room),                                                                   \
      foreign_me*: handle_out_in(&(argument), room),                                                                   \
      const foreign_eq*: handles_in(&(argument), room, call),                                                          \
      const foreign_ct*: handles_in(&(argument), room, call),                                                          \
      const foreign_md_struct*: md_in(&(argument), room),                                                              \
      const foreign_le_struct*: le_in(&(argument), room),                                                              \
      foreign_le_struct*: le_in(&(argument), room),                                                                    \
      const foreign_me_struct*: me_in(&(argument), room, call),                                                        \
      foreign_me_struct*: me_in(&(argument), room, call),                                                              \
      foreign_event*: event_in(&(argument), room),                                                                     \
      foreign_ni_options: ni_options_in(&(argument)),                                                                  \
      foreign_pt_options: pt_options_in(&(argument)),                                                                  \
      foreign_pid: pid_in(&(argument)),                                                                                \
      foreign_list: list_in(&(argument)),                                                                              \
      foreign_search: search_in(&(argument)),                                                                          \
      foreign_ack: ack_in(&(argument)),                                                                                \
      foreign_op: op_in(&(argument)),                                                                                  \
      foreign_datatype: datatype_in(&(argument)),                                                                      \
      foreign_time: time_in(&(argument)),                                                                              \
      default: (argument))
#define UMW_OUT(argument, room, call)                                                                                  \
  _Generic((argument),                                                                                                 \
      foreign_ni*: interface_out(&(argument), room, call),                                                             \
      foreign_eq*: handle_out(&(argument), room, call),                                                                \
      foreign_ct*: handle_out(&(argument), room, call),                                                                \
      foreign_md*: handle_out(&(argument), room, call),                                                                \
      foreign_le*: handle_out(&(argument), room, call),                                                                \
      foreign_me*: handle_out(&(argument), room, call),                                                                \
      const foreign_eq*: free((call)->allocated),                                                                      \
      const foreign_ct*: free((call)->allocated),                                                                      \
      ptl_process_t*: process_out(&(argument), call),                                                                  \
      foreign_event*: event_out(&(argument), room, call),                                                              \
      default: (void)0)
// clang-format on

#define ptl_handle_any_t foreign_any
#define ptl_handle_ni_t foreign_ni
#define ptl_handle_eq_t foreign_eq
#define ptl_handle_ct_t foreign_ct
#define ptl_handle_md_t foreign_md
#define ptl_handle_le_t foreign_le
#define ptl_handle_me_t foreign_me
#define ptl_md_t foreign_md_struct
#define ptl_le_t foreign_le_struct
#define ptl_me_t foreign_me_struct
#define ptl_event_t foreign_event
#define umw_ni_options_t foreign_ni_options
#define umw_pt_options_t foreign_pt_options
#define ptl_pid_t foreign_pid
#define ptl_list_t foreign_list
#define ptl_search_op_t foreign_search
#define ptl_ack_req_t foreign_ack
#define ptl_op_t foreign_op
#define ptl_datatype_t foreign_datatype
#define ptl_time_t foreign_time
#include "preload/portals/translation.h"

/* No call of the shim has to be tried again. */
#define UMW_PTL_NOT_BLOCKING(name, of)                                                                                 \
  PUBLIC __typeof__(foreign_##of) foreign_##name __asm__(#name) __attribute__((alias(#of)));
#define UMW_LOCAL(name, version, level, note)
#include "preload/abi/tables/portals_bxi.def"
