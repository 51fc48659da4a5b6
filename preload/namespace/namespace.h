/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What ld.so does for the program of a process, and not for one in a dlmopen namespace (loader/namespace.h). */
#pragma once

#include "preload/shim.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

static inline bool umw_in_namespace(void)
{
  return umw_gate && umw_gate->loader == UMW_LOADER_NAMESPACE;
}

/* In dlmopen, as the first initialiser, when all is mapped and relocated; on the thread that is parked afterwards. */
void umw_prepare_namespace(void);
/* Of __libc_start_main: the program's own initialisers. */
void umw_initialise_program(int argc, char** argv, char** envp);
/* The program's, as it began. */
extern int umw_argument_count;
extern char** umw_arguments;
/* An entry of the auxiliary vector; 0: it has none. */
unsigned long umw_namespace_auxiliary(unsigned long type);

/* The main thread's stack ends there; its bottom: UMW_STACK_AUXV */
uintptr_t umw_namespace_stack_top(void);

/* The list of objects of the rank begins with: the program; in a namespace with the stub, which the program follows. */
struct link_map* umw_first_object(void);

void umw_copy_relocations(const struct link_map* program);
/* The program's thread-local variables, of a thread that begins with that thread control block. */
void umw_load_program_tls(void* thread_pointer);
/* All of the namespace's, but for the C library's own, are as when a thread begins. In place: what ld.so has allocated
 * for them is of the process's C library, not of the rank's. */
void umw_renew_variables(void* thread_pointer);

/* Until the dynamic linker is for the thread, unless another one takes it. */
void umw_await_turn(void);

/* Parameters and results are those of the functions of the C library. */
int umw_namespace_dladdr(const void* address, Dl_info* information);
int umw_namespace_dladdr1(const void* address, Dl_info* information, void** more, int flags);
void* umw_namespace_dlopen(const char* file, int flags);
int umw_namespace_dlclose(void* handle);
extern bool umw_namespace_ends; /* the destructors run */
/* Of RTLD_DEFAULT and of the program's own handle. */
void* umw_namespace_default_symbol(void* handle, const char* name);
int umw_namespace_iterate(int (*callback)(struct dl_phdr_info*, size_t, void*), void* data);
