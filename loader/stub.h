// SPDX-License-Identifier: LGPL-2.1-or-later
// A shared object with nothing in it but a list of what it needs, one symbol, and perhaps an initialiser that is
// elsewhere. Loaded as the first object of a namespace, its search list becomes the namespace's global scope: the order
// of `needed` is the order of symbol look-up, as LD_PRELOAD would make it, which does not reach secondary namespaces.
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

// Writes the object to `path` (created, mode 0700). `initialiser`: an address; ld.so calls it before the initialisers
// of all else that is loaded with the stub, when that is mapped and relocated; 0: none. Throws std::system_error.
void write_stub(const std::string& path, std::span<const std::string> needed, const StubSymbol& symbol,
                std::uintptr_t initialiser);

} // namespace umwelt::loader
