// SPDX-License-Identifier: LGPL-2.1-or-later
// Owners of what libelf hands out.
#pragma once

#include <memory>

#include <libelf.h>
#include <unistd.h>

namespace umwelt::loader
{

struct FileDescriptor {
  int fd;
  explicit FileDescriptor(int f) : fd(f) {}
  ~FileDescriptor()
  {
    if (fd >= 0)
      close(fd);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
};

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, EndElf>;

} // namespace umwelt::loader
