/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * dlopen and its like in a dlmopen namespace. What differs from a process of one's own:
 *  - All namespaces share the locks of ld.so, which dlopen holds while it runs initialisers. One that waits there must
 *    not stop other ranks, so those of a rank run when ld.so is for others again: an object is opened as what a stub
 *    (loader/stub.h) needs, whose initialiser, the first of all, hides those of what is new. Who else of the rank asks
 *    something of ld.so waits for them, as in a process of its own. With ld.so itself ranks take turns, in simulated
 *    time, and so they do in destructors of what is closed.
 *  - ld.so takes the caller for the shim, so the caller's own DT_RUNPATH or DT_RPATH is searched here.
 *  - Without a name it opens the runtime's executable, the program of the process.
 *  - ld.so 2.36 crashes on RTLD_GLOBAL in a secondary namespace (glibc bug 18684), so the flag is dropped. What was
 *    opened with it is remembered: dlsym(RTLD_DEFAULT) looks there, and what is opened later is opened together with
 *    it. What was opened before does not see it.
 *  - dlsym(RTLD_DEFAULT) of a symbol that is not there leaves the thread marked as being within a look-up (glibc 2.36:
 *    the error jumps past the end of do_sym), and the next dlopen of another rank waits for it for good. So it is asked
 *    for with handles. */
#include "preload/namespace/elf_view.h"
#include "preload/namespace/initialisers.h"
#include "preload/namespace/namespace.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- turns -------------------------------------------------------------------------------------------------------- */

/* Among the rank's threads: until initialisers have run. That of the gate is among ranks. */
static struct umw_linker_turn in_rank;

static bool is_anothers(const struct umw_linker_turn* turn)
{
  return turn->owner != 0 && turn->owner != umw_gate->kernel_tid;
}

static void begin(struct umw_linker_turn* turn)
{
  turn->owner = umw_gate->kernel_tid;
  ++turn->depth;
}

static void end(struct umw_linker_turn* turn)
{
  if (--turn->depth == 0)
    turn->owner = 0;
}

void umw_await_turn(void)
{
  for (int64_t pause = UMW_FIRST_PAUSE; is_anothers(&in_rank) || is_anothers(umw_gate->linker_turn);)
    umw_let_others_run(&pause);
}

static void begin_turn(void)
{
  umw_await_turn();
  begin(&in_rank);
  begin(umw_gate->linker_turn);
}

/* --- opening ------------------------------------------------------------------------------------------------------ */

/* Opened with RTLD_GLOBAL, and still loaded. */
static struct {
  void** handles;
  size_t count;
} promoted;

/* Opened together with these. */
struct opened {
  void *handle, *scope;
  size_t times;
  struct opened* next;
};
static struct opened* all_opened;

/* Without effect. Called when the list of objects has changed; the runtime may have it lead to itself
 * (runtime/rank_host/kernel_calls.h). */
UMW_PUBLIC __attribute__((noipa)) void umw_objects_changed(void);
void umw_objects_changed(void)
{
  __asm__ volatile("nopw 0x100(%rax,%rax)\n\tnopw 0x100(%rax,%rax)\n\tnopw 0x100(%rax,%rax)");
}

/* Of the opening that is under way: the last object that was there before; the stub, when initialisers are hidden. */
static const struct link_map *last_before, *hiding_stub;

/* Of the stub, which comes first of what is new. */
static void hide_new(int argc, char** argv, char** envp)
{
  (void)argc;
  (void)argv;
  (void)envp;
  hiding_stub = last_before->l_next;
  for (const struct link_map* object = hiding_stub->l_next; object; object = object->l_next)
    umw_hide_initialisers(object);
}

static const struct link_map* last_object(void)
{
  const struct link_map* object = umw_first_object();
  while (object->l_next)
    object = object->l_next;
  return object;
}

/* What has been opened and not been initialised, in the order in which it is to be; nothing, if ld.so has done it. */
static struct umw_order new_objects(void)
{
  if (!hiding_stub)
    return (struct umw_order){0};
  umw_show_initialisers();
  const struct link_map* const first = last_before->l_next;
  return umw_in_order(first == hiding_stub ? first->l_next : first);
}

static void initialise(struct umw_order* order)
{
  for (size_t i = 0; i < order->sorted_count; ++i)
    umw_run_initialisers(order->sorted[i], umw_argument_count, umw_arguments, environ);
  umw_free_order(order);
}

static struct link_map* object_of(const void* address)
{
  struct dl_find_object found;
  return _dl_find_object((void*)address, &found) == 0 ? found.dlfo_link_map : NULL;
}

/* One element of a search path with $ORIGIN replaced, plus "/file"; false if it does not fit. */
static bool expand(const char* element, size_t length, const struct link_map* object, const char* file, char* result)
{
  const char* self = object == umw_first_object()->l_next ? umw_gate->program : object->l_name;
  const char* slash = strrchr(self, '/');
  const int origin = slash ? (int)(slash - self) : 0;
  char head[PATH_MAX];
  if (length >= sizeof head)
    return false;
  memcpy(head, element, length);
  head[length] = '\0';
  static const char* const names[] = {"${ORIGIN}", "$ORIGIN"};
  for (int i = 0; i < 2; ++i)
    if (strncmp(head, names[i], strlen(names[i])) == 0)
      return snprintf(result, PATH_MAX, "%.*s%s/%s", origin, self, head + strlen(names[i]), file) < PATH_MAX;
  return snprintf(result, PATH_MAX, "%s/%s", head, file) < PATH_MAX;
}

/* `file` as the caller's run path resolves it, or `file` itself. */
static const char* resolve(const char* file, const void* caller, char* buffer)
{
  const struct link_map* object = object_of(caller);
  if (strchr(file, '/') || !object)
    return file;
  const ElfW(Dyn)* path = umw_dynamic(object, DT_RUNPATH);
  if (!path)
    path = umw_dynamic(object, DT_RPATH);
  const char* names = umw_dynamic_address(object, DT_STRTAB);
  if (!path || !names)
    return file;
  for (const char* element = names + path->d_un.d_val; *element;) {
    const size_t length = strcspn(element, ":");
    if (expand(element, length, object, file, buffer) && access(buffer, R_OK) == 0)
      return buffer;
    element += length + (element[length] == ':');
  }
  return file;
}

static const char* path_of(void* handle)
{
  struct link_map* object = NULL;
  return dlinfo(handle, RTLD_DI_LINKMAP, &object) == 0 ? object->l_name : "";
}

static void promote(void* handle)
{
  for (size_t i = 0; i < promoted.count; ++i)
    if (promoted.handles[i] == handle)
      return;
  void** grown = realloc(promoted.handles, sizeof *grown * (promoted.count + 1));
  if (!grown)
    return;
  promoted.handles = grown;
  promoted.handles[promoted.count++] = handle;
}

static bool is_loaded(const void* handle)
{
  for (const struct link_map* object = umw_first_object(); object; object = object->l_next)
    if (object == handle)
      return true;
  return false;
}

static void review_promoted(void)
{
  size_t kept = 0;
  for (size_t i = 0; i < promoted.count; ++i)
    if (is_loaded(promoted.handles[i]))
      promoted.handles[kept++] = promoted.handles[i];
  promoted.count = kept;
}

static struct opened** find_opened(const void* handle)
{
  struct opened** link = &all_opened;
  while (*link && (*link)->handle != handle)
    link = &(*link)->next;
  return link;
}

/* As a name that an object needs. */
static size_t add_name(char* names, size_t at, size_t room, const char* name)
{
  const size_t bytes = strlen(name) + 1;
  if (bytes <= room - at)
    memcpy(names + at, name, bytes);
  return at + bytes;
}

/* As what a stub needs. The search list of one that needs both it and what is promoted becomes part of the scope of all
 * that it brings in. */
static void* open_new(const char* path, int flags)
{
  size_t room = strlen(path) + 2;
  for (size_t i = 0; i < promoted.count; ++i)
    room += strlen(path_of(promoted.handles[i])) + 1;
  char* names = calloc(1, room);
  char file[PATH_MAX];
  struct opened* one = malloc(sizeof *one);
  size_t end = names ? add_name(names, 0, room, path) : 0;
  for (size_t i = 0; names && i < promoted.count; ++i)
    end = add_name(names, end, room, path_of(promoted.handles[i]));
  int (*const remove_file)(const char*) = UMW_REAL(unlink); /* found now: that would end the error of dlopen */
  void* scope = NULL;
  if (names && one && umw_scope_file(names, (uintptr_t)hide_new, file) == 0) {
    scope = UMW_REAL(dlopen)(file, flags & ~RTLD_NODELETE);
    remove_file(file);
  }
  free(names);
  void* const handle = scope ? UMW_REAL(dlopen)(path, flags | RTLD_NOLOAD) : NULL;
  if (!handle || promoted.count == 0) {
    if (handle)
      UMW_REAL(dlclose)(scope);
    free(one);
    return handle;
  }
  *one = (struct opened){handle, scope, 1, all_opened};
  all_opened = one;
  return handle;
}

static void* open_object(const char* path, int flags)
{
  void* const there = UMW_REAL(dlopen)(path, flags | RTLD_NOLOAD);
  if (there) {
    struct opened* const one = *find_opened(there);
    if (one)
      ++one->times;
    return there;
  }
  if (flags & RTLD_NOLOAD)
    return NULL;
  dlerror();
  return open_new(path, flags);
}

void* umw_namespace_dlopen(const char* file, int flags)
{
  char buffer[PATH_MAX];
  const bool program = !file || !*file; /* dlopen(3): it, and what was loaded with it: all that the stub needs */
  const char* const path = program ? umw_first_object()->l_name : resolve(file, __builtin_return_address(0), buffer);
  begin_turn();
  hiding_stub = NULL;
  last_before = last_object();
  void* const handle = open_object(path, flags & ~RTLD_GLOBAL);
  struct umw_order objects = new_objects();
  if (handle && (flags & RTLD_GLOBAL) && !program)
    promote(handle);
  end(umw_gate->linker_turn);
  umw_objects_changed();
  initialise(&objects);
  end(&in_rank);
  return handle;
}

int umw_namespace_dlclose(void* handle)
{
  if (umw_namespace_ends) /* _dl_fini counts a use more of each object before it begins, so none goes any more */
    return 0;
  begin_turn();
  struct opened** const link = find_opened(handle);
  struct opened* const one = *link;
  const uint32_t no_preempt = umw_gate->no_preempt;
  umw_gate->no_preempt = 1; /* others would wait for ever for ld.so's lock, if a destructor's time was up */
  const int status = UMW_REAL(dlclose)(handle);
  if (status == 0 && one && --one->times == 0) {
    *link = one->next;
    UMW_REAL(dlclose)(one->scope);
    free(one);
  }
  umw_gate->no_preempt = no_preempt;
  if (status == 0)
    review_promoted();
  end(umw_gate->linker_turn);
  end(&in_rank);
  umw_objects_changed();
  return status;
}

/* --- looking up --------------------------------------------------------------------------------------------------- */

/* RTLD_DEFAULT: the global scope, then that of the caller's own object. */
void* umw_namespace_default_symbol(void* handle, const char* name)
{
  (void)handle;
  static void* global;
  void* (*const look_up)(void*, const char*) = UMW_REAL(dlsym);
  if (!global)
    global = UMW_REAL(dlopen)(umw_first_object()->l_name, RTLD_LAZY | RTLD_NOLOAD);
  void* symbol = look_up(global, name);
  for (size_t i = 0; i < promoted.count && !symbol; ++i)
    symbol = look_up(promoted.handles[i], name);
  const struct link_map* const caller = symbol ? NULL : object_of(__builtin_return_address(0));
  void* const own = caller ? UMW_REAL(dlopen)(caller->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  if (own) {
    symbol = look_up(own, name);
    UMW_REAL(dlclose)(own);
  }
  if (symbol)
    dlerror(); /* of the scopes before */
  return symbol;
}

/* ld.so knows the program by the name of its copy. */
static void name_program(Dl_info* information)
{
  if (information->dli_fname == umw_first_object()->l_next->l_name)
    information->dli_fname = umw_gate->argv0;
}

int umw_namespace_dladdr(const void* address, Dl_info* information)
{
  const int found = UMW_REAL(dladdr)(address, information);
  if (found)
    name_program(information);
  return found;
}

int umw_namespace_dladdr1(const void* address, Dl_info* information, void** more, int flags)
{
  const int found = UMW_REAL(dladdr1)(address, information, more, flags);
  if (found)
    name_program(information);
  return found;
}

/* What dl_iterate_phdr reports. */
struct objects {
  struct dl_phdr_info* list; /* null: they are only counted */
  size_t count, room;
};

static int add(struct dl_phdr_info* object, size_t size, void* argument)
{
  struct objects* const objects = argument;
  const struct link_map* const stub = umw_first_object();
  if (object->dlpi_addr == stub->l_addr)
    return 0;
  if (objects->list && objects->count < objects->room) {
    struct dl_phdr_info* const to = &objects->list[objects->count];
    memcpy(to, object, size < sizeof *to ? size : sizeof *to);
    if (object->dlpi_addr == stub->l_next->l_addr)
      to->dlpi_name = "";
  }
  ++objects->count;
  return 0;
}

/* The program first, without a name; no stub. What the callback does may take its time, and ld.so's lock is held while
 * it looks: so it looks first. */
int umw_namespace_iterate(int (*callback)(struct dl_phdr_info*, size_t, void*), void* data)
{
  int (*const iterate)(int (*)(struct dl_phdr_info*, size_t, void*), void*) = UMW_REAL(dl_iterate_phdr);
  umw_await_turn();
  struct objects objects = {0};
  iterate(add, &objects);
  struct dl_phdr_info list[objects.count];
  memset(list, 0, sizeof list);
  objects = (struct objects){list, 0, objects.count};
  iterate(add, &objects);
  const size_t count = objects.count < objects.room ? objects.count : objects.room;
  int result = 0;
  for (size_t i = 0; i < count && result == 0; ++i)
    result = callback(&list[i], sizeof list[i], data);
  return result;
}
