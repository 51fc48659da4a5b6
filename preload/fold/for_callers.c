/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Functions of libraries that allocate for whoever calls them: who that is counts for the rules of --fold. They
 * allocate by malloc and its like. */
#include "preload/fold/pieces.h"

/* Also when the function is left by an exception. */
static void forget_caller(const void** caller)
{
  (void)caller;
  umw_fold_for = NULL;
}

#define FOR_CALLER                                                                                                     \
  __attribute__((cleanup(forget_caller), unused)) const void* caller = __builtin_return_address(0);                    \
  umw_fold_for = caller

/* C++'s operator new, by its names in the Itanium ABI. */
#define OPERATOR_NEW(name, parameters, ...)                                                                            \
  void* name parameters;                                                                                               \
  UMW_PUBLIC void* name parameters                                                                                     \
  {                                                                                                                    \
    FOR_CALLER;                                                                                                        \
    return UMW_REAL(name)(__VA_ARGS__);                                                                                \
  }

OPERATOR_NEW(_Znwm, (size_t size), size)
OPERATOR_NEW(_Znam, (size_t size), size)
OPERATOR_NEW(_ZnwmRKSt9nothrow_t, (size_t size, const void* nothrow), size, nothrow)
OPERATOR_NEW(_ZnamRKSt9nothrow_t, (size_t size, const void* nothrow), size, nothrow)
OPERATOR_NEW(_ZnwmSt11align_val_t, (size_t size, size_t alignment), size, alignment)
OPERATOR_NEW(_ZnamSt11align_val_t, (size_t size, size_t alignment), size, alignment)
OPERATOR_NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void* nothrow), size,
             alignment, nothrow)
OPERATOR_NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void* nothrow), size,
             alignment, nothrow)

/* MPI: `info` is a pointer in Open MPI, an int in MPICH. */
#define MPI_ALLOCATION(name, result, parameters, ...)                                                                  \
  result name parameters;                                                                                              \
  UMW_PUBLIC result name parameters                                                                                    \
  {                                                                                                                    \
    FOR_CALLER;                                                                                                        \
    return UMW_REAL(name)(__VA_ARGS__);                                                                                \
  }

MPI_ALLOCATION(MPI_Alloc_mem, int, (intptr_t size, uintptr_t info, void* result), size, info, result)
MPI_ALLOCATION(PMPI_Alloc_mem, int, (intptr_t size, uintptr_t info, void* result), size, info, result)

/* Fortran: everything by reference. */
static void allocate_for_fortran(const char* name, const void* caller, void* size, void* info, void* result, void* error)
{
  void (*real)(void*, void*, void*, void*);
  *(void**)&real = dlsym(RTLD_NEXT, name);
  umw_fold_for = caller;
  real(size, info, result, error);
  umw_fold_for = NULL;
}

#define FORTRAN_ALLOCATION(name)                                                                                       \
  void name(void* size, void* info, void* result, void* error);                                                        \
  UMW_PUBLIC void name(void* size, void* info, void* result, void* error)                                              \
  {                                                                                                                    \
    allocate_for_fortran(#name, __builtin_return_address(0), size, info, result, error);                               \
  }

FORTRAN_ALLOCATION(mpi_alloc_mem_)
FORTRAN_ALLOCATION(mpi_alloc_mem_cptr_)
FORTRAN_ALLOCATION(mpi_alloc_mem_f08_)
FORTRAN_ALLOCATION(mpi_alloc_mem_cptr_f08_)
