// SPDX-License-Identifier: LGPL-2.1-or-later
// How long a call of a kernel takes. The options of T. Cornebize and A. Legrand, "Simulation-based optimization and
// sensitivity analysis of MPI applications: variability matters" (2021): M-0 is a constant, M-1 proportional to one
// product of the arguments, M-2 a polynomial of them, M' piecewise, M_H any of them with parameters of the node
// (place_parameters.h); noise is N-0 to N_H (noise.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/time.h"
#include "runtime/kernels/expression.h"
#include "runtime/kernels/noise.h"
#include "runtime/kernels/place_parameters.h"
#include "runtime/kernels/random.h"

namespace umwelt::kernels
{

struct Piece {
  std::optional<Expression> when; // nullopt: otherwise
  Expression duration;            // a time
};

class Model
{
public:
  // Expressions have the `variables` of the kernel, then those of `parameters`; the deviations of `noise` have one
  // more, the duration without noise. The last piece has no condition.
  Model(std::string kernel, std::vector<std::string> variables, std::vector<Piece> pieces, PlaceParameters parameters,
        Noise noise, std::uint64_t seed);

  // Of a call with these values of the kernel's variables, the `call`-th of the kernel on that rank. Pure: the same
  // call takes the same time, whoever asks and when. Throws UsageError if what the file says of it is negative,
  // infinite, not a number or longer than 93 days.
  [[nodiscard]] sim::SimTime duration(const Place& place, std::span<const double> values, std::uint64_t call) const;

  // Before a run starts: throws UsageError if a place of it has no parameters.
  void check(std::uint32_t nodes, std::uint32_t sockets, std::uint32_t cores) const
  {
    parameters_.check(nodes, sockets, cores);
  }

private:
  [[noreturn]] void refuse(const Expression& expression, double value, const Place& place) const;

  std::string kernel_;
  std::vector<std::string> names_; // of values_
  std::size_t variables_;
  std::vector<Piece> pieces_;
  PlaceParameters parameters_;
  Noise noise_;
  RandomKey noise_key_;
  RandomKey parameter_key_;
  mutable std::vector<double> values_; // of variables, parameters and the duration
};

// "M=100 N=200": for messages.
std::string assignments(std::span<const std::string> names, std::span<const double> values,
                        std::span<const std::size_t> which);

} // namespace umwelt::kernels
