/* SPDX-License-Identifier: LGPL-2.1-or-later
 * A node's /dev/shm of 1 MiB (--shm-size): what fits, what does not, what both ranks see of it. As on a tmpfs of that
 * size. */
#include "node_peers.h"

#include <sys/statvfs.h>

enum { size = 1 << 20, half = size / 2 };

#define FAILS(call, error) CHECK((long)(call) == -1 && errno == (error))

static long free_blocks(void)
{
  struct statvfs status;
  CHECK(statvfs("/dev/shm", &status) == 0 && status.f_blocks == size / 4096);
  return (long)status.f_bfree;
}

int main(void)
{
  static char data[2 * size];
  become_peers(2);
  usleep(peer == 0 ? 0 : 1000);
  CHECK(free_blocks() == (peer == 0 ? 256 : 0));
  if (peer == 0) {
    const int sparse = shm_open("/sparse", O_CREAT | O_EXCL | O_RDWR, 0600);
    CHECK(sparse >= 0 && ftruncate(sparse, 16 * size) == 0 && free_blocks() == 256);
    CHECK(posix_fallocate(sparse, 0, size + 1) == ENOSPC && posix_fallocate(sparse, 0, 2 * size) == ENOSPC);
    CHECK(free_blocks() == 256);
    CHECK(posix_fallocate(sparse, 0, half) == 0 && free_blocks() == 128);
    CHECK(posix_fallocate(sparse, 0, half) == 0 && free_blocks() == 128);
    const int full = open("/dev/shm/full", O_CREAT | O_EXCL | O_RDWR, 0600);
    CHECK(full >= 0);
    CHECK(write(full, data, sizeof data) == half);
    FAILS(write(full, data, 1), ENOSPC);
    FAILS(pwrite(full, data, 10, 10 * size), ENOSPC);
    CHECK(pwrite(full, data, half, 0) == half);
    FAILS(fallocate(full, 0, half, 4096), ENOSPC);
    CHECK(free_blocks() == 0);
  }
  usleep(2000);
  if (peer == 1) {
    const int one = open("/dev/shm/one", O_CREAT | O_EXCL | O_RDWR, 0600);
    CHECK(one >= 0);
    FAILS(write(one, "x", 1), ENOSPC);
    CHECK(unlink("/dev/shm/full") == 0 && free_blocks() == 128);
    CHECK(write(one, "x", 1) == 1 && free_blocks() == 127);
  }
  return 0;
}
