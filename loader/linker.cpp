// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loader/linker.h"

#include <array>
#include <cstring>

#include <elf.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "loader/initial_stack.h"
#include "loader/parked_thread.h"
#include "loader/raw_call.h"

namespace umwelt::loader
{

namespace
{

struct Begin {
  std::uintptr_t entry;
  void* stack;
};

// rdx = 0: no function for atexit to register; rbp = 0: outermost frame (psABI, "Process Initialization").
__attribute__((no_sanitize("address", "undefined"))) void enter(void* argument)
{
  const Begin what = *static_cast<Begin*>(argument);
  asm volatile("mov %0, %%rsp\n\t"
               "xor %%edx, %%edx\n\t"
               "xor %%ebp, %%ebp\n\t"
               "jmp *%1"
               :
               : "r"(what.stack), "r"(what.entry)
               : "memory", "rdx");
  __builtin_unreachable();
}

} // namespace

RankLoader::Failure Linker::failure() const
{
  return {"its dynamic linker gave up, with the message above", true};
}

// As a process begins that executes ld.so itself.
void Linker::begin(const LoadStart& start)
{
  process_ = getpid();
  image_ = std::make_unique<Image>(start.interpreter, gave_up, this);
  std::array<std::string, 4> words = {start.interpreter, "--argv0", "--preload",
                                      fmt::format("{}", fmt::join(start.preloaded, ":"))};
  std::string program = start.program;
  const std::array<char*, 6> options = {words[0].data(), words[1].data(), start.argv.front(),
                                        words[2].data(), words[3].data(), program.data()};
  std::vector<char*> argv(options.begin(), options.end());
  argv.insert(argv.end(), start.argv.begin() + 1, start.argv.end());
  // It corrects what concerns the program (elf/rtld.c of glibc).
  const std::array<AuxiliaryEntry, 7> own = {{{AT_BASE, 0},
                                              {AT_PHDR, reinterpret_cast<std::uintptr_t>(image_->segments())},
                                              {AT_PHENT, image_->header().e_phentsize},
                                              {AT_PHNUM, image_->header().e_phnum},
                                              {AT_ENTRY, image_->entry()},
                                              {AT_EXECFN, reinterpret_cast<std::uintptr_t>(options.front())},
                                              {UMW_GATE_AUXV, reinterpret_cast<std::uintptr_t>(&gate())}}};
  const std::vector<std::uintptr_t> initial = initial_stack(argv, start.envp, own);

  // What is left on it of strings above the program's stack lives as long as the rank: nothing else comes back here.
  std::size_t text_bytes = 0;
  for (const char* option : options)
    text_bytes += std::strlen(option) + 1;
  const std::uintptr_t top = make_stack(start.stack_bottom);
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
  Begin what{image_->entry(), stack};
  constexpr std::size_t little = 256 * 1024; // it soon has the rank's
  start_parked_thread(enter, &what, little, gate().handover);
  wait_for_handover(gate().handover);
}

// On the rank's side, or before there is one.
void Linker::gave_up(void* self, int status)
{
  const Linker& linker = *static_cast<Linker*>(self);
  umw_gate& gate = linker.gate();
  if (raw_call(SYS_getpid) != linker.process_) // a child made by fork()
    raw_call(SYS_exit_group, status);
  if (gate.handover.state == UMW_LOADING)
    end_parked_thread(gate.handover, UMW_GAVE_UP, status);
  umw_args_umw_exit arguments{0, status & 0xff, UMW_EXIT_NORMAL, nullptr}; // a symbol that is not there, found out late
  gate.cross(&gate, UMW_OP_umw_exit, &arguments);
}

r_debug* Linker::debug() const
{
  return static_cast<r_debug*>(image_->symbol("_r_debug"));
}

} // namespace umwelt::loader
