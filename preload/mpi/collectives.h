/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Collectives whose time is a model's (--collectives; runtime/mpi/COLLECTIVES.md): what the files of this directory
 * have in common for them. What they do is Umwelt's work, whose time does not count for the rank. */
#pragma once

#include "preload/mpi/calls.h"

#pragma GCC visibility push(hidden)

/* --- layouts.c --- */

struct umw_mpi_type {
  uintptr_t word; /* the handle as an argument */
  uint64_t size;
  int64_t extent;
  bool plain; /* elements lie in memory as MPI_Pack writes them, one behind the other */
};

/* Where the elements of one side of a call lie. */
enum umw_mpi_side_kind {
  UMW_MPI_SIDE_NONE,
  UMW_MPI_SIDE_ONE,    /* `count` elements */
  UMW_MPI_SIDE_BLOCKS, /* as many for each member, one behind the other */
  UMW_MPI_SIDE_LISTS,  /* arrays of counts and of displacements, in elements, */
  UMW_MPI_SIDE_TYPES   /* or, in bytes, with an array of types */
};
struct umw_mpi_side {
  enum umw_mpi_side_kind kind;
  bool large; /* counts are MPI_Count */
  bool wide;  /* displacements are MPI_Aint */
  int32_t members;
  int32_t in_place; /* this piece is not received, plus 1; 0: all are */
  uintptr_t buffer;
  int64_t count;
  uintptr_t counts, displacements, types;
  struct umw_mpi_type type; /* but for TYPES */
  /* What has been made for it */
  char* packed;
  struct umw_part* parts;
  uint64_t bytes; /* of all elements */
};

/* The functions of the library are found. */
void umw_mpi_begin_layouts(const void* caller);
struct umw_mpi_type umw_mpi_type_of(uintptr_t word);
void umw_mpi_forget_type(uintptr_t word);
int64_t umw_mpi_side_count(const struct umw_mpi_side* side, int32_t member);
/* Its arguments are such as can be worked with; otherwise the library is to say what is wrong. */
bool umw_mpi_side_fits(const struct umw_mpi_side* side);
/* Says where the elements are for the runtime: as they lie, or packed. False: there is no memory. */
bool umw_mpi_give(struct umw_mpi_side* side, bool sends, uintptr_t comm, struct umw_parts* parts);
/* What has been received is where the program wants it. */
void umw_mpi_accept(const struct umw_mpi_side* side, uintptr_t comm);
/* Arrays and types stay as they are, whatever the program does. */
bool umw_mpi_keep_side(struct umw_mpi_side* side);
void umw_mpi_end_side(struct umw_mpi_side* side, bool kept);
/* Elements, packed, and back. */
void umw_mpi_pack(uintptr_t from, int64_t count, const struct umw_mpi_type* type, uintptr_t comm, char* to);
void umw_mpi_unpack(const char* from, uintptr_t to, int64_t count, const struct umw_mpi_type* type, uintptr_t comm);
/* Lowest and highest byte of elements, from the address of the first. */
void umw_mpi_span(int64_t count, const struct umw_mpi_type* type, int64_t* low, int64_t* high);
/* Out of reach of rules of --fold. Null: there is none. */
void* umw_mpi_take(size_t bytes);
void umw_mpi_give_back(void* memory);

/* --- reductions.c --- */

struct umw_mpi_reduction {
  int64_t count;
  struct umw_mpi_type type;
  uintptr_t operation;
};
void umw_mpi_begin_reductions(const void* caller);
/* The rank combines what the runtime has for it. */
void umw_mpi_combine(int64_t number, const struct umw_mpi_reduction* reduction, uintptr_t comm, bool scan);

/* --- collectives.c --- */

/* A call, made out. */
struct umw_mpi_collective {
  struct umw_collective call;
  struct umw_mpi_side send, receive;
  struct umw_mpi_reduction reduction;
  uintptr_t comm;
};

void umw_mpi_begin_collectives(const void* caller);
void umw_mpi_end_collectives(void);
/* Does the call's work. False: it is the library's; */
bool umw_mpi_model(const struct umw_mpi_frame* frame, const uintptr_t* words, uintptr_t* result);
/* which has done it: it has made a persistent request. */
void umw_mpi_model_starts(const struct umw_mpi_frame* frame, const uintptr_t* words);
/* The rank comes to it; number and state. */
int64_t umw_mpi_come(struct umw_mpi_collective* collective, bool blocks);
/* It is a scan, inclusive or exclusive. */
bool umw_mpi_scans(const struct umw_mpi_collective* collective);
/* Returns when it is over. */
void umw_mpi_finish(const struct umw_mpi_collective* collective, int64_t state);
/* The MPI library gets on with what else is under way. */
void umw_mpi_let_library_look(void);
void umw_mpi_leave_communicator(const struct umw_mpi_communicator* communicator);

/* --- requests.c --- */

void umw_mpi_begin_requests(const void* caller);
void umw_mpi_end_requests(void);
/* A nonblocking one: takes what the collective has. False: there is no memory. */
bool umw_mpi_start_request(struct umw_mpi_collective* collective, uintptr_t place);
/* A persistent one, whose request the library has made. */
void umw_mpi_note_persistent(struct umw_mpi_collective* collective, uintptr_t place);
/* A call that is about requests, before and instead of the library's. False: it is the library's alone. */
bool umw_mpi_about_requests(const struct umw_mpi_frame* frame, const uintptr_t* words, void* real, uintptr_t* result);

#pragma GCC visibility pop
