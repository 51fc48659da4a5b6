// SPDX-License-Identifier: LGPL-2.1-or-later
// A shared object with nothing in it but a list of what it needs. Loaded as the first object of a namespace, its search
// list becomes the namespace's global scope: the order of `needed` is the order of symbol look-up, as LD_PRELOAD would
// make it. LD_PRELOAD itself does not reach secondary namespaces.
#pragma once

#include <span>
#include <string>

namespace umwelt::loader
{

// Writes the object to `path` (created, mode 0700). Throws std::system_error.
void write_stub(const std::string& path, std::span<const std::string> needed);

} // namespace umwelt::loader
