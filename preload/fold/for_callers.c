/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Functions of libraries that allocate for whoever calls them: who that is counts for the rules of --fold. They
 * allocate by malloc and its like. */
#include "preload/fold/pieces.h"
#include "preload/next_function.h"

/* Also when the function is left by an exception. */
static void forget_caller(const void** outer)
{
  umw_fold_for = *outer;
}

/* Of several such functions that call each other, the outermost one's. */
#define FOR_CALLER                                                                                                     \
  const void* caller = __builtin_return_address(0);                                                                    \
  __attribute__((cleanup(forget_caller))) const void* outer = umw_fold_for;                                            \
  umw_fold_for = outer ? outer : caller

/* C++'s operator new, by its names in the Itanium ABI. */
#define OPERATOR_NEW(name, parameters, ...)                                                                            \
  void* name parameters;                                                                                               \
  UMW_PUBLIC void* name parameters                                                                                     \
  {                                                                                                                    \
    static __typeof__(&name) real; /* the C++ library stays */                                                         \
    FOR_CALLER;                                                                                                        \
    if (!real)                                                                                                         \
      *(void**)&real = umw_next_function(#name, caller);                                                               \
    return real(__VA_ARGS__);                                                                                          \
  }

OPERATOR_NEW(_Znwm, (size_t size), size)
OPERATOR_NEW(_Znam, (size_t size), size)
OPERATOR_NEW(_ZnwmRKSt9nothrow_t, (size_t size, const void* nothrow), size, nothrow)
OPERATOR_NEW(_ZnamRKSt9nothrow_t, (size_t size, const void* nothrow), size, nothrow)
OPERATOR_NEW(_ZnwmSt11align_val_t, (size_t size, size_t alignment), size, alignment)
OPERATOR_NEW(_ZnamSt11align_val_t, (size_t size, size_t alignment), size, alignment)
OPERATOR_NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void* nothrow), size, alignment,
             nothrow)
OPERATOR_NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void* nothrow), size, alignment,
             nothrow)

/* MPI: `info` is a pointer in Open MPI, an int in MPICH; Fortran has all by reference. */
#define MPI_ALLOCATION(name, result, parameters, ...)                                                                  \
  result name parameters;                                                                                              \
  UMW_PUBLIC result name parameters                                                                                    \
  {                                                                                                                    \
    __typeof__(&name) real;                                                                                            \
    FOR_CALLER;                                                                                                        \
    *(void**)&real = umw_next_function(#name, caller);                                                                 \
    return real(__VA_ARGS__);                                                                                          \
  }
#define FORTRAN_ALLOCATION(name)                                                                                       \
  MPI_ALLOCATION(name, void, (void* size, void* info, void* memory, void* error), size, info, memory, error)

MPI_ALLOCATION(MPI_Alloc_mem, int, (intptr_t size, uintptr_t info, void* memory), size, info, memory)
MPI_ALLOCATION(PMPI_Alloc_mem, int, (intptr_t size, uintptr_t info, void* memory), size, info, memory)
FORTRAN_ALLOCATION(mpi_alloc_mem_)
FORTRAN_ALLOCATION(mpi_alloc_mem_cptr_)
FORTRAN_ALLOCATION(mpi_alloc_mem_f08_)
FORTRAN_ALLOCATION(mpi_alloc_mem_cptr_f08_)
