/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Files in /dev/shm by their path and by shm_open: the same ones, for all processes of the node. */
#include "node_peers.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

enum { peers = 2, tmpfs = 0x01021994 };

#define FAILS(call, error) CHECK((long)(call) == -1 && errno == (error))

static const char* path_of(const char* what)
{
  static char paths[4][128];
  static int next;
  char* path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "/dev/shm%s", name_of(what));
  return path;
}

static int is_listed(const char* path)
{
  DIR* directory = opendir("/dev/shm");
  CHECK(directory);
  int found = 0;
  for (const struct dirent* entry; (entry = readdir(directory));)
    found += strcmp(entry->d_name, path + strlen("/dev/shm/")) == 0;
  closedir(directory);
  return found;
}

static void names(volatile int* word)
{
  struct stat status, other;
  if (peer == 0) {
    const int fd = open(path_of("file"), O_CREAT | O_EXCL | O_RDWR, 0600);
    CHECK(fd >= 0 && write(fd, "hello", 5) == 5 && fstat(fd, &status) == 0);
    close(fd);
    FAILS(open(path_of("file"), O_CREAT | O_EXCL | O_RDWR, 0600), EEXIST);
  }
  meet(word, peers);
  const int fd = shm_open(name_of("file"), O_RDONLY, 0);
  char text[6] = "";
  CHECK(fd >= 0 && read(fd, text, 5) == 5 && strcmp(text, "hello") == 0);
  CHECK(fstat(fd, &status) == 0 && stat(path_of("file"), &other) == 0 && status.st_ino == other.st_ino);
  close(fd);
  CHECK(is_listed(path_of("file")));
  CHECK(access(path_of("file"), R_OK | W_OK) == 0);
  FAILS(access(path_of("none"), F_OK), ENOENT);
  FAILS(open("/dev/shm", O_RDWR), EISDIR);
  CHECK(stat("/dev/shm", &status) == 0 && S_ISDIR(status.st_mode) && (status.st_mode & 07777) == 01777);
  meet(word, peers);
  if (peer == 1) {
    CHECK(mkdir(path_of("directory"), 0700) == 0);
    char to[256];
    snprintf(to, sizeof to, "%s/moved", path_of("directory"));
    CHECK(rename(path_of("file"), to) == 0);
    CHECK(symlink(to, path_of("link")) == 0);
    CHECK(truncate(to, 3) == 0 && chmod(to, 0640) == 0);
    CHECK(stat(to, &status) == 0 && status.st_size == 3 && (status.st_mode & 0777) == 0640);
    FAILS(rmdir(path_of("directory")), ENOTEMPTY);
    CHECK(unlink(path_of("link")) == 0 && unlink(to) == 0 && rmdir(path_of("directory")) == 0);
  }
  meet(word, peers);
  CHECK(!is_listed(path_of("file")));
  FAILS(stat(path_of("file"), &status), ENOENT);
  FAILS(shm_unlink(name_of("file")), ENOENT);
  char pattern[64] = "/dev/shm/umwelt-XXXXXX";
  const int made = mkstemp(pattern);
  CHECK(made >= 0 && is_listed(pattern) && unlink(pattern) == 0);
  close(made);
  say("names");
}

static void room(void)
{
  struct statfs status;
  struct statvfs more;
  CHECK(statfs("/dev/shm", &status) == 0 && status.f_type == tmpfs);
  CHECK(statvfs("/dev/shm", &more) == 0 && more.f_blocks == (fsblkcnt_t)status.f_blocks && more.f_frsize == 4096);
  CHECK(more.f_bfree <= more.f_blocks && more.f_bavail == more.f_bfree);
  const int fd = open(path_of("room"), O_CREAT | O_RDWR, 0600);
  CHECK(fd >= 0 && fstatfs(fd, &status) == 0 && status.f_type == tmpfs);
  CHECK(posix_fallocate(fd, 0, 1 << 20) == 0);
  struct statvfs after;
  CHECK(fstatvfs(fd, &after) == 0 && after.f_bfree <= more.f_bfree - 256);
  CHECK(unlink(path_of("room")) == 0);
  close(fd);
  say("room");
}

int main(void)
{
  become_peers(peers);
  volatile int* word = common_memory("words", sizeof *word);
  names(word);
  meet(word, peers);
  if (peer == 0)
    room();
  meet(word, peers);
  if (peer == 0)
    shm_unlink(name_of("words"));
  return 0;
}
