// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/fitting/terms.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace umwelt::kernels
{
namespace
{

// How the expression grows with all lengths: 3 for operations of dgemm, 2 of dgemv, 1 of daxpy, 0: not at all.
int degree(const KernelFunction& function, const Expression& expression)
{
  constexpr double large = 1 << 16;
  const auto at = [&](double length) {
    std::vector<double> values;
    for (const std::string& size : function.sizes)
      values.push_back(is_character(function, size) ? 'L' : length);
    return expression.evaluate(values);
  };
  const double ratio = at(2 * large) / at(large);
  return std::isfinite(ratio) && ratio > 0 ? static_cast<int>(std::lround(std::log2(ratio))) : 0;
}

// Whether operations and bytes say the same.
bool is_proportional(const KernelFunction& function)
{
  const Expression flops(function.flops, function.sizes, function.name);
  const Expression bytes(function.bytes, function.sizes, function.name);
  std::vector<double> values(function.sizes.size(), 'L');
  const double ratio = bytes.evaluate(values) / flops.evaluate(values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (is_character(function, function.sizes[i]))
      continue;
    values[i] = 1000;
    if (std::abs(bytes.evaluate(values) / flops.evaluate(values) / ratio - 1) > 1e-9)
      return false;
  }
  return true;
}

} // namespace

bool is_character(const KernelFunction& function, const std::string& size)
{
  if (function.of_plan)
    return size == "REAL"; // a choice, too
  const Signature& signature = function.spellings.front().signature;
  const auto position = signature.position(size);
  return position && signature.parameters()[*position].kind == Kind::character;
}

Terms::Terms(const KernelFunction* function)
{
  if (function == nullptr)
    return;
  int highest = 0;
  std::optional<std::size_t>* place = &work_;
  for (const auto& [text, expression] : {std::pair("flops", function->flops), {"bytes", function->bytes}}) {
    const int grows = degree(*function, Expression(expression, function->sizes, function->name));
    if (grows < 1 || (work_ && is_proportional(*function)))
      continue;
    *place = add(text, expression, function->sizes);
    highest = std::max(highest, grows);
    place = &bytes_;
  }
  std::vector<std::string> lengths;
  for (const std::string& size : function->sizes)
    if (!is_character(*function, size))
      lengths.push_back(size);
  if (highest == 2) {
    for (const std::string& length : lengths)
      surfaces_.push_back(add(length, length, function->sizes));
  } else if (highest > 2) {
    add_surfaces(function->sizes, lengths);
  }
}

// Pairs; of one length or two with their squares, and a single length itself.
void Terms::add_surfaces(const std::vector<std::string>& sizes, const std::vector<std::string>& lengths)
{
  for (std::size_t i = 0; i < lengths.size(); ++i)
    for (std::size_t j = lengths.size() > 2 ? i + 1 : i; j < lengths.size(); ++j) {
      const std::string text = fmt::format("{} * {}", lengths[i], lengths[j]);
      surfaces_.push_back(add(text, text, sizes));
    }
  if (lengths.size() == 1)
    surfaces_.push_back(add(lengths[0], lengths[0], sizes));
}

std::size_t Terms::add(const std::string& text, const std::string& expression, const std::vector<std::string>& sizes)
{
  texts_.push_back(text);
  expressions_.emplace_back(expression, sizes, text);
  return texts_.size() - 1;
}

std::string Terms::parameter(std::size_t term) const
{
  if (term == 0)
    return "intercept";
  std::string name = texts_[term];
  if (name == "flops" || name == "bytes")
    name.pop_back();
  for (std::size_t at = 0; (at = name.find(" * ")) != std::string::npos;)
    name.replace(at, 3, "_");
  return "per_" + name;
}

std::vector<double> Terms::evaluate(std::span<const double> sizes) const
{
  std::vector<double> values{1};
  for (const Expression& expression : expressions_)
    values.push_back(expression.evaluate(sizes));
  return values;
}

} // namespace umwelt::kernels
