/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The functions of Fortran, by all names that compilers give them, and those of mpi_f08. Here it is known which one the
 * program has called, and from where; the library goes on to the function of C, Open MPI's to PMPI_..., MPICH's to
 * MPI_..., which wrappers.c sees with its arguments. What else it calls on the way is part of it.
 *
 * As many words are handed on as any of them has arguments, the lengths of texts included. */
#include "preload/mpi/calls.h"

#define WORDS                                                                                                          \
  uintptr_t w1, uintptr_t w2, uintptr_t w3, uintptr_t w4, uintptr_t w5, uintptr_t w6, uintptr_t w7, uintptr_t w8,      \
      uintptr_t w9, uintptr_t w10, uintptr_t w11, uintptr_t w12, uintptr_t w13, uintptr_t w14, uintptr_t w15,          \
      uintptr_t w16
#define PASS w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, w11, w12, w13, w14, w15, w16

#define WRAPPER(symbol, result_type, row)                                                                              \
  result_type symbol(WORDS);                                                                                           \
  UMW_PUBLIC result_type symbol(WORDS)                                                                                 \
  {                                                                                                                    \
    const void* caller = __builtin_return_address(0);                                                                  \
    result_type (*real)(WORDS);                                                                                        \
    *(void**)&real = umw_mpi_function((uintptr_t)symbol, #symbol, caller);                                             \
    struct umw_mpi_frame frame;                                                                                        \
    umw_mpi_enter_fortran(&frame, &umw_mpi_rows[UMW_MPI_##row], caller);                                               \
    const result_type result = real(PASS);                                                                             \
    umw_mpi_leave_fortran(&frame);                                                                                     \
    return result;                                                                                                     \
  }
#define ALIAS(symbol, result_type, of) UMW_PUBLIC extern result_type symbol(WORDS) __attribute__((alias(#of)));

#define NAMES(result_type, row, lower, upper)                                                                          \
  WRAPPER(lower##_, result_type, row)                                                                                  \
  ALIAS(lower, result_type, lower##_)                                                                                  \
  ALIAS(lower##__, result_type, lower##_)                                                                              \
  ALIAS(upper, result_type, lower##_)                                                                                  \
  WRAPPER(lower##_f08_, result_type, row)                                                                              \
  WRAPPER(lower##_f08ts_, result_type, row)

#define RESULT_management(row, lower, upper) NAMES(uintptr_t, row, lower, upper)
#define RESULT_point_to_point RESULT_management
#define RESULT_completion RESULT_management
#define RESULT_collective RESULT_management
#define RESULT_one_sided RESULT_management
#define RESULT_io RESULT_management
#define RESULT_clock(row, lower, upper) NAMES(double, row, lower, upper)

#define UMW_MPI_FORTRAN(name, class, lower, upper) RESULT_##class(name, lower, upper)
#define UMW_MPI_FORTRAN_LARGE(name, lower)                                                                             \
  WRAPPER(lower##_f08_, uintptr_t, name)                                                                               \
  WRAPPER(lower##_f08ts_, uintptr_t, name)
#include "mpi_fortran.def"
/* with a C pointer as the result */
UMW_MPI_FORTRAN(Alloc_mem, management, mpi_alloc_mem_cptr, MPI_ALLOC_MEM_CPTR)
UMW_MPI_FORTRAN(Win_allocate, management, mpi_win_allocate_cptr, MPI_WIN_ALLOCATE_CPTR)
UMW_MPI_FORTRAN(Win_allocate_shared, management, mpi_win_allocate_shared_cptr, MPI_WIN_ALLOCATE_SHARED_CPTR)
UMW_MPI_FORTRAN(Win_shared_query, management, mpi_win_shared_query_cptr, MPI_WIN_SHARED_QUERY_CPTR)
