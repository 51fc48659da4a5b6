/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a rank names is the node's. A tree is a file or directory of the node in place of one of the machine; what is
 * not there is not there. Trees lie in the same order below the node's directory, so that links between them lead where
 * they should. Beside them are the directories of the processes of the node; everything else is the machine's. The
 * runtime makes the files when they are first named, those that change each time (runtime/procfs/node_files.h).
 *
 * A path relative to a descriptor, or to the working directory, is put together with the name of that directory first:
 * programs open "/" or "/proc" and go on from there (hwloc).
 */
#include "preload/shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/descriptors/descriptor_numbers.h"
#include "preload/memory/shm_room.h"
#include "preload/paths/paths.h"

enum root { session, session_files, machine_files };
enum made { by_calls, once, each_time };

struct tree {
  const char* path;
  enum root root;
  const char* there; /* below the root; null: as the program names it */
  enum made made;
  bool leaf;  /* the directory alone, not what is below */
  bool links; /* it has links that lead out of it, which a ".." behind them must know */
  bool ready;
};

/* The first that fits counts. */
static struct tree trees[] = {
    {"/dev/shm", session, "/shm", by_calls}, /* also shared_memory.c */
    {"/proc", session_files, NULL, each_time, .leaf = true},
    {"/proc/cpuinfo", machine_files, NULL, once},
    {"/proc/meminfo", machine_files, NULL, once},
    {"/proc/stat", session_files, NULL, each_time},
    {"/proc/loadavg", session_files, NULL, each_time},
    {"/proc/uptime", session_files, NULL, each_time},
    {"/proc/net", session_files, NULL, once},
    {"/proc/sys/kernel/hostname", session_files, NULL, once},
    {"/proc/sys/kernel/random/boot_id", session_files, NULL, once},
    {"/sys/devices/system/cpu/online", machine_files, NULL, once},
    {"/sys/devices/system/cpu/possible", machine_files, NULL, once},
    {"/sys/devices/system/cpu/present", machine_files, NULL, once},
    {"/sys/devices/system/cpu", machine_files, NULL, once},
    {"/sys/devices/system/node", machine_files, NULL, once},
    {"/sys/devices", session_files, NULL, once, .links = true},
    {"/sys/class", session_files, NULL, once, .links = true},
    {"/sys/bus", session_files, NULL, once, .links = true},
    {"/sys/block", session_files, NULL, once},
    {"/sys/fs/cgroup", session_files, NULL, once},
    {"/etc/hosts", machine_files, NULL, once},
    {"/etc/hostname", session_files, NULL, once},
};
#define tree_count (sizeof trees / sizeof *trees)

/* It begins with the whole components of `directory`. */
static bool is_below(const char* path, const char* directory)
{
  const size_t length = strlen(directory);
  return strncmp(path, directory, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static struct tree* tree_of(const char* path)
{
  for (unsigned i = 0; i < tree_count; ++i)
    if (trees[i].leaf ? strcmp(path, trees[i].path) == 0 : is_below(path, trees[i].path))
      return &trees[i];
  return NULL;
}

static const char* root_of(const struct tree* tree)
{
  return tree->root == machine_files ? umw_gate->machine_directory : umw_gate->session_directory;
}

static const char* below_root(const struct tree* tree)
{
  return tree->root == session_files ? "/files" : "";
}

static const char* fill(struct umw_path* room, const char* first, const char* second, const char* third,
                        const char* fourth)
{
  const int length = snprintf(room->text, sizeof room->text, "%s%s%s%s", first, second, third, fourth);
  if ((size_t)length >= PATH_MAX)
    memset(room->text, 'x', PATH_MAX);
  room->text[PATH_MAX] = '\0';
  return room->text;
}

/* `path` without empty components and "."; with `up`, also without "..". It is absolute and stays so. */
static void normalise(char* path, bool up)
{
  char* end = path; /* of what has been kept */
  for (const char* next = path; *next;) {
    next += strspn(next, "/");
    const size_t length = strcspn(next, "/");
    if (length == 0 || (length == 1 && next[0] == '.')) {
      /* nothing */
    } else if (up && length == 2 && next[0] == '.' && next[1] == '.') {
      while (end > path && *--end != '/')
        ;
    } else {
      *end++ = '/';
      memmove(end, next, length);
      end += length;
    }
    next += length;
  }
  if (end == path)
    *end++ = '/';
  *end = '\0';
}

/* --- processes ---------------------------------------------------------------------------------------------------- */

/* What the node has a version of its own of, in the directory of a process or thread. */
static bool is_of_process(const char* name)
{
  static const char* const names[] = {"stat", "status", "statm", "cmdline", "comm", "environ", "cgroup"};
  const size_t length = strcspn(name, "/");
  for (unsigned i = 0; i < sizeof names / sizeof *names; ++i)
    if (strlen(names[i]) == length && strncmp(name, names[i], length) == 0)
      return true;
  return length == 0;
}

static bool is_thread(long tid)
{
  return tid == umw_gate->pid || tid >= UMW_FIRST_THREAD_ID;
}

/* The runtime is told. */
static __attribute__((noinline)) void name_own(const char* rest)
{
  char path[PATH_MAX + 32];
  snprintf(path, sizeof path, "/proc/%d%s", umw_gate->pid, rest);
  umw_node_file(path);
}

/* `rest`: what follows the rank's own directory below /proc, "" or "/...". */
static const char* own_process(const char* rest, struct umw_path* room)
{
  char pid[32];
  const char* name = rest + strspn(rest, "/");
  if (strcmp(name, "exe") == 0)
    return fill(room, umw_gate->program, "", "", "");
  if (strncmp(name, "fd/", 3) == 0 && name[3] >= '0' && name[3] <= '9') {
    char* end;
    const int own = umw_open_descriptor((int)strtol(name + 3, &end, 10));
    snprintf(pid, sizeof pid, "%d", own);
    if (*end == '\0' || *end == '/')
      return fill(room, "/proc/self/fd/", pid, end, "");
  }
  const char* machines = NULL; /* what of the rest is the affair of the process that carries the rank */
  if (strncmp(name, "task/", 5) == 0) {
    char* behind;
    const bool own = is_thread(strtol(name + 5, &behind, 10)) && (*behind == '/' || *behind == '\0');
    if (!own || !is_of_process(behind + strspn(behind, "/")))
      machines = own ? behind : rest;
  } else if (!is_of_process(name) && strcmp(name, "task") != 0) {
    machines = rest;
  }
  if (machines)
    return fill(room, "/proc/self", machines, "", "");
  snprintf(pid, sizeof pid, "/proc/%d", umw_gate->pid);
  name_own(rest);
  return fill(room, umw_gate->session_directory, "/files", pid, rest);
}

static __attribute__((noinline)) const char* own_thread(const char* rest, struct umw_path* room)
{
  char whole[PATH_MAX + 32];
  snprintf(whole, sizeof whole, "/task/%d%s", umw_gate->tid, rest);
  return own_process(whole, room);
}

/* Null: it is none of a process. */
static const char* of_process(const char* path, struct umw_path* room)
{
  if (strncmp(path, "/proc/", 6) != 0)
    return NULL;
  if (strcmp(path, "/proc/self") == 0) { /* a link */
    char link[32];
    snprintf(link, sizeof link, "/self/%d", umw_gate->pid);
    own_process("", room);
    return fill(room, umw_gate->session_directory, link, "", "");
  }
  if (is_below(path, "/proc/self"))
    return own_process(path + 10, room);
  if (is_below(path, "/proc/thread-self"))
    return own_thread(path + 17, room);
  char* rest;
  const long pid = strtol(path + 6, &rest, 10);
  if (rest == path + 6 || (*rest != '/' && *rest != '\0'))
    return NULL;
  if (pid == umw_gate->pid)
    return own_process(rest, room);
  if (umw_is_child((int)pid))
    return NULL;
  umw_node_file(path);
  return fill(room, umw_gate->session_directory, "/files", path, "");
}

/* --- absolute paths ----------------------------------------------------------------------------------------------- */

/* Null: it is the machine's. */
static const char* of_node(const char* path, struct umw_path* room)
{
  if (is_below(path, umw_gate->session_directory) || is_below(path, umw_gate->machine_directory))
    return NULL;
  if (strcmp(path, "/dev/stdin") == 0 || strcmp(path, "/dev/stdout") == 0 || strcmp(path, "/dev/stderr") == 0)
    return own_process(path[8] == 'i' ? "/fd/0" : path[8] == 'o' ? "/fd/1" : "/fd/2", room);
  if (is_below(path, "/dev/fd"))
    return own_process(path + 4, room);
  const char* process = of_process(path, room);
  if (process)
    return process;
  struct tree* tree = tree_of(path);
  if (!tree)
    return NULL;
  if (tree->made != by_calls && !tree->ready) {
    umw_node_file(path);
    tree->ready = tree->made == once;
  }
  umw_shm_used = umw_shm_used || strcmp(tree->path, "/dev/shm") == 0;
  return tree->there ? fill(room, root_of(tree), below_root(tree), tree->there, path + strlen(tree->path))
                     : fill(room, root_of(tree), below_root(tree), path, "");
}

/* Has a ".." as a component. */
static bool has_up(const char* path)
{
  for (const char* dots = path; (dots = strstr(dots, "..")) != NULL; dots += 2)
    if ((dots == path || dots[-1] == '/') && (dots[2] == '/' || dots[2] == '\0'))
      return true;
  return false;
}

/* False: nothing of the node can be meant; most paths are of this kind. */
static bool is_worth_a_look(const char* path)
{
  static const char* const directories[] = {"proc", "sys", "etc", "dev"};
  const char* first = path;
  for (;;) {
    first += strspn(first, "/");
    if (strncmp(first, "./", 2) != 0)
      break;
    first += 2;
  }
  for (unsigned i = 0; i < sizeof directories / sizeof *directories; ++i)
    if (is_below(first, directories[i]))
      return true;
  return has_up(first);
}

/* Null: the machine's. */
static const char* absolute(const char* text, struct umw_path* room)
{
  if (!is_worth_a_look(text))
    return NULL;
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s", text);
  normalise(path, false);
  if (has_up(path)) {
    const struct tree* tree = tree_of(path);
    if (!tree || !tree->links)
      normalise(path, true);
  }
  const char* there = of_node(path, room);
  const size_t length = there ? strlen(there) : 0;
  if (there && text[strlen(text) - 1] == '/' && length < PATH_MAX - 1) /* open(2): it has to be a directory then */
    memcpy(room->text + length, "/", 2);
  return there;
}

/* --- relative paths ----------------------------------------------------------------------------------------------- */

char* umw_path_shown(char* path)
{
  if (!umw_gate)
    return path;
  char prefix[PATH_MAX];
  for (unsigned i = 0; i < tree_count; ++i) {
    const struct tree* tree = &trees[i];
    snprintf(prefix, sizeof prefix, "%s%s%s", root_of(tree), below_root(tree), tree->there ? tree->there : "");
    if (is_below(path, prefix)) {
      const char* name = tree->there ? tree->path : "";
      const size_t length = strlen(name);
      memmove(path + length, path + strlen(prefix), strlen(path + strlen(prefix)) + 1);
      memcpy(path, name, length); /* NOLINT(bugprone-not-null-terminated-result): the rest stands behind it */
      break;
    }
  }
  return path;
}

/* Something of the node can be named relative to it; other than with "..", from the outside. */
static bool leads_to_node(const char* directory)
{
  if (strcmp(directory, "/") == 0 || is_below(directory, "/proc") || is_below(directory, "/dev"))
    return true;
  for (unsigned i = 0; i < tree_count; ++i)
    if (is_below(directory, trees[i].path) || is_below(trees[i].path, directory))
      return true;
  return false;
}

static bool working_directory_known, working_directory_leads;
static char working_directory[PATH_MAX];

void umw_path_directory_changed(void)
{
  working_directory_known = false;
}

/* The name of a directory from which something of the node can be reached; null: from this one it cannot. */
static const char* base_of(int directory, char* buffer)
{
  if (directory == AT_FDCWD) {
    if (!working_directory_known) {
      working_directory_leads = UMW_REAL(getcwd)(working_directory, sizeof working_directory) != NULL;
      working_directory_leads = working_directory_leads && leads_to_node(umw_path_shown(working_directory));
      working_directory_known = true;
    }
    return working_directory_leads ? working_directory : NULL;
  }
  char link[40];
  snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
  const ssize_t length = UMW_REAL(readlink)(link, buffer, PATH_MAX - 1);
  if (length <= 0)
    return NULL;
  buffer[length] = '\0';
  return leads_to_node(umw_path_shown(buffer)) ? buffer : NULL;
}

static const char* relative(int directory, const char* path, struct umw_path* room)
{
  char whole[PATH_MAX];
  const char* base = base_of(directory, whole);
  const size_t length = base ? strlen(base) : 0;
  if (!base || length + 1 + strlen(path) >= PATH_MAX)
    return NULL;
  if (base != whole)
    memcpy(whole, base, length); /* NOLINT(bugprone-not-null-terminated-result): goes on below */
  snprintf(whole + length, sizeof whole - length, "/%s", path);
  return absolute(whole, room);
}

const char* umw_path_at(int directory, const char* path, struct umw_path* room)
{
  if (!umw_gate || !path || !*path || strlen(path) >= PATH_MAX)
    return path;
  const int error = errno;
  const char* there = *path == '/' ? absolute(path, room) : relative(directory, path, room);
  errno = error;
  return there ? there : path;
}

const char* umw_path_of_file_system(const char* path, struct umw_path* room)
{
  const char* there = umw_path_of(path, room);
  return there != path && (strncmp(path, "/proc", 5) == 0 || strncmp(path, "/sys", 4) == 0) ? path : there;
}
