// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/descriptors.h"

#include <array>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace umwelt::rank_host
{

namespace
{

// The program may have closed it, and something else is there.
bool is_pmi(const umw_gate& gate, int own)
{
  struct stat status {
  };
  return own == gate.pmi_fd && fstat(own, &status) == 0 && status.st_ino == gate.pmi_inode &&
         status.st_dev == gate.pmi_device;
}

} // namespace

std::uint32_t* descriptor_owners()
{
  static std::array<std::uint32_t, UMW_DESCRIPTORS> owners;
  return owners.data();
}

std::uint32_t* openers()
{
  static std::uint32_t calls = 0;
  return &calls;
}

void end_opening(umw_gate& gate)
{
  *openers() -= std::exchange(gate.opening, 0);
}

void close_descriptors(umw_gate& gate)
{
  end_opening(gate);
  const std::uint32_t self = gate.owner;
  std::uint32_t* owners = descriptor_owners();
  const int nothing = open("/", O_PATH | O_CLOEXEC);
  for (const int home : gate.standard_fds) {
    dup3(nothing, home, O_CLOEXEC);
    owners[home] = UMW_OWN_DESCRIPTOR;
  }
  close(nothing);
  for (int own = 3; own < UMW_DESCRIPTORS; ++own)
    if (owners[own] == self) {
      owners[own] = 0;
      if (!is_pmi(gate, own))
        close(own);
    }
}

} // namespace umwelt::rank_host
