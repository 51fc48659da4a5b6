// SPDX-License-Identifier: LGPL-2.1-or-later
// What a kernel that is not run returns instead: an expression of its arguments, or a random number. HPL's panel
// factorisation, for instance, indexes a column by what idamax returns.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/kernels/expression.h"
#include "runtime/kernels/parameter_table.h"
#include "runtime/kernels/random.h"

namespace umwelt::kernels
{

class Returns
{
public:
  // `text`: an expression, or random(LOW, HIGH). Throws UsageError.
  Returns(std::string kernel, std::string_view text, std::span<const std::string> variables, std::string_view object,
          std::string_view unknown, std::uint64_t seed);

  // For the `call`-th call on that rank. `integer`: the function returns one; then a random number is one of LOW to
  // HIGH, both included, each as likely; of floating point it is in between. Pure, like Model::duration. Throws
  // UsageError if HIGH is less than LOW or something is not finite.
  [[nodiscard]] double evaluate(const Place& place, std::span<const double> values, std::uint64_t call,
                                bool integer) const;

private:
  [[noreturn]] void refuse(const Expression& expression, double value, std::span<const double> values,
                           std::string_view expected) const;

  std::string kernel_;
  std::vector<std::string> names_;
  std::vector<Expression> bounds_; // of a random number: two
  RandomKey key_;
};

} // namespace umwelt::kernels
