/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Paths of which the simulated node, or the rank, has a version of its own: below /proc, /sys, /etc ... Every call that
 * takes a path (preload/abi/tables/paths.def) goes where umw_path_at says. Trees are listed in paths.c. */
#pragma once

#include <fcntl.h>
#include <limits.h>

#pragma GCC visibility push(hidden)

struct umw_path {
  char text[PATH_MAX + 1]; /* too long a result fills it, so that the kernel says ENAMETOOLONG */
};

/* Where `path`, relative to the descriptor `directory` or AT_FDCWD, leads: `path` itself, or an absolute path in
 * `room`. Keeps errno. */
const char* umw_path_at(int directory, const char* path, struct umw_path* room);

static inline const char* umw_path_of(const char* path, struct umw_path* room)
{
  return umw_path_at(AT_FDCWD, path, room);
}

/* The same for calls that ask about the file system: /proc and /sys are the machine's. */
const char* umw_path_of_file_system(const char* path, struct umw_path* room);

/* In place of the kernel's name of something the one by which the program knows it; it is never longer. */
char* umw_path_shown(char* path);

/* The working directory is another one. */
void umw_path_directory_changed(void);
#pragma GCC visibility pop
