// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/entries/object_file.h"

#include <cerrno>
#include <cstring>
#include <system_error>

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "loader/elf_handle.h"

namespace umwelt::entries
{

ObjectFile::ObjectFile(const std::string& path)
{
  const loader::FileDescriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat status {
  };
  if (file.fd < 0 || fstat(file.fd, &status) != 0)
    throw std::system_error(errno, std::generic_category(), path);
  bytes_ = static_cast<std::size_t>(status.st_size);
  void* const mapped = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (mapped == MAP_FAILED)
    throw std::system_error(errno, std::generic_category(), path);
  content_ = mapped;
  Elf64_Ehdr header{};
  if (bytes_ < sizeof header)
    return;
  std::memcpy(&header, content_, sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(Elf64_Phdr))
    return;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (header.e_phoff > bytes_ || (i + 1) * sizeof segment > bytes_ - header.e_phoff)
      return;
    std::memcpy(&segment, content().data() + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 && segment.p_offset <= bytes_ &&
        segment.p_filesz <= bytes_ - segment.p_offset)
      segments_.push_back({segment.p_vaddr, segment.p_filesz, segment.p_offset});
  }
}

ObjectFile::~ObjectFile()
{
  munmap(content_, bytes_);
}

} // namespace umwelt::entries
