/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "preload/namespace/initialisers.h"

#include "preload/namespace/elf_view.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef void destructor(void);

/* An entry of a dynamic section that does not say what it said. */
struct hidden {
  ElfW(Dyn) * entry;
  ElfW(Xword) value;
  struct hidden* next;
};
static struct hidden* all_hidden;

static void no_initialiser(int argc, char** argv, char** envp)
{
  (void)argc;
  (void)argv;
  (void)envp;
}

bool umw_is_shim(const struct link_map* object)
{
  struct dl_find_object found;
  return _dl_find_object(__extension__(void*) umw_is_shim, &found) == 0 && found.dlfo_link_map == object;
}

bool umw_is_linker(const struct link_map* object)
{
  return object->l_addr == _r_debug.r_ldbase;
}

static void protect(const void* entry, int protection)
{
  const uintptr_t page = 4096;
  const uintptr_t begin = (uintptr_t)entry & -page;
  mprotect((void*)begin, (((uintptr_t)entry + sizeof(ElfW(Dyn)) + page - 1) & -page) - begin, protection);
}

static void hide(ElfW(Dyn) * entry, ElfW(Xword) value)
{
  struct hidden* one = malloc(sizeof *one);
  if (!one)
    abort();
  *one = (struct hidden){entry, entry->d_un.d_val, all_hidden};
  all_hidden = one;
  protect(entry, PROT_READ | PROT_WRITE);
  entry->d_un.d_val = value;
}

void umw_hide_initialisers(const struct link_map* object)
{
  for (ElfW(Dyn)* entry = object->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_INIT_ARRAYSZ)
      hide(entry, 0);
    else if (entry->d_tag == DT_INIT)
      hide(entry, (uintptr_t)no_initialiser - object->l_addr);
  }
}

static bool read_only_after_relocation(const struct link_map* object, const void* address)
{
  const ElfW(Phdr)* part = umw_program_header(object, PT_GNU_RELRO);
  return part && (uintptr_t)address - object->l_addr - part->p_vaddr < part->p_memsz;
}

void umw_show_initialisers(void)
{
  while (all_hidden) {
    struct hidden* one = all_hidden;
    struct dl_find_object found;
    protect(one->entry, PROT_READ | PROT_WRITE);
    one->entry->d_un.d_val = one->value;
    all_hidden = one->next;
    if (_dl_find_object(one->entry, &found) == 0 && read_only_after_relocation(found.dlfo_link_map, one->entry))
      protect(one->entry, PROT_READ);
    free(one);
  }
}

void umw_run_initialisers(const struct link_map* object, int argc, char** argv, char** envp)
{
  const ElfW(Dyn)* first = umw_dynamic(object, DT_INIT);
  if (first)
    ((umw_initialiser*)(object->l_addr + first->d_un.d_ptr))(argc, argv, envp);
  umw_initialiser* const* functions = umw_dynamic_address(object, DT_INIT_ARRAY);
  const size_t count = umw_dynamic_value(object, DT_INIT_ARRAYSZ) / sizeof *functions;
  for (size_t i = 0; functions && i < count; ++i)
    functions[i](argc, argv, envp);
}

void umw_run_destructors(const struct link_map* object)
{
  destructor* const* functions = umw_dynamic_address(object, DT_FINI_ARRAY);
  for (size_t i = umw_dynamic_value(object, DT_FINI_ARRAYSZ) / sizeof *functions; functions && i > 0; --i)
    functions[i - 1]();
  const ElfW(Dyn)* last = umw_dynamic(object, DT_FINI);
  if (last)
    ((destructor*)(object->l_addr + last->d_un.d_ptr))();
}

/* --- their order -------------------------------------------------------------------------------------------------- */

static const char* name_of(const struct link_map* object)
{
  const char* names = umw_dynamic_address(object, DT_STRTAB);
  const ElfW(Dyn)* entry = umw_dynamic(object, DT_SONAME);
  return names && entry ? names + entry->d_un.d_val : object->l_name;
}

static void visit(struct umw_order* order, size_t index)
{
  if (order->seen[index])
    return;
  order->seen[index] = true;
  const struct link_map* object = order->objects[index];
  const char* names = umw_dynamic_address(object, DT_STRTAB);
  for (const ElfW(Dyn)* entry = object->l_ld; names && entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_NEEDED)
      for (size_t i = 0; i < order->count; ++i)
        if (strcmp(name_of(order->objects[i]), names + entry->d_un.d_val) == 0)
          visit(order, i);
  order->sorted[order->sorted_count++] = object;
}

/* Depth first, from the last that was loaded to the first (_dl_sort_maps of glibc 2.35 and later, elf/dl-sort-maps.c).
 */
struct umw_order umw_in_order(const struct link_map* first)
{
  struct umw_order order = {0};
  for (const struct link_map* object = first; object; object = object->l_next)
    ++order.count;
  order.objects = calloc(order.count, sizeof(void*));
  order.sorted = calloc(order.count, sizeof(void*));
  order.seen = calloc(order.count, sizeof *order.seen);
  if (!order.objects || !order.sorted || !order.seen)
    abort();
  size_t index = 0;
  for (const struct link_map* object = first; object; object = object->l_next) {
    order.seen[index] = umw_is_linker(object);
    order.objects[index++] = object;
  }
  while (index > 0)
    visit(&order, --index);
  return order;
}

void umw_free_order(struct umw_order* order)
{
  free(order->objects);
  free(order->sorted);
  free(order->seen);
}
