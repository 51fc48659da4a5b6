// SPDX-License-Identifier: LGPL-2.1-or-later
// How long collectives take whose time is a model's (--collectives).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "preload/abi/mpi_collectives.h"
#include "runtime/base/time.h"
#include "runtime/kernels/expression.h"

namespace umwelt::mpi
{

// Of a message between two nodes, alone on the machine.
struct PairTimes {
  double latency = 0;   // seconds, of one without payload
  double bandwidth = 0; // bytes a second, of a long one
};

class CollectiveModel
{
public:
  enum class Kind : std::uint8_t { real, zero, tree, expression };

  // Throws UsageError.
  CollectiveModel(std::string_view option, std::string_view text);

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool wants_pair_times() const;
  // Seconds for so many members; `bytes` as runtime/mpi/COLLECTIVES.md says. With one member 0. Not finite or negative:
  // the expression says nothing for these.
  [[nodiscard]] double seconds(umw_collective_function function, std::uint32_t members, double bytes,
                               const PairTimes& pair) const;

private:
  Kind kind_ = Kind::real;
  std::string text_;
  std::unique_ptr<kernels::Expression> expression_;
};

class CollectiveModels
{
public:
  CollectiveModels();

  // "MODEL" for all functions, or "FUNCTION=MODEL", separated by commas; what is said later counts. Throws UsageError.
  void add(std::string_view option, std::string_view text);

  [[nodiscard]] const CollectiveModel& of(umw_collective_function function) const { return *models_.at(function); }
  // Those that are not real, as umw_gate::collectives.
  [[nodiscard]] std::uint64_t modelled() const;
  [[nodiscard]] bool want_pair_times() const;

private:
  std::array<std::shared_ptr<const CollectiveModel>, UMW_COLLECTIVE_FUNCTIONS> models_;
};

// `bytes` of a model, from what all members hand over, and the one that hands over most.
double bytes_of_model(std::uint32_t function, std::uint32_t members, double all, double most);

std::string_view collective_name(std::uint32_t function); // "MPI_Allreduce"; of an umw_collective_function

} // namespace umwelt::mpi
