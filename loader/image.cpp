// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loader/image.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loader/elf_handle.h"

namespace umwelt::loader
{

namespace
{

constexpr std::uintptr_t page = 4096;
constexpr unsigned most_segments = 64;

std::uintptr_t down(std::uintptr_t address)
{
  return address & ~(page - 1);
}

std::uintptr_t up(std::uintptr_t address)
{
  return down(address + page - 1);
}

int protection_of(const ElfW(Phdr) & segment)
{
  return ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) | ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
         ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
}

[[noreturn]] void fail(const std::string& path)
{
  throw std::system_error(errno, std::generic_category(), path);
}

void read_exactly(int fd, void* to, std::size_t bytes, std::uint64_t offset, const std::string& path)
{
  if (pread(fd, to, bytes, static_cast<off_t>(offset)) != static_cast<ssize_t>(bytes))
    throw std::runtime_error(fmt::format("{}: too short for a dynamic linker", path));
}

} // namespace

Image::Image(const std::string& path, void (*gave_up)(void*, int), void* argument)
{
  const FileDescriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0)
    fail(path);
  ElfW(Ehdr) header{};
  read_exactly(file.fd, &header, sizeof header, 0, path);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_type != ET_DYN || header.e_machine != EM_X86_64 ||
      header.e_phentsize != sizeof(ElfW(Phdr)) || header.e_phnum > most_segments)
    throw std::runtime_error(fmt::format("{}: expected a dynamic linker for x86-64, found another file", path));
  std::vector<ElfW(Phdr)> segments(header.e_phnum);
  read_exactly(file.fd, segments.data(), segments.size() * sizeof(ElfW(Phdr)), header.e_phoff, path);
  std::erase_if(segments, [](const ElfW(Phdr) & segment) { return segment.p_type != PT_LOAD; });
  if (segments.empty() || segments.front().p_vaddr != 0)
    throw std::runtime_error(fmt::format("{}: expected a dynamic linker, found an ELF file of another kind", path));

  const std::uintptr_t size = up(segments.back().p_vaddr + segments.back().p_memsz);
  void* place = mmap(nullptr, size + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED)
    fail(path);
  base_ = reinterpret_cast<std::uintptr_t>(place);
  header_ = reinterpret_cast<const ElfW(Ehdr)*>(base_);
  for (const ElfW(Phdr) & segment : segments) {
    const std::uintptr_t begin = base_ + down(segment.p_vaddr);
    const std::uintptr_t file_end = base_ + segment.p_vaddr + segment.p_filesz;
    const std::uintptr_t end = base_ + up(segment.p_vaddr + segment.p_memsz);
    if (mmap(reinterpret_cast<void*>(begin), file_end - begin, protection_of(segment), MAP_PRIVATE | MAP_FIXED, file.fd,
             static_cast<off_t>(down(segment.p_offset))) == MAP_FAILED)
      fail(path);
    if (segment.p_memsz == segment.p_filesz)
      continue;
    std::memset(reinterpret_cast<void*>(file_end), 0, up(file_end) - file_end);
    if (end > up(file_end) && mmap(reinterpret_cast<void*>(up(file_end)), end - up(file_end), protection_of(segment),
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
      fail(path);
  }
  replace_exit(base_ + size, gave_up, argument);
}

const ElfW(Phdr) * Image::segments() const
{
  return reinterpret_cast<const ElfW(Phdr)*>(base_ + header_->e_phoff);
}

// `mov $231, %register` (exit_group) with a system call close behind begins ld.so's _exit, which has its status in
// %edi: it becomes a jump to a few instructions behind the image.
void Image::replace_exit(std::uintptr_t trampoline, void (*gave_up)(void*, int), void* argument)
{
  constexpr std::size_t jump_bytes = 5;
  constexpr std::size_t close = 40;
  constexpr std::array<unsigned char, 2> system_call = {0x0f, 0x05};
  std::vector<unsigned char*> found;
  for (int i = 0; i < header_->e_phnum; ++i) {
    const ElfW(Phdr)& segment = segments()[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0 || segment.p_filesz < close + jump_bytes)
      continue;
    auto* const begin = reinterpret_cast<unsigned char*>(base_ + segment.p_vaddr);
    for (unsigned char* at = begin; at < begin + segment.p_filesz - close - jump_bytes; ++at) {
      constexpr std::array<unsigned char, 4> number = {0xe7, 0, 0, 0};
      if (at[0] < 0xb8 || at[0] > 0xbf || std::memcmp(at + 1, number.data(), number.size()) != 0)
        continue;
      const unsigned char* const behind = at + jump_bytes;
      if (std::search(behind, behind + close, system_call.begin(), system_call.end()) != behind + close)
        found.push_back(at);
    }
  }
  auto* code = reinterpret_cast<unsigned char*>(trampoline);
  if (found.size() != 1 || mprotect(code, page, PROT_READ | PROT_WRITE) != 0)
    return;
  // mov %edi, %esi; movabs $argument, %rdi; movabs $gave_up, %rax; jmp *%rax
  unsigned char instructions[24] = {0x89, 0xfe, 0x48, 0xbf, 0, 0, 0, 0, 0, 0, 0,    0,
                                    0x48, 0xb8, 0,    0,    0, 0, 0, 0, 0, 0, 0xff, 0xe0};
  std::memcpy(instructions + 4, &argument, sizeof argument);
  std::memcpy(instructions + 14, &gave_up, sizeof gave_up);
  std::memcpy(code, instructions, sizeof instructions);
  mprotect(code, page, PROT_READ | PROT_EXEC);

  auto* const way_out = found.front();
  const auto first = down(reinterpret_cast<std::uintptr_t>(way_out));
  const std::uintptr_t bytes = up(reinterpret_cast<std::uintptr_t>(way_out) + jump_bytes) - first;
  if (mprotect(reinterpret_cast<void*>(first), bytes, PROT_READ | PROT_WRITE) != 0)
    return;
  const auto distance = static_cast<std::int32_t>(code - (way_out + jump_bytes));
  way_out[0] = 0xe9;
  std::memcpy(way_out + 1, &distance, sizeof distance);
  mprotect(reinterpret_cast<void*>(first), bytes, PROT_READ | PROT_EXEC);
  returns_ = true;
}

// From DT_HASH or DT_GNU_HASH nothing but the number of symbols is needed, and there are few: the strings follow the
// symbols.
void* Image::symbol(const char* name) const
{
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  for (int i = 0; i < header_->e_phnum; ++i) {
    if (segments()[i].p_type != PT_DYNAMIC)
      continue;
    // ld.so relocates its own dynamic section; before it has run, and in some versions, values are relative.
    const auto address = [this](std::uintptr_t value) { return value < base_ ? value + base_ : value; };
    for (auto* entry = reinterpret_cast<const ElfW(Dyn)*>(base_ + segments()[i].p_vaddr); entry->d_tag != DT_NULL;
         ++entry) {
      if (entry->d_tag == DT_SYMTAB)
        symbols = reinterpret_cast<const ElfW(Sym)*>(address(entry->d_un.d_ptr));
      if (entry->d_tag == DT_STRTAB)
        names = reinterpret_cast<const char*>(address(entry->d_un.d_ptr));
    }
  }
  for (const ElfW(Sym)* symbol = symbols; symbol != nullptr && reinterpret_cast<const char*>(symbol + 1) <= names;
       ++symbol)
    if (symbol->st_shndx != SHN_UNDEF && std::strcmp(names + symbol->st_name, name) == 0)
      return reinterpret_cast<void*>(base_ + symbol->st_value);
  return nullptr;
}

} // namespace umwelt::loader
