// SPDX-License-Identifier: LGPL-2.1-or-later
// The MPI libraries that can be tuned: what they have to choose from, how one of them is told what to choose, and what
// is written for them.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/tune/measurements.h"

namespace umwelt::tune
{

class Mpi
{
public:
  virtual ~Mpi() = default;

  [[nodiscard]] virtual std::string key() const = 0;  // "openmpi"
  [[nodiscard]] virtual std::string name() const = 0; // "Open MPI"
  [[nodiscard]] virtual std::string file_name() const = 0;
  // What there is to choose for a function, without the library's own decision.
  [[nodiscard]] virtual std::vector<Choice> choices(const std::string& function) const = 0;
  // Options of umwelt run that make the library take this one, or what a file says.
  [[nodiscard]] virtual std::vector<std::string> forced(const std::string& function, const Choice& choice) const = 0;
  [[nodiscard]] virtual std::vector<std::string> with_file(const std::string& path) const = 0;
  [[nodiscard]] virtual std::string file(std::span<const Group> groups) const = 0;
  // What the file says about a function.
  [[nodiscard]] virtual std::vector<Rule> rules(const Group& group) const = 0;
};

// `algorithms`: what collbench --algorithms has printed. Each algorithm comes with each of these that means something
// to it.
std::unique_ptr<Mpi> open_mpi(const std::string& algorithms, std::vector<std::uint64_t> segments,
                              std::vector<unsigned> fanouts);

// `library`: the file of the library. Throws std::runtime_error if it is not what is expected.
std::unique_ptr<Mpi> mpich(const std::string& library);

} // namespace umwelt::tune
