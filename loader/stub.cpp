// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loader/stub.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

namespace umwelt::loader
{

namespace
{

// File = memory image: headers, dynamic section, initialisers, symbols, their table, strings; one read-write segment at
// address 0.
std::vector<char> image_of(std::span<const std::string> needed, const StubSymbol& symbol, std::uintptr_t initialiser)
{
  std::string strings(1, '\0');
  const auto add_text = [&strings](const std::string& text) {
    const std::size_t at = strings.size();
    strings += text;
    strings += '\0';
    return at;
  };
  std::vector<Elf64_Dyn> dynamic;
  const auto add = [&dynamic](Elf64_Sxword tag, Elf64_Xword value) { dynamic.push_back({tag, {value}}); };
  for (const std::string& name : needed)
    add(DT_NEEDED, add_text(name));
  std::array<Elf64_Sym, 2> symbols{};
  symbols[1].st_name = static_cast<Elf64_Word>(add_text(symbol.name));
  symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
  symbols[1].st_shndx = SHN_ABS;
  symbols[1].st_value = symbol.address;
  // One bucket, which begins with symbol 1, behind which the chain ends (gABI, "Hash Table").
  const std::array<Elf64_Word, 5> hash = {1, symbols.size(), 1, 0, 0};

  const std::vector<std::uintptr_t> initialisers(initialiser != 0 ? 1 : 0, initialiser); // no relocation: an address

  const std::size_t tail = initialiser != 0 ? 9 : 6; // the entries below
  constexpr unsigned segments = 3;
  constexpr std::size_t page = 4096;
  const std::size_t dynamic_at = sizeof(Elf64_Ehdr) + segments * sizeof(Elf64_Phdr);
  const std::size_t initialisers_at = dynamic_at + (dynamic.size() + tail) * sizeof(Elf64_Dyn);
  const std::size_t symbols_at = initialisers_at + initialisers.size() * sizeof(std::uintptr_t);
  const std::size_t hash_at = symbols_at + sizeof symbols;
  const std::size_t strings_at = hash_at + sizeof hash;
  const std::size_t size = strings_at + strings.size();
  add(DT_HASH, hash_at);
  add(DT_STRTAB, strings_at);
  add(DT_SYMTAB, symbols_at);
  add(DT_STRSZ, strings.size());
  add(DT_SYMENT, sizeof(Elf64_Sym));
  if (initialiser != 0) {
    add(DT_INIT_ARRAY, initialisers_at);
    add(DT_INIT_ARRAYSZ, initialisers.size() * sizeof(std::uintptr_t));
    add(DT_FLAGS_1, DF_1_INITFIRST);
  }
  add(DT_NULL, 0);

  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof header;
  header.e_ehsize = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = segments;
  header.e_shentsize = sizeof(Elf64_Shdr);

  const Elf64_Phdr program[segments] = {
      {PT_LOAD, PF_R | PF_W, 0, 0, 0, size, size, page},
      {PT_DYNAMIC, PF_R | PF_W, dynamic_at, dynamic_at, dynamic_at, dynamic.size() * sizeof(Elf64_Dyn),
       dynamic.size() * sizeof(Elf64_Dyn), alignof(Elf64_Dyn)},
      {PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0, 0, 16}, // without it ld.so would make every stack executable
  };

  std::vector<char> image(size);
  const auto put = [&image](std::size_t at, const void* data, std::size_t bytes) {
    std::memcpy(image.data() + at, data, bytes);
  };
  put(0, &header, sizeof header);
  put(sizeof header, program, sizeof program);
  put(dynamic_at, dynamic.data(), dynamic.size() * sizeof(Elf64_Dyn));
  put(initialisers_at, initialisers.data(), initialisers.size() * sizeof(std::uintptr_t));
  put(symbols_at, symbols.data(), sizeof symbols);
  put(hash_at, hash.data(), sizeof hash);
  put(strings_at, strings.data(), strings.size());
  return image;
}

} // namespace

void write_stub(const std::string& path, std::span<const std::string> needed, const StubSymbol& symbol,
                std::uintptr_t initialiser)
{
  const std::vector<char> image = image_of(needed, symbol, initialiser);
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
  if (fd < 0)
    throw std::system_error(errno, std::generic_category(), path);
  const ssize_t written = write(fd, image.data(), image.size());
  const int error = errno;
  close(fd);
  if (written != static_cast<ssize_t>(image.size()))
    throw std::system_error(written < 0 ? error : ENOSPC, std::generic_category(), path);
}

} // namespace umwelt::loader
