/* SPDX-License-Identifier: LGPL-2.1-or-later
 * process_vm_readv, process_vm_writev and kcmp between processes of a node, and memfd_create. */
#include "node_peers.h"

#include <linux/kcmp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

enum { peers = 2, bytes = 100000 };

#define FAILS(call, error) CHECK((long)(call) == -1 && errno == (error))

static struct common {
  volatile int word;
  struct {
    pid_t pid;
    unsigned char* memory;
    unsigned char* pages; /* two, of which the second is not there */
  } of[peers];
} * common;

static void copies(void)
{
  static unsigned char own[bytes], copy[bytes];
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  unsigned char* pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(pages != MAP_FAILED && mprotect(pages + page, page, PROT_NONE) == 0);
  memset(pages, 100 + peer, page);
  for (int i = 0; i < bytes; ++i)
    own[i] = (unsigned char)(i * 7 + peer);
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  common->of[peer].pid = getpid();
  common->of[peer].memory = own;
  common->of[peer].pages = pages;
  meet(&common->word, peers);
  const int other = 1 - peer;
  const pid_t pid = common->of[other].pid;
  CHECK(pid != getpid());
  struct iovec here[2] = {{copy, 1000}, {copy + 1000, bytes - 1000}};
  struct iovec there[2] = {{common->of[other].memory, 50000}, {common->of[other].memory + 50000, bytes - 50000}};
  CHECK(process_vm_readv(pid, here, 2, there, 2, 0) == bytes);
  for (int i = 0; i < bytes; ++i)
    CHECK(copy[i] == (unsigned char)(i * 7 + other));
  const struct iovec self = {own, 1000};
  CHECK(process_vm_readv(getpid(), here, 1, &self, 1, 0) == 1000 && copy[1] == own[1]);

  /* what is not there: whole parts of the other side before it are copied */
  struct iovec broken[2] = {{common->of[other].pages, page}, {common->of[other].pages + page, page}};
  here[0] = (struct iovec){copy, bytes};
  CHECK(process_vm_readv(pid, here, 1, broken, 2, 0) == (ssize_t)page && copy[page - 1] == 100 + other);
  FAILS(process_vm_readv(pid, here, 1, broken + 1, 1, 0), EFAULT);
  struct iovec nowhere = {(void*)8, 100};
  FAILS(process_vm_readv(pid, &nowhere, 1, there, 1, 0), EFAULT);
  FAILS(process_vm_readv(pid, here, 1, there, 1, 1), EINVAL);
  FAILS(process_vm_readv(pid, here, 1, there, 2000, 0), EINVAL);
  FAILS(process_vm_readv(4000000, here, 1, there, 1, 0), ESRCH);
  CHECK(process_vm_readv(pid, here, 0, there, 1, 0) == 0);

  /* what Open MPI asks first; EPERM: natively in a container */
  CHECK(syscall(SYS_kcmp, getpid(), pid, KCMP_VM, 0, 0) > 0 || errno == EPERM);
  CHECK(syscall(SYS_kcmp, getpid(), getpid(), KCMP_VM, 0, 0) == 0 || errno == EPERM);
  CHECK(syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, 1, 1) == 0 || errno == EPERM);
  CHECK(syscall(SYS_kcmp, getpid(), 4000000, KCMP_VM, 0, 0) == -1 && (errno == ESRCH || errno == EPERM));
  meet(&common->word, peers);

  if (peer == 0) {
    memset(copy, 42, bytes);
    const struct iovec from = {copy, 3000}, to = {common->of[1].memory + 10, 3000};
    CHECK(process_vm_writev(pid, &from, 1, &to, 1, 0) == 3000);
  }
  meet(&common->word, peers);
  if (peer == 1)
    CHECK(own[9] == (unsigned char)(9 * 7 + 1) && own[10] == 42 && own[3009] == 42 &&
          own[3010] == (unsigned char)(3010 * 7 + 1));
  say("copies");
}

static void memory_file(void)
{
  const int fd = memfd_create("peers", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  CHECK(fd >= 0 && ftruncate(fd, bytes) == 0);
  unsigned char* first = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  unsigned char* second = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
  CHECK(first != MAP_FAILED && second != MAP_FAILED && first != second);
  memset(first, 17, bytes);
  CHECK(second[bytes - 1] == 17);
  char there[100];
  CHECK(pread(fd, there, sizeof there, 500) == sizeof there && there[99] == 17);
  memmove(first + 1, first, bytes / 2); /* copies within and out of memory that may be shared */
  memcpy(there, second + 10, sizeof there);
  CHECK(there[0] == 17);
  CHECK(munmap(first, bytes) == 0 && munmap(second, bytes) == 0);
  CHECK(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
  FAILS(ftruncate(fd, 10), EPERM);
  close(fd);
  say("memory file");
}

int main(void)
{
  become_peers(peers);
  common = common_memory("memory", sizeof *common);
  copies();
  memory_file();
  meet(&common->word, peers);
  if (peer == 0)
    shm_unlink(name_of("memory"));
  return 0;
}
