// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loader/namespace.h"

#include <array>
#include <cstdio>
#include <string_view>

#include <alloca.h>
#include <asm/prctl.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "loader/loaded_object.h"

namespace umwelt::loader
{

namespace
{

bool is_free(const AddressRange& range)
{
  auto* const begin = reinterpret_cast<void*>(range.begin);
  const std::size_t size = range.end - range.begin;
  void* const got =
      mmap(begin, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == MAP_FAILED)
    return false;
  munmap(got, size);
  return true;
}

std::string displaced(const AddressRange& linked_at, const char* got) noexcept
{
  std::array<char, 300> text;
  std::snprintf(
      text.data(), text.size(),
      "a program that is not position-independent (ET_EXEC): expected to lie at %#lx to %#lx, got %s. A process "
      "has room for one of them; umwelt gives such ranks a process (cell) each",
      static_cast<unsigned long>(linked_at.begin), static_cast<unsigned long>(linked_at.end), got);
  return text.data();
}

} // namespace

// ld.so passes the address a shared object was linked at to mmap as a hint (glibc 2.36, elf/dl-map-segments.h), and Linux
// follows the hint where nothing is in the way.
std::string Namespace::load(const char* stub, const AddressRange& linked_at) noexcept
{
  const bool fixed = linked_at.end > linked_at.begin;
  if (fixed && !is_free(linked_at))
    return displaced(linked_at, "that place taken");
  handle_ = dlmopen(LM_ID_NEWLM, stub, RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) {
    const char* message = dlerror();
    return message ? message : "unknown error of the dynamic linker";
  }
  dlinfo(handle_, RTLD_DI_LINKMAP, static_cast<void*>(&first_));
  if (fixed && program()->l_addr != 0)
    return displaced(linked_at, "another place from the kernel");
  return {};
}

const link_map* Namespace::program() const
{
  return first_ ? first_->l_next : nullptr;
}

std::vector<CodeRange> Namespace::uninterruptible() const
{
  std::vector<CodeRange> result;
  const link_map* shim = program() != nullptr ? program()->l_next : nullptr;
  for (const link_map* object = shim; object != nullptr; object = object->l_next) {
    if (object != shim && std::string_view(object->l_name).find("/ld-linux") == std::string_view::npos)
      continue;
    const Elf64_Ehdr* header = elf_header(*object);
    const Elf64_Phdr* segments = header != nullptr ? program_headers(*header) : nullptr;
    for (int i = 0; segments != nullptr && i < header->e_phnum; ++i)
      if (segments[i].p_type == PT_LOAD && (segments[i].p_flags & PF_X) != 0)
        result.push_back(
            {object->l_addr + segments[i].p_vaddr, object->l_addr + segments[i].p_vaddr + segments[i].p_memsz});
  }
  return result;
}

void enter_program(const link_map* program, int argc, char** argv, char** envp, const char* program_path,
                   std::uintptr_t thread_pointer, bool have_fsgsbase)
{
  const Elf64_Ehdr* header = elf_header(*program);
  const std::uintptr_t entry = program->l_addr + header->e_entry;

  int variables = 0;
  while (envp[variables] != nullptr)
    ++variables;
  constexpr unsigned long handed_on[] = {AT_PAGESZ, AT_BASE,     AT_HWCAP,        AT_HWCAP2,      AT_CLKTCK,
                                         AT_UID,    AT_EUID,     AT_GID,          AT_EGID,        AT_SECURE,
                                         AT_RANDOM, AT_PLATFORM, AT_SYSINFO_EHDR, AT_MINSIGSTKSZ, AT_FLAGS};
  constexpr std::size_t pairs = sizeof handed_on / sizeof *handed_on + 6;
  const std::size_t words =
      1 + static_cast<std::size_t>(argc) + 1 + static_cast<std::size_t>(variables) + 1 + 2 * pairs;
  auto* stack = static_cast<std::uintptr_t*>(alloca((words + 2) * sizeof(std::uintptr_t)));
  stack = reinterpret_cast<std::uintptr_t*>((reinterpret_cast<std::uintptr_t>(stack) + 15) & ~std::uintptr_t{15});

  std::uintptr_t* word = stack;
  *word++ = static_cast<std::uintptr_t>(argc);
  for (int i = 0; i <= argc; ++i)
    *word++ = reinterpret_cast<std::uintptr_t>(argv[i]);
  for (int i = 0; i <= variables; ++i)
    *word++ = reinterpret_cast<std::uintptr_t>(envp[i]);
  const auto add = [&word](std::uintptr_t type, std::uintptr_t value) {
    *word++ = type;
    *word++ = value;
  };
  for (const unsigned long type : handed_on)
    add(type, getauxval(type));
  add(AT_PHDR, reinterpret_cast<std::uintptr_t>(program_headers(*header)));
  add(AT_PHENT, header->e_phentsize);
  add(AT_PHNUM, header->e_phnum);
  add(AT_ENTRY, entry);
  add(AT_EXECFN, reinterpret_cast<std::uintptr_t>(program_path));
  add(AT_NULL, 0);

  // rdx = 0: no function for atexit to register; rbp = 0: outermost frame.
  if (have_fsgsbase) {
    asm volatile("wrfsbase %2\n\t"
                 "mov %0, %%rsp\n\t"
                 "xor %%edx, %%edx\n\t"
                 "xor %%ebp, %%ebp\n\t"
                 "jmp *%1"
                 :
                 : "r"(stack), "r"(entry), "r"(thread_pointer)
                 : "memory", "rdx");
  } else {
    long number = SYS_arch_prctl;
    asm volatile("syscall\n\t"
                 "mov %1, %%rsp\n\t"
                 "xor %%edx, %%edx\n\t"
                 "xor %%ebp, %%ebp\n\t"
                 "jmp *%2"
                 : "+a"(number)
                 : "r"(stack), "r"(entry), "D"(ARCH_SET_FS), "S"(thread_pointer)
                 : "memory", "rdx", "rcx", "r11");
  }
  __builtin_unreachable();
}

} // namespace umwelt::loader
