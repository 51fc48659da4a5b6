// SPDX-License-Identifier: LGPL-2.1-or-later
// One rank's link-map namespace: the program, the shim and all their libraries, a second time in the same process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "loader/elf_file.h"

struct link_map;

namespace umwelt::loader
{

struct CodeRange {
  std::uintptr_t begin;
  std::uintptr_t end;
};

class Namespace
{
public:
  // glibc has 16 namespaces (DL_NNS); the runtime lives in the first.
  static constexpr int capacity = 15;

  // Loads the stub and all it needs; constructors run in here, so the caller has switched to the rank's %fs and made the
  // rank's environment and argv[0] the process's. `linked_at`: where the program has to lie (Program::linked_at); checked
  // before anything of it runs. Returns an empty string, or what went wrong: ld.so's message, or that this place is taken. No
  // exceptions: this runs in the rank's world.
  std::string load(const char* stub, const AddressRange& linked_at = {}) noexcept;

  [[nodiscard]] bool loaded() const { return handle_ != nullptr; }
  // The list of objects: stub, program, shim, libraries.
  [[nodiscard]] const link_map* objects() const { return first_; }
  [[nodiscard]] const link_map* program() const;
  // Code in which a thread must not be interrupted for the benefit of others: the shim's, which counts on that, and
  // ld.so's, whose locks all namespaces share.
  [[nodiscard]] std::vector<CodeRange> uninterruptible() const;

private:
  void* handle_ = nullptr;
  link_map* first_ = nullptr;
};

// Fabricates the initial stack of a process (argc, argv, envp, auxiliary vector; psABI "Process Initialization") on the
// current stack and jumps to the program's entry point with %fs = `thread_pointer`. Strings are used where they are.
[[noreturn]] void enter_program(const link_map* program, int argc, char** argv, char** envp, const char* program_path,
                                std::uintptr_t thread_pointer, bool have_fsgsbase);

} // namespace umwelt::loader
