// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loader/initial_stack.h"

#include <cerrno>
#include <system_error>

#include <elf.h>
#include <sys/auxv.h>
#include <sys/mman.h>

namespace umwelt::loader
{

std::vector<std::uintptr_t> initial_stack(std::span<char* const> argv, std::span<char* const> envp,
                                          std::span<const AuxiliaryEntry> own)
{
  std::vector<std::uintptr_t> words{0};
  const auto add_texts = [&words](std::span<char* const> texts) {
    for (char* text : texts)
      if (text != nullptr)
        words.push_back(reinterpret_cast<std::uintptr_t>(text));
    words.push_back(0);
  };
  add_texts(argv);
  words.front() = words.size() - 2;
  add_texts(envp);
  const auto add = [&words](std::uintptr_t type, std::uintptr_t value) { words.insert(words.end(), {type, value}); };
  constexpr unsigned long handed_on[] = {AT_PAGESZ,   AT_HWCAP,        AT_HWCAP2,      AT_CLKTCK, AT_UID,
                                         AT_EUID,     AT_GID,          AT_EGID,        AT_SECURE, AT_RANDOM,
                                         AT_PLATFORM, AT_SYSINFO_EHDR, AT_MINSIGSTKSZ, AT_FLAGS};
  for (const unsigned long type : handed_on)
    add(type, getauxval(type));
  for (const AuxiliaryEntry& entry : own)
    add(entry.type, entry.value);
  add(AT_NULL, 0);
  return words;
}

std::uintptr_t make_stack(void* bottom)
{
  constexpr std::uintptr_t page = 4096;
  constexpr std::uintptr_t gap = 128UL * 1024;
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK | MAP_GROWSDOWN | MAP_FIXED;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const std::uintptr_t top = (here - gap) & ~(page - 1);
  const auto begin = reinterpret_cast<std::uintptr_t>(bottom);
  if (mmap(bottom, top - begin, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
    throw std::system_error(errno, std::generic_category(), "stack of a rank");
  return top;
}

} // namespace umwelt::loader
