// SPDX-License-Identifier: LGPL-2.1-or-later
// Kernels files (`umwelt run --kernels FILE`): which functions of a program are predicted, and how. README.md describes
// the format.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/kernels/kernel.h"

namespace umwelt::kernels
{

struct Kernels {
  std::uint64_t seed = 0;
  std::vector<Kernel> list;
  bool profile = false; // where ranks compute is to be told besides (profile.h)
  double speed = 1;     // of the nodes, over that of those whose times the models are
};

// What all files say together: a kernel of a later one takes the place of one with the same name, and so does its seed;
// `seed`, if there is one, goes before all of them. Tables of parameters are read, too. Throws UsageError with file,
// line and column, and where two kernels want the same function.
Kernels read_kernels(std::span<const std::string> paths, std::optional<std::uint64_t> seed = std::nullopt);

// Before a run starts: throws UsageError if a model lacks parameters of a node.
void check(const Kernels& kernels, std::uint32_t nodes, std::uint32_t sockets, std::uint32_t cores);

} // namespace umwelt::kernels
