// SPDX-License-Identifier: LGPL-2.1-or-later
// Arithmetic of a kernels file: durations, conditions, sizes. muParser compiles and evaluates it; what muParser would
// accept and mean something else (assignments, lists, strings) is refused before.
//
// + - * / ^, < <= > >= == != && ||, CONDITION ? A : B, min max (any number of arguments), abs sqrt log log2 exp floor
// ceil. A character between quotes is its code. A unit behind a number, a variable or a parenthesis multiplies it: ps
// ns us ms s are parts of a second, kB MB GB KiB MiB GiB bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace umwelt::kernels
{

// What an expression is: a number if the unit of time does not matter to it, a time if it is proportional to that. Zero
// is both.
enum class Dimension : std::uint8_t { zero, number, time, mixed };

// What a variable has to do with the unit of time: nothing, or it is one of these.
inline constexpr std::uint8_t a_time = 1;
inline constexpr std::uint8_t per_time = 2; // a bandwidth, say

class Expression
{
public:
  // `variables` in the order of evaluate()'s values. Throws UsageError: `object` (file:line, what), expected, got with
  // the column in `text`, and the nearest name; `unknown` is said of names that resemble none.
  Expression(std::string_view text, std::span<const std::string> variables, std::string_view object,
             std::string_view unknown = {});
  Expression(Expression&&) noexcept;
  Expression& operator=(Expression&&) noexcept;
  ~Expression();

  // Times are in seconds. What is not defined (1/0, log(-1)) is infinite or NaN. Not for several threads at once.
  [[nodiscard]] double evaluate(std::span<const double> values) const;

  // Looks at the expression at many values of its variables, among them those it compares with; `times` says for each
  // variable whether it is a time, or a number for each unit of it (missing: it has nothing to do with it).
  [[nodiscard]] Dimension dimension(std::span<const std::uint8_t> times = {}) const;

  // Whether a unit of time stands in it: tells 0s from 0.
  [[nodiscard]] bool names_time() const { return names_time_; }

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::string& object() const { return object_; }
  // Positions of the variables that occur in it, ascending.
  [[nodiscard]] const std::vector<std::size_t>& used() const { return used_; }

private:
  struct Program;

  std::string text_;
  std::string object_;
  std::string clean_; // characters replaced by their codes, the same length
  std::vector<std::string> names_;
  std::vector<std::size_t> used_;
  std::vector<double> constants_; // numbers and characters in it
  bool names_time_ = false;
  std::unique_ptr<Program> program_;
};

// Throws UsageError unless the expression is a time, or zero.
void require_time(const Expression& expression, std::span<const std::uint8_t> times = {});
// Throws UsageError unless it is a number without the unit of time, or zero; `what` says what it is for.
void require_number(const Expression& expression, std::string_view what, std::span<const std::uint8_t> times = {});

// Names that an expression cannot have as variables: functions and units.
bool is_reserved(std::string_view name);
// Letters, digits and underscores, not beginning with a digit.
bool is_identifier(std::string_view name);

} // namespace umwelt::kernels
