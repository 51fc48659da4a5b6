/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * glob, ftw and nftw. The C library's own calls inside them are not interposed, so each is made to take the ways of
 * this library, or to tell the names that the program knows.
 */
#include "preload/shim.h"

#include <dirent.h>
#include <ftw.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "preload/paths/paths.h"

/* glob(3) takes other functions for reading directories. */
static void* glob_open(const char* path)
{
  return opendir(path);
}

static struct dirent* glob_read(void* directory)
{
  return readdir(directory);
}

static void glob_close(void* directory)
{
  closedir(directory);
}

UMW_PUBLIC int glob(const char* restrict pattern, int flags, int (*on_error)(const char*, int), glob_t* restrict result)
{
  if (!umw_gate || flags & GLOB_ALTDIRFUNC)
    return UMW_REAL(glob)(pattern, flags, on_error, result);
  result->gl_opendir = glob_open;
  result->gl_readdir = glob_read;
  result->gl_closedir = glob_close;
  result->gl_stat = stat;
  result->gl_lstat = lstat;
  const int status = UMW_REAL(glob)(pattern, flags | GLOB_ALTDIRFUNC, on_error, result);
  result->gl_flags &= ~GLOB_ALTDIRFUNC;
  return status;
}

static struct dirent64* glob_read64(void* directory)
{
  return readdir64(directory);
}

UMW_PUBLIC int glob64(const char* restrict pattern, int flags, int (*on_error)(const char*, int),
                      glob64_t* restrict result)
{
  if (!umw_gate || flags & GLOB_ALTDIRFUNC)
    return UMW_REAL(glob64)(pattern, flags, on_error, result);
  result->gl_opendir = glob_open;
  result->gl_readdir = glob_read64;
  result->gl_closedir = glob_close;
  result->gl_stat = stat64;
  result->gl_lstat = lstat64;
  const int status = UMW_REAL(glob64)(pattern, flags | GLOB_ALTDIRFUNC, on_error, result);
  result->gl_flags &= ~GLOB_ALTDIRFUNC;
  return status;
}

/* ftw(3) walks by itself; what it finds is named as the program knows it. */
static _Thread_local union {
  __ftw_func_t plain;
  __nftw_func_t with_place;
} walk_visits;

static int visit(const char* path, const struct stat* status, int type)
{
  char name[PATH_MAX];
  snprintf(name, sizeof name, "%s", path);
  return walk_visits.plain(umw_path_shown(name), status, type);
}

static int visit_with_place(const char* path, const struct stat* status, int type, struct FTW* place)
{
  char name[PATH_MAX];
  snprintf(name, sizeof name, "%s", path);
  const size_t base = strlen(path) - (size_t)place->base;
  umw_path_shown(name);
  struct FTW there = {(int)(strlen(name) - base), place->level};
  return walk_visits.with_place(name, status, type, &there);
}

UMW_PUBLIC int ftw(const char* path, __ftw_func_t function, int descriptors)
{
  struct umw_path room;
  const char* there = umw_path_of(path, &room);
  if (there == path)
    return UMW_REAL(ftw)(path, function, descriptors);
  const __typeof__(walk_visits) outer = walk_visits;
  walk_visits.plain = function;
  const int result = UMW_REAL(ftw)(there, visit, descriptors);
  walk_visits = outer;
  return result;
}

UMW_PUBLIC int nftw(const char* path, __nftw_func_t function, int descriptors, int flags)
{
  struct umw_path room;
  const char* there = umw_path_of(path, &room);
  if (there == path)
    return UMW_REAL(nftw)(path, function, descriptors, flags);
  const __typeof__(walk_visits) outer = walk_visits;
  walk_visits.with_place = function;
  const int result = UMW_REAL(nftw)(there, visit_with_place, descriptors, flags);
  walk_visits = outer;
  return result;
}
