/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * PMI_FD, the descriptor over which a launcher's PMI-1 clients talk to it (runtime/job/pmi_socket.h is the other end).
 * It is a non-blocking socket; what the program takes for a blocking read waits at the gate. It is told from other
 * descriptors by its inode, so that copies made with dup or fcntl are recognised too.
 */
#include "preload/shim.h"

#include <sys/stat.h>

bool umw_is_pmi(int fd)
{
  struct stat status;
  return umw_gate && umw_gate->pmi_fd >= 0 && UMW_REAL(fstat)(fd, &status) == 0 &&
         status.st_ino == umw_gate->pmi_inode && status.st_dev == umw_gate->pmi_device;
}

void umw_pmi_written(int fd)
{
  const int before = errno;
  if (umw_is_pmi(fd))
    umw_pmi_serve(0);
  errno = before;
}

bool umw_pmi_read_again(int fd)
{
  const int before = errno;
  if (before == EAGAIN && umw_is_pmi(fd)) {
    const uint64_t seen = umw_gate->descriptor_news;
    const bool served = umw_ucx_progress();
    umw_pmi_wait(served, seen);
    return true;
  }
  errno = before;
  return false;
}
