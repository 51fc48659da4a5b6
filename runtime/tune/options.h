// SPDX-License-Identifier: LGPL-2.1-or-later
// The command line of `umwelt tune collectives`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/tune/functions.h"

namespace umwelt::tune
{

struct Options {
  std::vector<const Function*> functions;
  std::vector<std::uint64_t> sizes;    // ascending
  std::vector<unsigned> ranks;         // ascending
  std::vector<std::uint64_t> segments; // ascending
  std::vector<unsigned> fanouts;       // ascending
  unsigned repetitions = 1;
  unsigned jobs = 1;
  bool openmpi = true;
  bool mpich = true;
  bool mpich_named = false; // by the user: it must be there, then
  bool plots = true;
  bool verify = true;
  bool force = false;
  bool verbose = false;
  bool quiet = false;
  std::string directory = "collectives";
  std::vector<std::string> run; // for each `umwelt run`
};

// Throws UsageError if the buffers of a run, of which several may be under way, do not fit into the memory: bytes.
void refuse_too_large(const Options& options, std::uint64_t memory);

// `arguments`: what follows `umwelt tune`. Null: the help has been printed. Throws UsageError.
std::optional<Options> parse(std::vector<std::string> arguments);

} // namespace umwelt::tune
