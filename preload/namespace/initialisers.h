/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Initialisers and destructors of objects in a dlmopen namespace. ld.so runs them with the lock that all namespaces
 * share, while other ranks may want it: so they are hidden from it, in the dynamic sections, and run later. */
#pragma once

#include "preload/namespace/namespace.h"

typedef void umw_initialiser(int argc, char** argv, char** envp);

/* From ld.so, until all that is hidden is shown again. */
void umw_hide_initialisers(const struct link_map* object);
void umw_show_initialisers(void);

void umw_run_initialisers(const struct link_map* object, int argc, char** argv, char** envp);
void umw_run_destructors(const struct link_map* object);

bool umw_is_shim(const struct link_map* object);
/* That of the process, which has a place in each namespace. */
bool umw_is_linker(const struct link_map* object);

/* An object and those loaded after it, in ld.so's order, but for the linker. */
struct umw_order {
  const struct link_map** objects; /* as they were loaded */
  bool* seen;
  size_t count;
  const struct link_map** sorted; /* what is needed before those that need it */
  size_t sorted_count;
};
struct umw_order umw_in_order(const struct link_map* first);
void umw_free_order(struct umw_order* order);
