// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loader/private_copy.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <vector>

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "loader/elf_handle.h"
#include "loader/tls_reserve.h"

namespace umwelt::loader
{

namespace
{

// Reads and writes pieces of a file.
class File
{
public:
  File(const std::string& path, int flags) : path_(path), file_(open(path.c_str(), flags | O_CLOEXEC))
  {
    if (file_.fd < 0)
      fail(std::strerror(errno));
  }

  template <typename T> void read(std::span<T> to, Elf64_Off at) const
  {
    if (pread(file_.fd, to.data(), to.size_bytes(), static_cast<off_t>(at)) != static_cast<ssize_t>(to.size_bytes()))
      fail("it ends too early");
  }
  template <typename T> void write(std::span<T> from, Elf64_Off at) const
  {
    if (pwrite(file_.fd, from.data(), from.size_bytes(), static_cast<off_t>(at)) !=
        static_cast<ssize_t>(from.size_bytes()))
      fail("it cannot be written");
  }
  [[nodiscard]] Elf64_Ehdr header() const
  {
    Elf64_Ehdr header;
    read(std::span(&header, 1), 0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
      fail("it is not ELF");
    return header;
  }
  [[nodiscard]] std::vector<Elf64_Phdr> segments() const
  {
    const Elf64_Ehdr its = header();
    std::vector<Elf64_Phdr> segments(its.e_phnum);
    read(std::span(segments), its.e_phoff);
    return segments;
  }

private:
  [[noreturn]] void fail(const std::string& why) const { throw std::runtime_error(fmt::format("{}: {}", path_, why)); }

  const std::string& path_;
  FileDescriptor file_;
};

} // namespace

std::string why_not_copied(const std::string& program)
{
  for (const Elf64_Phdr& segment : File(program, O_RDONLY).segments())
    if (segment.p_type == PT_TLS && (segment.p_memsz > tls_reserve_bytes || segment.p_align > tls_reserve_alignment))
      return fmt::format("thread-local variables of {}: expected at most {} bytes, aligned to {} or less, got {}, "
                         "aligned to {}. Next step: --loader linker, which has no such limits",
                         program, tls_reserve_bytes, tls_reserve_alignment, segment.p_memsz, segment.p_align);
  return {};
}

void make_private_copy(const std::string& program, const std::string& copy)
{
  if (const std::string why = why_not_copied(program); !why.empty())
    throw std::runtime_error(why);
  std::filesystem::copy_file(program, copy);
  chmod(copy.c_str(), S_IRWXU);
  const File file(copy, O_RDWR);
  Elf64_Ehdr header = file.header();
  header.e_type = ET_DYN;
  file.write(std::span(&header, 1), 0);
  for (const Elf64_Phdr& segment : file.segments()) {
    if (segment.p_type != PT_DYNAMIC)
      continue;
    std::vector<Elf64_Dyn> entries(segment.p_filesz / sizeof(Elf64_Dyn));
    file.read(std::span(entries), segment.p_offset);
    for (Elf64_Dyn& entry : entries)
      if (entry.d_tag == DT_FLAGS_1)
        entry.d_un.d_val &= ~static_cast<Elf64_Xword>(DF_1_PIE | DF_1_NOOPEN);
    file.write(std::span(entries), segment.p_offset);
  }
}

} // namespace umwelt::loader
