// SPDX-License-Identifier: LGPL-2.1-or-later
// A file descriptor that is closed with its owner.
#pragma once

#include <string>
#include <utility>

#include <unistd.h>

namespace umwelt
{

class Descriptor
{
public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept
  {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor()
  {
    if (fd_ >= 0)
      close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }

private:
  int fd_;
};

// All of a file or memory file, wherever its offset is; as far as it can be read.
std::string contents(int fd);

} // namespace umwelt
