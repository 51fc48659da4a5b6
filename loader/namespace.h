// SPDX-License-Identifier: LGPL-2.1-or-later
// A rank's namespace (dlmopen(3)) of the one dynamic linker that the process has. The program is opened as if it were a
// library: from a copy (private_copy.h), below a stub (stub.h) whose list of needed objects stands for the global
// scope.
//
// dlmopen runs in the parked thread and only maps and relocates: the shim, whose initialiser is the first, keeps ld.so
// from running the others (preload/namespace/start.c). The rank then begins at umw_namespace_start of the shim, on
// a stack such as the kernel gives a process: that runs them, as ld.so does in a process of its own, and enters the
// program.
#pragma once

#include <span>
#include <vector>

#include "loader/initial_stack.h"
#include "loader/rank_loader.h"

namespace umwelt::loader
{

class Namespace : public RankLoader
{
public:
  // glibc has 16 (DL_NNS); the runtime lives in the first.
  static constexpr unsigned capacity = 15;
  // Of ranks of a process; also those whose program has executed another one.
  static bool is_one_left();
  // Whose turn it is to use the dynamic linker (umw_gate::linker_turn).
  static umw_linker_turn& turn();
  // Variables of the environment that a process needs to have room for all of them, as glibc reads them when it begins:
  // "NAME=value".
  static std::vector<std::string> needed_environment();

  // A file (stub.h, which says what the initialiser is) that a rank opens to have these objects in one scope; its path.
  // Throws std::system_error.
  static std::string write_scope(const umw_gate& gate, const std::string& directory,
                                 std::span<const std::string> objects, std::uintptr_t initialiser);

  // `directory`: for files that are needed as long as the rank lives.
  Namespace(umw_gate& gate, std::string directory);

  [[nodiscard]] r_debug* debug() const override { return debug_; }
  [[nodiscard]] bool is_known_to_debuggers() const override { return true; }
  [[nodiscard]] const link_map* program() const override { return first_ != nullptr ? first_->l_next : nullptr; }
  [[nodiscard]] std::uintptr_t change_notice() const override { return change_notice_; }

  // ld.so, and the C library of the process, which that calls for its locks and its memory.
  [[nodiscard]] std::vector<AddressRange> code_of_process() const override
  {
    return code_of_c_library_in(_r_debug.r_map);
  }

protected:
  void begin(const LoadStart& start) override;
  [[nodiscard]] Failure failure() const override { return {wrong_}; }
  [[nodiscard]] bool is_own(const link_map& object) const override;

private:
  [[noreturn]] static void open(void* self);
  [[nodiscard]] std::vector<AuxiliaryEntry> auxiliary_vector(const LoadStart& start) const;

  std::string directory_;
  std::string stub_; // path
  std::string wrong_;
  void* start_ = nullptr; // umw_namespace_start
  std::uintptr_t change_notice_ = 0;
  const link_map* first_ = nullptr; // the stub; the program is the next
  r_debug* debug_ = nullptr;
};

} // namespace umwelt::loader
