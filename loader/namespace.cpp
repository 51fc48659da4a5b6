// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loader/namespace.h"

#include <string_view>

#include <alloca.h>
#include <asm/prctl.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

namespace umwelt::loader
{

std::string Namespace::load(const char* stub) noexcept
{
  handle_ = dlmopen(LM_ID_NEWLM, stub, RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) {
    const char* message = dlerror();
    return message ? message : "unknown error of the dynamic linker";
  }
  dlinfo(handle_, RTLD_DI_LINKMAP, static_cast<void*>(&first_));
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
    const auto* header = reinterpret_cast<const Elf64_Ehdr*>(object->l_addr);
    const auto* segments = reinterpret_cast<const Elf64_Phdr*>(object->l_addr + header->e_phoff);
    for (int i = 0; i < header->e_phnum; ++i)
      if (segments[i].p_type == PT_LOAD && (segments[i].p_flags & PF_X) != 0)
        result.push_back(
            {object->l_addr + segments[i].p_vaddr, object->l_addr + segments[i].p_vaddr + segments[i].p_memsz});
  }
  return result;
}

void enter_program(const link_map* program, int argc, char** argv, char** envp, const char* program_path,
                   std::uintptr_t thread_pointer, bool have_fsgsbase)
{
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(program->l_addr);
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
  add(AT_PHDR, program->l_addr + header->e_phoff);
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
