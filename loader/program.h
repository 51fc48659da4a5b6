// SPDX-License-Identifier: LGPL-2.1-or-later
// Finding a program and making sure, before anything starts, that it can be run.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "loader/elf_file.h"

namespace umwelt::loader
{

// A program that cannot be run. The text says which, what was expected, what was found and what to do.
class Refusal : public std::runtime_error
{
public:
  enum class Kind { not_found, not_runnable };
  Refusal(Kind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
  [[nodiscard]] Kind kind() const { return kind_; }

private:
  Kind kind_;
};

struct Library {
  std::string name; // as it is asked for (DT_NEEDED)
  std::string path; // where ld.so finds it
};

struct Program {
  std::string path;               // absolute path of the ELF file that is loaded (of a script: its interpreter)
  std::vector<std::string> argv;  // complete, argv[0] as the program would see it
  std::vector<Library> libraries; // closure of DT_NEEDED in ld.so's order, without the vDSO and ld.so itself
  std::string interpreter;        // its dynamic linker
  AddressRange linked_at;         // of a program that is not position-independent (ET_EXEC), else empty
  // Whether a process has room for one rank of it only.
  [[nodiscard]] bool fixed_address() const { return linked_at.end > linked_at.begin; }
};

// The file that execvp(3) would execute under `name`, be it a script; absolute. Arguments as below. Throws Refusal.
std::string locate_program(const std::string& name, const std::vector<std::string>& environment,
                           const std::string& directory, const std::string& own_programs = {});

// How a script is started that cannot be executed itself, by the ending of its name: "python3 app.py". Empty for
// others.
std::string by_interpreter(const std::string& script);

// `argv`: program name or path and its arguments. The name is looked up as execvp(3) does, with the PATH of
// `environment` ("NAME=value" strings), relative to `directory`, and at last in `own_programs`. Throws Refusal.
Program find_program(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                     const std::string& directory, const std::string& own_programs = {});

// What the program's dynamic linker finds for `object`, a shared object that the program might open. Empty if it does
// not find all of it.
std::vector<Library> libraries_of(const std::string& object, const Program& program,
                                  const std::vector<std::string>& environment, const std::string& directory);

} // namespace umwelt::loader
