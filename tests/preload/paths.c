// SPDX-License-Identifier: LGPL-2.1-or-later
// Whatever call names a file, and whatever it is relative to, it is the same file. Natively that is so by itself; a
// rank sees files of its node among the machine's.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/vfs.h>
#include <unistd.h>

static int failures;

// Steps of which each is done before the next, with what came of it.
#define step(...)                                                                                                      \
  do {                                                                                                                 \
    errno = 0;                                                                                                         \
    const long result = (__VA_ARGS__);                                                                                 \
    printf("%s: %s (%s)\n", #__VA_ARGS__, result < 0 ? "fails" : "works", strerror(errno));                            \
  } while (0)

static void check(int right, const char* what, const char* path)
{
  if (!right)
    printf("%s: %s disagrees (%s)\n", path, what, strerror(errno));
  failures += !right;
}

// Where the file is, once opened, as text.
static int text_of(int fd, char* text)
{
  const ssize_t size = fd < 0 ? -1 : read(fd, text, 4095);
  if (fd >= 0)
    close(fd);
  text[size < 0 ? 0 : size] = '\0';
  return size >= 0;
}

static void agree(const char* path)
{
  const char* const last = strrchr(path, '/') + 1;
  char expected[4096];
  char text[4096];
  char relative[2 * PATH_MAX];
  struct stat status, again;
  struct statx extended;
  check(text_of(open(path, O_RDONLY), expected) && expected[0], "open", path);
  check(stat(path, &status) == 0, "stat", path);

  const int root = open("/", O_PATH | O_DIRECTORY);
  check(text_of(openat(root, path + 1, O_RDONLY), text) && strcmp(text, expected) == 0, "openat the root", path);
  check(fstatat(root, path + 1, &again, 0) == 0 && again.st_ino == status.st_ino, "fstatat the root", path);
  check(statx(root, path + 1, 0, STATX_INO, &extended) == 0 && extended.stx_ino == status.st_ino, "statx", path);
  check(faccessat(root, path + 1, R_OK, 0) == 0 && access(path, R_OK) == 0, "access", path);
  close(root);

  FILE* stream = fopen(path, "r");
  text[0] = '\0';
  if (stream) {
    text[fread(text, 1, 4095, stream)] = '\0';
    fclose(stream);
  }
  check(strcmp(text, expected) == 0, "fopen", path);

  // one directory at a time
  int directory = open("/", O_RDONLY | O_DIRECTORY);
  snprintf(relative, sizeof relative, "%s", path + 1);
  char* part = relative;
  for (char* slash; (slash = strchr(part, '/')); part = slash + 1) {
    *slash = '\0';
    const int next = openat(directory, part, O_RDONLY | O_DIRECTORY);
    close(directory);
    directory = next;
  }
  check(text_of(openat(directory, last, O_RDONLY), text) && strcmp(text, expected) == 0, "openat its directory", path);

  // the directory knows it
  int listed = 0;
  DIR* entries = fdopendir(directory);
  for (struct dirent* entry; entries && (entry = readdir(entries));)
    listed += strcmp(entry->d_name, last) == 0;
  if (entries)
    closedir(entries);
  check(listed == 1, "readdir", path);

  // from within its directory, and with detours
  char here[PATH_MAX], there[PATH_MAX], shown[PATH_MAX];
  getcwd(here, sizeof here);
  snprintf(there, sizeof there, "%.*s", (int)(strrchr(path, '/') - path), path);
  check(chdir(there) == 0 && text_of(open(last, O_RDONLY), text) && strcmp(text, expected) == 0, "chdir", path);
  check(getcwd(shown, sizeof shown) && strcmp(shown, realpath(there, text) ? text : "") == 0, "getcwd", path);
  check(chdir("/") == 0 && text_of(open(path + 1, O_RDONLY), text) && strcmp(text, expected) == 0, "chdir /", path);
  check(chdir(here) == 0, "chdir back", path);
  snprintf(relative, sizeof relative, "//usr/.././%s", path);
  check(text_of(open(relative, O_RDONLY), text) && strcmp(text, expected) == 0, "a path with ..", path);
  snprintf(relative, sizeof relative, "%s/../%s", there, last);
  check(text_of(open(relative, O_RDONLY), text) == 0 || strcmp(last, "hosts") != 0, "another path with ..", path);
  snprintf(relative, sizeof relative, "%s/", path);
  check(open(relative, O_RDONLY) < 0 && errno == ENOTDIR, "a slash behind a file", path);

  glob_t found;
  snprintf(relative, sizeof relative, "%.*s[%c]%s", (int)(strlen(path) - strlen(last)), path, last[0], last + 1);
  check(glob(relative, 0, NULL, &found) == 0 && found.gl_pathc == 1 && strcmp(found.gl_pathv[0], path) == 0, "glob",
        path);
  globfree(&found);
}

static int visited;
static const char* wanted;
static int visit(const char* path, const struct stat* status, int type, struct FTW* place)
{
  (void)status;
  (void)type;
  visited += strcmp(path, wanted) == 0 && strcmp(path + place->base, strrchr(wanted, '/') + 1) == 0;
  return 0;
}

static void refused(void)
{
  char text[8192];
  const char* volatile none = NULL;
  memset(text, 'x', sizeof text);
  memcpy(text, "/proc/", 6);
  text[sizeof text - 1] = '\0';
  step(open(text, O_RDONLY));
  text[4090] = '\0';
  step(open(text, O_RDONLY));
  step(open("", O_RDONLY));
  step(access(none, F_OK));
  step(openat(-5, "proc", O_RDONLY));
  step(open("/sys/class/net/none/address", O_RDONLY));
  step(chdir("/sys/class/net/lo/address"));
  step(chdir("/proc/none"));
  step(open("/proc/self/none", O_RDONLY));
}

// Files of the machine are what they were.
static void plain(void)
{
  char directory[] = "/tmp/umwelt-paths-XXXXXX";
  char path[64], other[64], text[64];
  struct stat status;
  printf("mkdtemp %d\n", mkdtemp(directory) != NULL);
  snprintf(path, sizeof path, "%s/aXXXXXX", directory);
  const int fd = mkstemp(path);
  printf("mkstemp %d %d\n", fd >= 0, strlen(path) == strlen(directory) + 8);
  close(fd);
  snprintf(other, sizeof other, "%s/b", directory);
  step(rename(path, other));
  step(link(other, path));
  step(unlink(path));
  step(symlink("b", path));
  const ssize_t length = readlink(path, text, sizeof text);
  printf("%.*s\n", (int)length, text);
  step(chmod(path, 0600));
  step(truncate(path, 10));
  step(stat(path, &status));
  printf("%o %ld\n", status.st_mode & 07777, (long)status.st_size);
  const int at = open(directory, O_RDONLY | O_DIRECTORY);
  step(unlinkat(at, strrchr(path, '/') + 1, 0));
  step(mkdirat(at, "c", 0700));
  step(renameat(at, "c", at, "d"));
  step(rmdir(directory));
  step(unlinkat(at, "d", AT_REMOVEDIR));
  step(remove(other));
  close(at);
  step(rmdir(directory));
}

int main(void)
{
  static const char* const files[] = {
      "/proc/net/dev",
      "/sys/class/net/lo/address",
  };
  for (unsigned i = 0; i < sizeof files / sizeof *files; ++i)
    agree(files[i]);
  wanted = "/proc/net/dev";
  nftw("/proc/net", visit, 10, FTW_PHYS | FTW_MOUNT);
  check(visited == 1 || access("/proc/self/ns/net", F_OK) == 0, "nftw", wanted);
  struct statfs system;
  step(statfs("/proc/net", &system));
  printf("%lx\n", (unsigned long)system.f_type);
  refused();
  plain();
  printf("%d failures\n", failures);
  return failures != 0;
}
