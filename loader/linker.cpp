// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loader/linker.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <span>
#include <string_view>
#include <system_error>

#include <asm/prctl.h>
#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <gnu/lib-names.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "loader/parked_thread.h"
#include "loader/raw_call.h"

namespace umwelt::loader
{

namespace
{

constexpr std::uintptr_t page = 4096;

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

// Memory such as the kernel gives a process for its stack: ld.so makes it executable, by PROT_GROWSDOWN of mprotect(2),
// when an object asks for that (trampolines of nested functions).
void make_stack(std::uintptr_t bottom, std::uintptr_t top)
{
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK | MAP_GROWSDOWN | MAP_FIXED;
  if (mmap(reinterpret_cast<void*>(bottom), top - bottom, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
    throw std::system_error(errno, std::generic_category(), "stack of a rank");
}

// The initial stack of a process that executes ld.so itself: argc, argv, envp, auxiliary vector (psABI, "Process
// Initialization").
std::vector<std::uintptr_t> initial_stack(const Image& image, std::span<char* const> options, const LinkerStart& start,
                                          const umw_gate& gate)
{
  std::vector<std::uintptr_t> words{0};
  for (char* option : options)
    words.push_back(reinterpret_cast<std::uintptr_t>(option));
  for (char* argument : std::span(start.argv).subspan(1))
    words.push_back(reinterpret_cast<std::uintptr_t>(argument));
  words.front() = words.size() - 2;
  for (char* variable : start.envp)
    words.push_back(reinterpret_cast<std::uintptr_t>(variable));
  const auto add = [&words](std::uintptr_t type, std::uintptr_t value) { words.insert(words.end(), {type, value}); };
  constexpr unsigned long handed_on[] = {AT_PAGESZ,   AT_HWCAP,        AT_HWCAP2,      AT_CLKTCK, AT_UID,
                                         AT_EUID,     AT_GID,          AT_EGID,        AT_SECURE, AT_RANDOM,
                                         AT_PLATFORM, AT_SYSINFO_EHDR, AT_MINSIGSTKSZ, AT_FLAGS};
  for (const unsigned long type : handed_on)
    add(type, getauxval(type));
  // It corrects what concerns the program (elf/rtld.c of glibc).
  add(AT_BASE, 0);
  add(AT_PHDR, reinterpret_cast<std::uintptr_t>(image.segments()));
  add(AT_PHENT, image.header().e_phentsize);
  add(AT_PHNUM, image.header().e_phnum);
  add(AT_ENTRY, image.entry());
  add(AT_EXECFN, reinterpret_cast<std::uintptr_t>(options.front()));
  add(UMW_GATE_AUXV, reinterpret_cast<std::uintptr_t>(&gate));
  add(AT_NULL, 0);
  return words;
}

} // namespace

bool Linker::has_place(const AddressRange& linked_at)
{
  return linked_at.end <= linked_at.begin || is_free(linked_at);
}

Linker::Failure Linker::load(const LinkerStart& start)
{
  if (!has_place(start.linked_at)) // ld.so would put it there all the same
    return {fmt::format("a program that is not position-independent (ET_EXEC): expected to lie at {:#x} to {:#x}, got "
                        "that place taken. A process has room for one of them; umwelt gives such ranks a worker "
                        "process each",
                        start.linked_at.begin, start.linked_at.end)};
  try {
    begin(start);
  } catch (const std::exception& error) {
    return {fmt::format("its dynamic linker cannot be started: {}", error.what())};
  }
  switch (gate_.handover.state) {
  case UMW_HANDED_OVER:
    return {};
  case UMW_GAVE_UP:
    return {"its dynamic linker gave up, with the message above", true};
  default:
    return {fmt::format("its dynamic linker died of signal {} ({})", gate_.handover.status,
                        strsignal(gate_.handover.status))};
  }
}

void Linker::begin(const LinkerStart& start)
{
  process_ = getpid();
  image_ = std::make_unique<Image>(start.interpreter, gave_up, this);
  std::array<std::string, 4> words = {start.interpreter, "--argv0", "--preload",
                                      fmt::format("{}", fmt::join(start.preloaded, ":"))};
  std::string program = start.program;
  const std::array<char*, 6> options = {words[0].data(), words[1].data(), start.argv.front(),
                                        words[2].data(), words[3].data(), program.data()};
  const std::vector<std::uintptr_t> initial = initial_stack(*image_, options, start, gate_);

  // The caller goes on using its stack while it waits, and signal handlers interrupt it there. What is left on it of
  // strings above the program's stack lives as long as the rank: nothing else comes back here.
  constexpr std::uintptr_t gap = 128UL * 1024;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  std::size_t text_bytes = 0;
  for (const char* option : options)
    text_bytes += std::strlen(option) + 1;
  const std::uintptr_t top = (here - gap) & ~(page - 1);
  make_stack(reinterpret_cast<std::uintptr_t>(start.stack_bottom), top);
  char* const text = reinterpret_cast<char*>(top - text_bytes);
  auto* const stack = reinterpret_cast<std::uintptr_t*>(
      (reinterpret_cast<std::uintptr_t>(text) - initial.size() * sizeof(std::uintptr_t)) & ~std::uintptr_t{15});
  std::memcpy(stack, initial.data(), initial.size() * sizeof(std::uintptr_t));
  char* next = text;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::size_t bytes = std::strlen(options[i]) + 1;
    std::memcpy(next, options[i], bytes);
    stack[1 + i] = reinterpret_cast<std::uintptr_t>(next);
    next += bytes;
  }
  start_parked_thread(image_->entry(), stack, gate_.handover);
  wait_for_handover(gate_.handover);
}

// On the rank's side, or before there is one.
void Linker::gave_up(void* self, int status)
{
  const Linker& linker = *static_cast<Linker*>(self);
  umw_gate& gate = linker.gate_;
  if (raw_call(SYS_getpid) != linker.process_) // a child made by fork()
    raw_call(SYS_exit_group, status);
  if (gate.handover.state == UMW_LOADING)
    end_parked_thread(gate.handover, UMW_GAVE_UP, status);
  umw_args_umw_exit arguments{0, status & 0xff, UMW_EXIT_NORMAL, nullptr}; // a symbol that is not there, found out late
  gate.cross(&gate, UMW_OP_umw_exit, &arguments);
}

void Linker::go_on(bool have_fsgsbase)
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

r_debug* Linker::debug() const
{
  return static_cast<r_debug*>(image_->symbol("_r_debug"));
}

namespace
{

// Of the object that has the address, where it is mapped; null: the rank's C library knows none. Takes no lock.
const ElfW(Ehdr) * header_around(const umw_gate& gate, void* address)
{
  dl_find_object found{};
  return gate.find_object != nullptr && gate.find_object(address, &found) == 0
             ? static_cast<const ElfW(Ehdr)*>(found.dlfo_map_start)
             : nullptr;
}

} // namespace

std::vector<AddressRange> Linker::code_of_shim() const
{
  return code_around(reinterpret_cast<void*>(gate_.handover.code)); // NOLINT
}

std::vector<AddressRange> Linker::code_of_program() const
{
  return debug()->r_map != nullptr ? code_around(debug()->r_map->l_ld) : std::vector<AddressRange>{};
}

std::vector<AddressRange> Linker::code_of_c_library() const
{
  std::vector<AddressRange> code;
  for (const link_map* object = debug()->r_map; object != nullptr; object = object->l_next) {
    const std::string_view name = object->l_name;
    if (object->l_addr != debug()->r_ldbase && name.substr(name.rfind('/') + 1) != LIBC_SO)
      continue;
    const std::vector<AddressRange> more = code_around(object->l_ld);
    code.insert(code.end(), more.begin(), more.end());
  }
  return code;
}

std::vector<AddressRange> Linker::code_around(void* address) const
{
  std::vector<AddressRange> code;
  const auto* const header = header_around(gate_, address);
  if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_phentsize != sizeof(ElfW(Phdr)))
    return code; // an object that was linked for large pages begins with something else
  const auto start = reinterpret_cast<std::uintptr_t>(header);
  const std::uintptr_t base = header->e_type == ET_EXEC ? 0 : start;
  for (const ElfW(Phdr) & segment : std::span(program_headers(*header), header->e_phnum))
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0)
      code.push_back({base + segment.p_vaddr, base + segment.p_vaddr + segment.p_memsz});
  return code;
}

const ElfW(Ehdr) * elf_header(const umw_gate& gate, const link_map& object)
{
  return header_around(gate, object.l_ld);
}

} // namespace umwelt::loader
