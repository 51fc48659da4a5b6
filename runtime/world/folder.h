// SPDX-License-Identifier: LGPL-2.1-or-later
// An open folder that is the working directory of one or more ranks.
#pragma once

#include <unistd.h>

namespace umwelt::world
{

class Folder
{
public:
  explicit Folder(int fd) : fd_(fd) {}
  ~Folder()
  {
    if (fd_ >= 0)
      close(fd_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] int fd() const { return fd_; }

private:
  int fd_;
};

} // namespace umwelt::world
