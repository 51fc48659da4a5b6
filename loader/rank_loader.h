// SPDX-License-Identifier: LGPL-2.1-or-later
// What loads a rank: the program, the shim and all their libraries, once more in the same process. There are two ways,
// a dynamic linker for each rank (linker.h) and a dlmopen namespace for each (namespace.h); README.md compares them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <link.h>

#include "loader/elf_file.h"
#include "preload/abi/gate.h"

namespace umwelt::loader
{

struct LoadStart {
  std::string interpreter;            // PT_INTERP of the program
  std::vector<std::string> preloaded; // libumwelt-preload.so, and others before it: without blanks and colons
  std::string program;                // path
  std::vector<std::string> libraries; // what it and these need, in the order of look-up: paths
  std::vector<char*> argv;            // of the program, with the null pointer at its end
  std::vector<char*> envp;            // likewise. The C library keeps the strings.
  AddressRange linked_at;             // where the program has to lie (Program::linked_at)
  void* stack_bottom = nullptr;       // of the caller
};

struct LoadedObject {
  const link_map* map;
  std::string path; // of the program: as it was given, else as the dynamic linker has it
  bool is_program;
};

class RankLoader
{
public:
  struct Failure {
    std::string text;     // empty: none
    bool gave_up = false; // a dynamic linker that has said why itself
  };

  explicit RankLoader(umw_gate& gate) : gate_(gate) {}
  virtual ~RankLoader() = default;
  RankLoader(const RankLoader&) = delete;
  RankLoader& operator=(const RankLoader&) = delete;

  // Whether a program that has to lie there (Program::linked_at; empty: anywhere) can be loaded.
  static bool has_place(const AddressRange& linked_at);
  // Loads everything, up to where the first initialiser is to run. The program gets the stack of the caller, from some
  // way below the caller's frame on.
  Failure load(const LoadStart& start);
  // Lets it go on from there.
  [[noreturn]] void go_on(bool have_fsgsbase);

  [[nodiscard]] std::uintptr_t thread_pointer() const { return gate_.handover.thread_pointer; }
  [[nodiscard]] std::int32_t kernel_id() const { return gate_.handover.kernel_tid; }
  // What debuggers read.
  [[nodiscard]] virtual r_debug* debug() const = 0;
  // Whether debuggers find that list by themselves.
  [[nodiscard]] virtual bool is_known_to_debuggers() const = 0;
  [[nodiscard]] virtual const link_map* program() const = 0;
  // All that is loaded now; none while that changes.
  [[nodiscard]] std::vector<LoadedObject> objects() const;
  // Of one of them: of the program, as it was given. Async-signal-safe.
  [[nodiscard]] const char* path_of(const link_map& object) const;
  // A function without effect that is called when that has changed.
  [[nodiscard]] virtual std::uintptr_t change_notice() const = 0;
  // The code of the object in which the rank stands: the shim's.
  [[nodiscard]] std::vector<AddressRange> code_of_shim() const;
  [[nodiscard]] std::vector<AddressRange> code_of_program() const;
  // That of the C library and of ld.so.
  [[nodiscard]] std::vector<AddressRange> code_of_c_library() const;
  // Code of the process itself that the rank executes: its threads must not find breakpoints there.
  [[nodiscard]] virtual std::vector<AddressRange> code_of_process() const { return {}; }

protected:
  // Starts the parked thread (parked_thread.h), waits for it to hand over, and completes umw_gate::handover. Throws.
  virtual void begin(const LoadStart& start) = 0;
  // What has gone wrong, if the thread has not handed over.
  [[nodiscard]] virtual Failure failure() const = 0;
  // Whether an object of the list is the rank's own.
  [[nodiscard]] virtual bool is_own(const link_map& object) const = 0;

  [[nodiscard]] umw_gate& gate() const { return gate_; }
  [[nodiscard]] const std::string& program_path() const { return program_path_; }

  [[nodiscard]] std::vector<AddressRange> code_around(void* address) const;
  // Of the C library and of ld.so, as far as they are in the list.
  [[nodiscard]] std::vector<AddressRange> code_of_c_library_in(const link_map* first) const;

private:
  umw_gate& gate_;
  std::string program_path_;
};

// The ELF header of an object that the rank's linker has loaded: at the lowest mapped address, which is l_addr only if
// the object was linked at 0. Null if the linker does not know the object (any more). Takes no lock.
const ElfW(Ehdr) * elf_header(const umw_gate& gate, const link_map& object);

inline const ElfW(Phdr) * program_headers(const ElfW(Ehdr) & header)
{
  return reinterpret_cast<const ElfW(Phdr)*>(reinterpret_cast<const char*>(&header) + header.e_phoff);
}

} // namespace umwelt::loader
