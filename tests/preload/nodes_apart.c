/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Two ranks on two nodes: nothing of one's memory has a name on the other. Not for native use. */
#include "node_peers.h"

#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/uio.h>

#define FAILS(call, error) CHECK((long)(call) == -1 && errno == (error))

int main(void)
{
  become_peers(2);
  if (peer == 0) {
    CHECK(open("/dev/shm/umwelt-apart", O_CREAT | O_EXCL | O_RDWR, 0600) >= 0);
    CHECK(shmget(0x554d, 4096, IPC_CREAT | IPC_EXCL | 0600) >= 0);
    CHECK(semget(0x554d, 1, IPC_CREAT | IPC_EXCL | 0600) >= 0);
    CHECK(msgget(0x554d, IPC_CREAT | IPC_EXCL | 0600) >= 0);
  }
  usleep(1000);
  if (peer == 1) {
    FAILS(open("/dev/shm/umwelt-apart", O_RDWR), ENOENT);
    FAILS(shm_open("/umwelt-apart", O_RDWR, 0), ENOENT);
    FAILS(shmget(0x554d, 4096, 0), ENOENT);
    FAILS(semget(0x554d, 1, 0), ENOENT);
    FAILS(msgget(0x554d, 0), ENOENT);
  }
  char byte = 0;
  struct iovec part = {&byte, 1};
  FAILS(process_vm_readv(getpid() + (peer == 0 ? 1 : -1), &part, 1, &part, 1, 0), ESRCH);
  usleep(1000);
  return 0;
}
