/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Beginning and end of a rank inside its namespace.
 *
 * The shim is linked with -z initfirst: its constructor runs before every other one of the namespace, when all objects are
 * mapped and relocated but none is initialised. It finds the gate, mends what ld.so does only for a process's main
 * program (copy relocations, local-exec TLS) and registers the very first exit handler. As handlers run last to first,
 * everything that ends the program through the C library, exit() inside err() or the return of main, ends in that handler,
 * and from there in the runtime; exit() itself needs no wrapper. The program then starts at its ELF entry point,
 * whose _start calls __libc_start_main: the one below.
 */
#include "preload/elf_view.h"
#include "preload/shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/descriptors.h"

struct umw_gate* umw_gate;

struct link_map* umw_first_object(void)
{
  Dl_info info;
  struct link_map* object = NULL;
  if (!dladdr1(__extension__(void*) umw_first_object, &info, (void**)&object, RTLD_DL_LINKMAP))
    return NULL;
  while (object->l_prev)
    object = object->l_prev;
  return object;
}

struct link_map* umw_program_object(void)
{
  return umw_first_object()->l_next;
}

/* Value of a variable that the program is not to see; null if there is none. */
static char* take_variable(char** envp, const char* name)
{
  const size_t length = strlen(name);
  for (char** entry = envp; entry && *entry; ++entry)
    if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') {
      char* value = *entry + length + 1;
      for (; *entry; ++entry)
        entry[0] = entry[1];
      return value;
    }
  return NULL;
}

static void find_gate(char** envp)
{
  const char* address = take_variable(envp, UMW_GATE_VARIABLE);
  if (address)
    umw_gate = (struct umw_gate*)strtoull(address, NULL, 16);
  umw_thread_multiple_settings = take_variable(envp, UMW_THREAD_MULTIPLE_VARIABLE);
}

static void end_of_rank(int status, void* unused)
{
  (void)unused;
  if (!umw_gate) /* a child made by fork(): let the C library go on */
    return;
  umw_run_destructors();
  fflush(NULL);
  umw_release_robust_mutexes();
  umw_exit(status & 0xff, UMW_EXIT_NORMAL, NULL);
}

__attribute__((constructor)) static void start_of_namespace(int argc, char** argv, char** envp)
{
  (void)argc;
  (void)argv;
  find_gate(envp);
  if (!umw_gate)
    return;
  if (umw_gate->version != UMW_GATE_VERSION || umw_gate->size != sizeof *umw_gate) {
    static const char text[] = "umwelt: libumwelt-preload.so and the umwelt program are of different builds\n";
    if (write(2, text, sizeof text - 1) < 0)
      _exit(125);
    _exit(125);
  }
  struct link_map* program = umw_program_object();
  umw_copy_relocations(program);
  umw_load_program_tls(program);
  on_exit(end_of_rank, NULL);
  umw_standard_streams();
  umw_note_foreign();
  umw_offer_delivery();
}

void umw_run_preinit(struct link_map* program, int argc, char** argv, char** envp)
{
  typedef void (*preinit)(int, char**, char**);
  const preinit* functions = umw_dynamic_address(program, DT_PREINIT_ARRAY);
  const size_t count = umw_dynamic_value(program, DT_PREINIT_ARRAYSZ) / sizeof *functions;
  for (size_t i = 0; functions && i < count; ++i)
    functions[i](argc, argv, envp);
}

struct main_call {
  int (*main)(int, char**, char**);
  int argc;
  char** argv;
  int status;
};

static void* call_main(void* argument)
{
  struct main_call* call = argument;
  call->status = call->main(call->argc, call->argv, environ);
  return NULL;
}

/* The constructors have already run (ld.so runs them for every object it loads), so `init` of binaries made for glibc
 * before 2.34 is not called: it would run them twice. */
UMW_PUBLIC int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void),
                                 void (*fini)(void), void (*rtld_fini)(void), void* stack_end);
UMW_PUBLIC int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void),
                                 void (*fini)(void), void (*rtld_fini)(void), void* stack_end)
{
  (void)init;
  (void)fini;
  (void)rtld_fini;
  (void)stack_end;
  umw_run_preinit(umw_program_object(), argc, argv, environ);
  umw_started(0);
  struct main_call call = {main, argc, argv, 0};
  umw_run_unwindable(call_main, &call, umw_outlast_threads);
  exit(call.status);
}

/* --- destructors ---------------------------------------------------------------------------------------------------- */

static const char* object_name(const struct link_map* object)
{
  const char* names = umw_dynamic_address(object, DT_STRTAB);
  const ElfW(Dyn)* entry = umw_dynamic(object, DT_SONAME);
  return names && entry ? names + entry->d_un.d_val : object->l_name;
}

struct order {
  struct link_map** objects;
  bool* seen;
  size_t count;
  struct link_map** sorted; /* dependencies before those that need them: the order of initialisation */
  size_t sorted_count;
};

static void visit(struct order* order, size_t index)
{
  if (order->seen[index])
    return;
  order->seen[index] = true;
  const struct link_map* object = order->objects[index];
  const char* names = umw_dynamic_address(object, DT_STRTAB);
  for (const ElfW(Dyn)* entry = object->l_ld; names && entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_NEEDED)
      for (size_t i = 0; i < order->count; ++i)
        if (strcmp(object_name(order->objects[i]), names + entry->d_un.d_val) == 0)
          visit(order, i);
  order->sorted[order->sorted_count++] = order->objects[index];
}

static void run_destructors_of(const struct link_map* object)
{
  typedef void (*destructor)(void);
  const destructor* functions = umw_dynamic_address(object, DT_FINI_ARRAY);
  for (size_t i = umw_dynamic_value(object, DT_FINI_ARRAYSZ) / sizeof *functions; functions && i > 0; --i)
    functions[i - 1]();
  const ElfW(Dyn)* fini = umw_dynamic(object, DT_FINI);
  if (fini) {
    /* DT_FINI is not relocated by ld.so */
    const destructor function = (destructor)(object->l_addr + fini->d_un.d_ptr);
    function();
  }
}

static bool keeps_running(const struct link_map* object)
{
  const char* name = object_name(object);
  return strncmp(name, "libc.so.", 8) == 0 || strncmp(name, "ld-linux", 8) == 0;
}

/* What _dl_fini does for a process: destructors of every object, dependents first. */
void umw_run_destructors(void)
{
  struct link_map* first = umw_first_object();
  size_t count = 0;
  for (struct link_map* object = first; object; object = object->l_next)
    ++count;
  struct order order = {calloc(count, sizeof(void*)), calloc(count, sizeof(bool)), count, calloc(count, sizeof(void*)),
                        0};
  if (!order.objects || !order.seen || !order.sorted)
    return;
  size_t index = 0;
  for (struct link_map* object = first; object; object = object->l_next)
    order.objects[index++] = object;
  for (index = 0; index < count; ++index)
    visit(&order, index);
  for (index = order.sorted_count; index > 0; --index)
    if (!keeps_running(order.sorted[index - 1]))
      run_destructors_of(order.sorted[index - 1]);
}
