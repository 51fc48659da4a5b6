/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Calls of MPI by name (--mpi-calls, --collectives): what a row of preload/abi/tables/mpi.def says of a function, and
 * what is noted of a call. Handles are words here: pointers in Open MPI, ints in MPICH, which fit into these. */
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/abi/gate.h"

#define UMW_PUBLIC __attribute__((visibility("default")))

/* How the bytes that a call hands over follow from its arguments. */
enum umw_mpi_payload {
  UMW_MPI_nothing,
  UMW_MPI_each,         /* count times the size of the type, */
  UMW_MPI_root,         /* at the root alone, */
  UMW_MPI_members,      /* for each member of the communicator, */
  UMW_MPI_root_members, /* for each member, at the root alone; */
  UMW_MPI_counts,       /* the sum of an array of counts, one for each member, */
  UMW_MPI_root_counts,  /* at the root alone; */
  UMW_MPI_own,          /* with MPI_IN_PLACE, the rank's own of such an array; otherwise as `each` */
  UMW_MPI_types         /* arrays of counts and types */
};

/* Arguments by their numbers, from 1 on; 0: there is none such. */
struct umw_mpi_row {
  uint16_t function;
  uint8_t class_;
  uint8_t arity;
  uint8_t payload; /* enum umw_mpi_payload */
  uint8_t count, type;
  uint8_t in_place_count, in_place_type; /* instead, if argument 1 is MPI_IN_PLACE */
  uint8_t peer, tag;                     /* of the message to be sent, or received */
  uint8_t from, from_tag;                /* of the message to be received, where both are */
  uint8_t root, comm;
  uint8_t request;        /* address of the one that the call begins */
  uint8_t requests, many; /* address of those that it is about, and their number; without: 1 */
  uint8_t made, freed;    /* address of a communicator */
  bool receives, persistent;
  bool large; /* counts are MPI_Count, not int */
  /* for traces */
  uint8_t window, target; /* of one-sided communication */
  uint8_t window_made;    /* address of one */
  uint8_t fetches;        /* enum umw_mpi_fetches */
  bool completes;         /* what has been begun on the window, of the target alone where there is one */
  uint8_t file;           /* that is read or written, */
  uint8_t moves;          /* enum umw_event_io, or UMW_MPI_ends: what a split collective has begun */
  bool status;            /* and the last argument tells how much was */
};
enum umw_mpi_fetches { UMW_MPI_fetches_not, UMW_MPI_fetches_alone, UMW_MPI_fetches_too };
enum { UMW_MPI_ends = 8 };

/* A call under way. */
struct umw_mpi_frame {
  const struct umw_mpi_row* row; /* null: the call is part of another */
  const void* caller;
  bool of_fortran;
  int64_t time_ps, cpu_ps, late_ps; /* when it began */
  struct umw_mpi_call* place;
};

#pragma GCC visibility push(hidden)
extern const struct umw_mpi_row umw_mpi_rows[];
/* Null: before the rank begins, and in children made by fork(). */
extern struct umw_gate* umw_mpi_gate;

/* calls.c. `words`: the arguments, the first at [1], which may be replaced. */
void umw_mpi_enter(struct umw_mpi_frame* frame, const struct umw_mpi_row* row, uintptr_t* words, const void* caller);
void umw_mpi_leave(const struct umw_mpi_frame* frame, const uintptr_t* words, bool succeeded);
/* The same for a call from Fortran, of which only the function is known: its arguments are those of the function of C
 * that the MPI library calls for it. */
void umw_mpi_enter_fortran(struct umw_mpi_frame* frame, const struct umw_mpi_row* row, const void* caller);
void umw_mpi_leave_fortran(const struct umw_mpi_frame* frame);
/* The function behind the one of the same name in this library; ends the process if there is none. */
void* umw_mpi_next(const char* name, const void* caller);
/* The same for one of this library's, which is told by its address: what has been found is kept. */
void* umw_mpi_function(uintptr_t own, const char* name, const void* caller);

/* memory.c. A hash table; entries begin with their key, which is not 0, and move when it grows. */
struct umw_mpi_map {
  char* entries;
  uint64_t capacity, used;
};
/* The entry of that key; null: there is none, and none is wanted or there is no memory. A new one is otherwise zero. */
void* umw_mpi_entry(struct umw_mpi_map* map, size_t entry_size, uint64_t key, bool make);
/* Zeroed; null: there is none. */
void* umw_mpi_memory(size_t size);
/* What it has given is not used any more. */
void umw_mpi_unuse(void* memory, size_t size);
/* What a call took, in ps; of that, blocked; of that, before others had begun what it waited for. */
struct umw_mpi_times {
  int64_t all, waited, late;
};
/* Adds a call to what is counted by sizes and peers; */
void umw_mpi_add(uint64_t what, uint64_t bytes);
/* by places and communicators. */
void umw_mpi_add_timed(uint64_t what, uint64_t bytes, const struct umw_mpi_times* times);
/* Index of a communicator's label. */
uint32_t umw_mpi_label(const char* text);
const char* umw_mpi_label_text(uint32_t index);
void umw_mpi_publish_counts(void);

/* communicators.c */
struct umw_mpi_communicator {
  uint64_t handle;
  const int32_t* members; /* in MPI_COMM_WORLD, or UMW_MPI_ELSEWHERE; of the other side, if there are two; stay */
  int32_t size, rank;
  uint32_t turn; /* collectives begun */
  uint32_t label;
  uint32_t ordinal; /* among those with the same members, in the order in which the rank has made them */
  int32_t number;   /* umw_collective_join, plus 1; 0: not asked yet */
  bool there;       /* it has not been freed, and is not only announced */
  bool one_group;   /* of ranks of this job */
  uint32_t traced;  /* its number in the trace */
};
/* MPI_Init has returned: the functions of the library may be called. */
void umw_mpi_begin(const void* caller);
void umw_mpi_end(void);   /* MPI_Finalize is next */
extern bool umw_mpi_open; /* between the two */
/* Null: not known. */
struct umw_mpi_communicator* umw_mpi_communicator(uint64_t handle);
/* The same; one that has been announced becomes known. */
struct umw_mpi_communicator* umw_mpi_communicator_in_use(uint64_t handle);
/* It exists; `from`: the function that has made it, or null. */
struct umw_mpi_communicator* umw_mpi_note_communicator(uint64_t handle, const char* from);
void umw_mpi_forget_communicator(uint64_t handle);
/* It is being made, with the members of another one. */
void umw_mpi_announce_communicator(uint64_t handle, uint64_t like);
void umw_mpi_name_communicator(uint64_t handle);
/* A handle that lies there. */
uint64_t umw_mpi_handle_at(uintptr_t place);
/* How many bytes one takes in an array. */
size_t umw_mpi_handle_size(void);
/* A handle as an argument. */
uint64_t umw_mpi_handle(uintptr_t word);
bool umw_mpi_is_mpich(void);
uint64_t umw_mpi_type_size(uint64_t type);
uint64_t umw_mpi_null_request(void);
bool umw_mpi_is_null_type(uintptr_t word);
bool umw_mpi_is_null_operation(uintptr_t word);
uintptr_t umw_mpi_byte_type(void);
bool umw_mpi_is_in_place(uintptr_t word);
int32_t umw_mpi_any_source(void);

/* payload.c: bytes that the call hands over; that a collective brings */
uint64_t umw_mpi_payload(const struct umw_mpi_row* row, const uintptr_t* words,
                         const struct umw_mpi_communicator* communicator);
/* What the count and the type among its arguments come to. */
uint64_t umw_mpi_asked(const struct umw_mpi_row* row, const uintptr_t* words);
uint64_t umw_mpi_received(const struct umw_mpi_row* row, const uintptr_t* words,
                          const struct umw_mpi_communicator* communicator);
#pragma GCC visibility pop
