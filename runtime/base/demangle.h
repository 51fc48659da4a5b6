// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdlib>
#include <memory>
#include <string>

#include <cxxabi.h>

namespace umwelt
{

// A symbol as C++ source has it; itself if it is none of C++.
inline std::string demangle(const std::string& symbol)
{
  if (!symbol.starts_with("_Z")) // "f" is a type: float
    return symbol;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 ? text.get() : symbol;
}

} // namespace umwelt
