// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loader/rank_loader.h"

#include <cstddef>
#include <cstring>
#include <exception>
#include <span>
#include <string_view>

#include <asm/prctl.h>
#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <gnu/lib-names.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "loader/raw_call.h"

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

// The object that has the address. False: the rank's C library knows none. Takes no lock.
bool find_object(const umw_gate& gate, void* address, dl_find_object& found)
{
  return gate.find_object != nullptr && gate.find_object(address, &found) == 0;
}

} // namespace

bool RankLoader::has_place(const AddressRange& linked_at)
{
  return linked_at.end <= linked_at.begin || is_free(linked_at);
}

RankLoader::Failure RankLoader::load(const LoadStart& start)
{
  if (!has_place(start.linked_at)) // ld.so would put it there all the same
    return {fmt::format("a program that is not position-independent (ET_EXEC): expected to lie at {:#x} to {:#x}, got "
                        "that place taken. A process has room for one of them; umwelt gives such ranks a worker "
                        "process each",
                        start.linked_at.begin, start.linked_at.end)};
  program_path_ = start.program;
  try {
    begin(start);
  } catch (const std::exception& error) {
    return {fmt::format("its dynamic linker cannot be started: {}", error.what())};
  }
  switch (gate_.handover.state) {
  case UMW_HANDED_OVER:
    return {};
  case UMW_GAVE_UP:
    return failure();
  default:
    return {fmt::format("its dynamic linker died of signal {} ({})", gate_.handover.status,
                        strsignal(gate_.handover.status))};
  }
}

void RankLoader::go_on(bool have_fsgsbase)
{
  const umw_handover& from = gate_.handover;
  if (have_fsgsbase) {
    asm volatile("wrfsbase %0" : : "r"(from.thread_pointer) : "memory");
  } else {
    raw_call(SYS_arch_prctl, ARCH_SET_FS, static_cast<long>(from.thread_pointer));
  }
  asm volatile("mov %c[rbx](%[from]), %%rbx\n\t"
               "mov %c[r12](%[from]), %%r12\n\t"
               "mov %c[r13](%[from]), %%r13\n\t"
               "mov %c[r14](%[from]), %%r14\n\t"
               "mov %c[r15](%[from]), %%r15\n\t"
               "mov %c[rbp](%[from]), %%rbp\n\t"
               "mov %c[stack](%[from]), %%rsp\n\t"
               "jmp *%c[code](%[from])"
               :
               : [from] "a"(&from), [rbx] "i"(offsetof(umw_handover, rbx)), [r12] "i"(offsetof(umw_handover, r12)),
                 [r13] "i"(offsetof(umw_handover, r13)), [r14] "i"(offsetof(umw_handover, r14)),
                 [r15] "i"(offsetof(umw_handover, r15)), [rbp] "i"(offsetof(umw_handover, rbp)),
                 [stack] "i"(offsetof(umw_handover, stack)), [code] "i"(offsetof(umw_handover, code))
               : "memory");
  __builtin_unreachable();
}

std::vector<LoadedObject> RankLoader::objects() const
{
  std::vector<LoadedObject> result;
  const link_map* const first = debug()->r_state == r_debug::RT_CONSISTENT ? debug()->r_map : nullptr;
  for (const link_map* object = first; object != nullptr; object = object->l_next)
    if (is_own(*object) && *path_of(*object) != '\0')
      result.push_back({object, path_of(*object), object == program()});
  return result;
}

const char* RankLoader::path_of(const link_map& object) const
{
  return &object == program() ? program_path_.c_str() : object.l_name;
}

std::vector<AddressRange> RankLoader::code_of_shim() const
{
  return code_around(reinterpret_cast<void*>(gate_.handover.code)); // NOLINT
}

std::vector<AddressRange> RankLoader::code_of_program() const
{
  return program() != nullptr ? code_around(program()->l_ld) : std::vector<AddressRange>{};
}

std::vector<AddressRange> RankLoader::code_of_c_library() const
{
  return code_of_c_library_in(debug()->r_map);
}

std::vector<AddressRange> RankLoader::code_of_c_library_in(const link_map* first) const
{
  std::vector<AddressRange> code;
  for (const link_map* object = first; object != nullptr; object = object->l_next) {
    const std::string_view name = object->l_name;
    if (object->l_addr != debug()->r_ldbase && name.substr(name.rfind('/') + 1) != LIBC_SO)
      continue;
    const std::vector<AddressRange> more = code_around(object->l_ld);
    code.insert(code.end(), more.begin(), more.end());
  }
  return code;
}

std::vector<AddressRange> RankLoader::code_around(void* address) const
{
  std::vector<AddressRange> code;
  dl_find_object found{};
  if (!find_object(gate_, address, found))
    return code;
  const auto* const header = static_cast<const ElfW(Ehdr)*>(found.dlfo_map_start);
  if (std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_phentsize != sizeof(ElfW(Phdr)))
    return code; // an object that was linked for large pages begins with something else
  const std::uintptr_t base = found.dlfo_link_map->l_addr;
  for (const ElfW(Phdr) & segment : std::span(program_headers(*header), header->e_phnum))
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0)
      code.push_back({base + segment.p_vaddr, base + segment.p_vaddr + segment.p_memsz});
  return code;
}

const ElfW(Ehdr) * elf_header(const umw_gate& gate, const link_map& object)
{
  dl_find_object found{};
  return find_object(gate, object.l_ld, found) ? static_cast<const ElfW(Ehdr)*>(found.dlfo_map_start) : nullptr;
}

} // namespace umwelt::loader
