// SPDX-License-Identifier: LGPL-2.1-or-later
// A rank's own dynamic linker: the program, the shim and all their libraries, once more in the same process, as ld.so
// would load them into a process of their own (README.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <link.h>

#include "loader/elf_file.h"
#include "loader/image.h"
#include "preload/abi/gate.h"

namespace umwelt::loader
{

struct LinkerStart {
  std::string interpreter;            // PT_INTERP of the program
  std::vector<std::string> preloaded; // libumwelt-preload.so, and others before it: without blanks and colons
  std::string program;                // path
  std::vector<char*> argv;            // of the program, with the null pointer at its end
  std::vector<char*> envp;            // likewise. The C library keeps the strings.
  AddressRange linked_at;             // where the program has to lie (Program::linked_at)
  void* stack_bottom = nullptr;       // of the caller
};

class Linker
{
public:
  struct Failure {
    std::string text; // empty: none
    bool gave_up = false;
  };

  explicit Linker(umw_gate& gate) : gate_(gate) {}

  // Whether a program that has to lie there (Program::linked_at; empty: anywhere) can be loaded.
  static bool has_place(const AddressRange& linked_at);
  // Loads everything, up to where the first initialiser is to run. The program gets the stack of the caller, from some
  // way below the caller's frame on.
  Failure load(const LinkerStart& start);
  // Lets it go on from there.
  [[noreturn]] void go_on(bool have_fsgsbase);

  [[nodiscard]] std::uintptr_t thread_pointer() const { return gate_.handover.thread_pointer; }
  [[nodiscard]] std::int32_t kernel_id() const { return gate_.handover.kernel_tid; }
  // What debuggers read.
  [[nodiscard]] r_debug* debug() const;
  // The code of the object in which the rank stands: the shim's.
  [[nodiscard]] std::vector<AddressRange> code_of_shim() const;
  [[nodiscard]] std::vector<AddressRange> code_of_program() const;
  // That of the C library and of ld.so.
  [[nodiscard]] std::vector<AddressRange> code_of_c_library() const;

private:
  static void gave_up(void* self, int status);
  [[nodiscard]] std::vector<AddressRange> code_around(void* address) const;
  void begin(const LinkerStart& start);

  umw_gate& gate_;
  std::unique_ptr<Image> image_;
  std::int32_t process_ = 0;
};

// The ELF header of an object that the rank's linker has loaded: at the lowest mapped address, which is l_addr only if
// the object was linked at 0. Null if the linker does not know the object (any more). Takes no lock.
const ElfW(Ehdr) * elf_header(const umw_gate& gate, const link_map& object);

inline const ElfW(Phdr) * program_headers(const ElfW(Ehdr) & header)
{
  return reinterpret_cast<const ElfW(Phdr)*>(reinterpret_cast<const char*>(&header) + header.e_phoff);
}

} // namespace umwelt::loader
