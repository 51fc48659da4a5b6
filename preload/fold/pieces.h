/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Pieces of forgetful memory (--fold) that the rank has: what free() and its like have to know of them. The runtime
 * knows the rest (runtime/rank_host/folding.h). */
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/abi/gate.h"

#define UMW_PUBLIC __attribute__((visibility("default")))

/* The function that is being replaced. */
#define UMW_REAL(name)                                                                                                 \
  (__extension__({                                                                                                     \
    static __typeof__(&name) real_;                                                                                    \
    if (!real_)                                                                                                        \
      *(void**)&real_ = dlsym(RTLD_NEXT, #name);                                                                       \
    real_;                                                                                                             \
  }))

struct umw_piece {
  uintptr_t begin;
  size_t size;
  bool mapped; /* by the program itself */
};

#pragma GCC visibility push(hidden)
/* Null: before the rank begins, and in children made by fork(). */
extern struct umw_gate* umw_fold_gate;

/* A new piece for an allocation that returns to `caller`; null: it is to be like any other. errno stays. */
void* umw_fold_allocate(size_t alignment, size_t size, const void* caller);
/* Size of the piece that begins there; 0: none does. */
size_t umw_fold_size(const void* begin);
/* It is freed; false: none begins there. */
bool umw_fold_free(const void* begin);
/* Copies what is to be kept of both sides. */
void umw_fold_copy(void* to, const void* from, size_t size);
/* The program has mapped memory that is private, anonymous, readable and writable. */
void umw_fold_mapped(void* begin, size_t size, const void* caller);
/* Size of the piece that begins there and that the program has mapped itself; 0: none does. */
size_t umw_fold_mapped_size(const void* begin);
/* Whether any piece that the program has mapped itself shares a byte with that memory. */
bool umw_fold_touches_mapped(const void* begin, size_t size);
/* Those are like any other memory from now on. */
void umw_fold_release(const void* begin, size_t size);

/* While a function allocates for its caller (operator new, MPI_Alloc_mem): to whom that returns; otherwise null. */
extern _Thread_local const void* umw_fold_for;
#pragma GCC visibility pop
