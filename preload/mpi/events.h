/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Records of calls for a trace (preload/abi/mpi_events.h). A call is told when it is over, so that those that never
 * come back leave nothing half told; its records lie in a mapping of the rank until there are many, or it ends. */
#pragma once

#include "preload/mpi/calls.h"

#pragma GCC visibility push(hidden)

/* What has been found out about a call when it ends. */
struct umw_mpi_facts {
  int64_t time_ps;                    /* of its end */
  struct umw_mpi_communicator* other; /* than none */
  int32_t destination;                /* of a message, in MPI_COMM_WORLD, or an umw_mpi_peer */
  uint64_t bytes;
};

/* events.c */
void umw_mpi_trace_begin(void);
/* Null: nothing is traced. */
extern struct umw_events* umw_mpi_events;
/* A call begins: statuses that the program does not want are put in the place of its word. */
void umw_mpi_trace_enter(const struct umw_mpi_row* row, uintptr_t* words);
/* It ends; known: it has succeeded, and its arguments are there. */
void umw_mpi_trace_leave(const struct umw_mpi_frame* frame, const uintptr_t* words, bool known,
                         const struct umw_mpi_facts* facts);
void umw_mpi_trace_communicator(struct umw_mpi_communicator* communicator, const int32_t* own, int32_t own_size);
/* The next record, to be filled in. */
struct umw_event* umw_mpi_event(enum umw_event_kind kind, uint16_t function, int64_t time_ps);
/* So many bytes, as DATA of the record before. */
void umw_mpi_event_data(const void* data, uint64_t bytes);
uint64_t umw_mpi_next_request(void);

/* statuses.c: MPI_Status of either library */
struct umw_mpi_status {
  int32_t source, tag;
  uint64_t bytes;
  bool cancelled;
};
bool umw_mpi_ignores_status(uintptr_t word);
/* Room for so many, of the running thread, until its next call; 0: there is no memory. */
uintptr_t umw_mpi_own_statuses(uint32_t count);
struct umw_mpi_status umw_mpi_status_at(uintptr_t statuses, uint32_t index);

/* event_requests.c */
void umw_mpi_trace_requests_enter(const struct umw_mpi_row* row, uintptr_t* words);
void umw_mpi_trace_completion(const struct umw_mpi_row* row, const uintptr_t* words, int64_t time_ps);
void umw_mpi_trace_request(const struct umw_mpi_frame* frame, const uintptr_t* words,
                           const struct umw_mpi_facts* facts);
void umw_mpi_trace_started(const struct umw_mpi_frame* frame, const uintptr_t* words);
void umw_mpi_trace_request_freed(uint64_t handle);
/* Communicator of a message that MPI_Mprobe has found; null: not known. */
const struct umw_mpi_communicator* umw_mpi_message_communicator(void);

/* event_objects.c: windows and files */
void umw_mpi_trace_object_enter(const struct umw_mpi_row* row, const uintptr_t* words);
void umw_mpi_trace_objects_begin(const struct umw_mpi_frame* frame, const uintptr_t* words,
                                 const struct umw_mpi_facts* facts);
void umw_mpi_trace_objects_end(const struct umw_mpi_frame* frame, const uintptr_t* words,
                               const struct umw_mpi_facts* facts);
/* The number of a file; UINT32_MAX: not known. */
uint32_t umw_mpi_file_number(uintptr_t handle);
#pragma GCC visibility pop
