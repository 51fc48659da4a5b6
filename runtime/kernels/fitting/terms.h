// SPDX-License-Identifier: LGPL-2.1-or-later
// What the duration of a kernel may be a sum of: a constant, its operations, the bytes it touches, and products of its
// sizes of one degree less, which is what surfaces of its operands are (of dgemm M*N, M*K and N*K).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/kernels/builtin.h"
#include "runtime/kernels/expression.h"

namespace umwelt::kernels
{

class Terms
{
public:
  // Null: a function of which nothing is known; it has the constant alone.
  explicit Terms(const KernelFunction* function);

  // As expressions of a kernels file have them; the first, "1", is the constant.
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }
  // As names of parameters: "intercept", "per_flop", "per_M_N".
  [[nodiscard]] std::string parameter(std::size_t term) const;
  // Their values at these sizes, in the order of KernelFunction::sizes.
  [[nodiscard]] std::vector<double> evaluate(std::span<const double> sizes) const;

  // What most of the duration is proportional to: the operations, or the bytes of a function that has none.
  [[nodiscard]] std::optional<std::size_t> work() const { return work_; }
  [[nodiscard]] std::optional<std::size_t> bytes() const { return bytes_; } // beside work(), where they differ
  [[nodiscard]] const std::vector<std::size_t>& surfaces() const { return surfaces_; }

private:
  std::size_t add(const std::string& text, const std::string& expression, const std::vector<std::string>& sizes);
  void add_surfaces(const std::vector<std::string>& sizes, const std::vector<std::string>& lengths);

  std::vector<std::string> texts_{"1"};
  std::vector<Expression> expressions_; // of all but the constant
  std::optional<std::size_t> work_, bytes_;
  std::vector<std::size_t> surfaces_;
};

// Whether this size is a character (SIDE), given as its code.
bool is_character(const KernelFunction& function, const std::string& size);

} // namespace umwelt::kernels
