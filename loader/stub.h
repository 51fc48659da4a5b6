// SPDX-License-Identifier: LGPL-2.1-or-later
// A shared object with nothing in it but a list of what it needs and one symbol. Loaded as the first object of a
// namespace, its search list becomes the namespace's global scope: the order of `needed` is the order of symbol
// look-up, as LD_PRELOAD would make it, which does not reach secondary namespaces.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace umwelt::loader
{

struct StubSymbol {
  std::string name;
  std::uintptr_t address; // wherever the stub itself comes to lie
};

// Writes the object to `path` (created, mode 0700). Throws std::system_error.
void write_stub(const std::string& path, std::span<const std::string> needed, const StubSymbol& symbol);

} // namespace umwelt::loader
