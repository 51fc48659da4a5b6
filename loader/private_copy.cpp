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
class Editor
{
public:
  explicit Editor(const std::string& path) : path_(path), file_(open(path.c_str(), O_RDWR | O_CLOEXEC))
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
  [[noreturn]] void fail(const std::string& why) const
  {
    throw std::runtime_error(fmt::format("private copy {}: {}", path_, why));
  }

private:
  const std::string& path_;
  FileDescriptor file_;
};

void check_thread_local_variables(const std::string& program, const Elf64_Phdr& segment)
{
  if (segment.p_memsz > tls_reserve_bytes || segment.p_align > tls_reserve_alignment)
    throw std::runtime_error(fmt::format(
        "thread-local variables of {}: expected at most {} bytes, aligned to {} or less, got {}, aligned to {}. Next "
        "step: --loader linker, which has no such limits",
        program, tls_reserve_bytes, tls_reserve_alignment, segment.p_memsz, segment.p_align));
}

} // namespace

void make_private_copy(const std::string& program, const std::string& copy)
{
  std::filesystem::copy_file(program, copy);
  chmod(copy.c_str(), S_IRWXU);
  const Editor editor(copy);
  Elf64_Ehdr header;
  editor.read(std::span(&header, 1), 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    editor.fail("it is not ELF");
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  editor.read(std::span(segments), header.e_phoff);
  header.e_type = ET_DYN;
  editor.write(std::span(&header, 1), 0);
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_TLS)
      check_thread_local_variables(program, segment);
    if (segment.p_type != PT_DYNAMIC)
      continue;
    std::vector<Elf64_Dyn> entries(segment.p_filesz / sizeof(Elf64_Dyn));
    editor.read(std::span(entries), segment.p_offset);
    for (Elf64_Dyn& entry : entries)
      if (entry.d_tag == DT_FLAGS_1)
        entry.d_un.d_val &= ~static_cast<Elf64_Xword>(DF_1_PIE | DF_1_NOOPEN);
    editor.write(std::span(entries), segment.p_offset);
  }
}

} // namespace umwelt::loader
