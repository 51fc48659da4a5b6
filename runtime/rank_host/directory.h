// SPDX-License-Identifier: LGPL-2.1-or-later
// An open directory that is the working directory of one or more ranks.
#pragma once

#include <unistd.h>

namespace umwelt::rank_host
{

class Directory
{
public:
  explicit Directory(int fd) : fd_(fd) {}
  ~Directory()
  {
    if (fd_ >= 0)
      close(fd_);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  [[nodiscard]] int fd() const { return fd_; }

private:
  int fd_;
};

} // namespace umwelt::rank_host
