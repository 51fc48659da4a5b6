// SPDX-License-Identifier: LGPL-2.1-or-later
// The functions of programs and their libraries that call the runtime when they are entered: looked for in every object
// that a rank has loaded (function_symbols.h), patched there (patched_object.h), and told apart by where the call
// comes from.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <link.h>

#include "loader/rank_loader.h"
#include "runtime/entries/patched_object.h"

namespace umwelt::entries
{

// A function as the user names it.
struct Wanted {
  std::string symbol;                   // empty: it has none
  std::string object;                   // file name, or its end behind a '/'; empty: wherever the symbol is
  std::optional<std::uint64_t> address; // in place of a symbol: in the object's own terms, as nm and objdump show it
  bool optional = false;                // where it cannot be patched it is left out, which is no error
};

class Entries
{
public:
  struct Entry {
    unsigned wanted;         // its number
    std::uintptr_t original; // where the function itself can be entered
  };

  explicit Entries(std::vector<Wanted> wanted);

  // Patches what a rank has loaded since the last time; `rank` tells it from others. Returns what is wrong with
  // functions that are wanted, in words of one line each; every text once. Throws std::system_error if there is no
  // memory.
  std::vector<std::string> take_over(const r_debug& rank, std::span<const loader::LoadedObject> objects);
  // By the return address of the call; null: none is entered from there.
  [[nodiscard]] const Entry* find(std::uintptr_t called_from) const
  {
    const auto found = entries_.find(called_from);
    return found != entries_.end() ? &found->second : nullptr;
  }
  // Whether some object had it, and could be patched.
  [[nodiscard]] bool is_there(unsigned wanted) const { return there_[wanted]; }
  // Names of functions of the objects seen so far.
  [[nodiscard]] std::vector<std::string> known_names() const;
  // Descriptors of this process that are Umwelt's own, since the last call.
  [[nodiscard]] std::vector<int> take_descriptors();

private:
  struct Object {
    std::unique_ptr<PatchedObject> patched; // null: nothing is wanted of it
  };
  struct Loaded { // in a rank
    std::string path;
    std::vector<std::uintptr_t> calls;
  };

  Object& object_of(const std::string& path, std::vector<std::string>& wrong);

  const std::vector<Wanted> wanted_;
  std::unordered_set<std::string> symbols_;
  std::vector<bool> there_;
  std::unordered_map<std::string, Object> objects_;                                      // by path
  std::unordered_map<const r_debug*, std::unordered_map<std::uintptr_t, Loaded>> ranks_; // by l_addr
  std::unordered_map<std::uintptr_t, Entry> entries_;
  std::vector<int> descriptors_;
};

} // namespace umwelt::entries
