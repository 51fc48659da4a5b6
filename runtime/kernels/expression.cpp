// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/expression.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <muParser.h>

#include "runtime/base/nearest.h"
#include "runtime/base/usage_error.h"

namespace umwelt::kernels
{
namespace
{

struct Function {
  std::string_view name;
  std::size_t arguments; // 0: one or more
};

constexpr std::array functions{Function{"min", 0},  Function{"max", 0},   Function{"abs", 1},
                               Function{"sqrt", 1}, Function{"log", 1},   Function{"log2", 1},
                               Function{"exp", 1},  Function{"floor", 1}, Function{"ceil", 1}};
constexpr std::array<std::string_view, 11> units{"ps", "ns", "us", "ms", "s", "kB", "MB", "GB", "KiB", "MiB", "GiB"};

const Function* find_function(std::string_view name)
{
  const auto found =
      std::find_if(functions.begin(), functions.end(), [&](const Function& f) { return f.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

bool is_unit(std::string_view name)
{
  return std::find(units.begin(), units.end(), name) != units.end();
}

// What is wrong, for the reader of a message.
std::string at_column(std::string_view what, std::size_t position)
{
  return fmt::format("{} at column {}", what, position + 1);
}

bool is_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

// Goes through the text once: finds names and constants, replaces characters by their codes, and refuses what muParser
// must not see. What remains for muParser to find are operators and parentheses in the wrong place.
class Scanner
{
public:
  Scanner(std::string_view text, std::span<const std::string> variables, std::string_view object,
          std::string_view unknown)
      : text_(text), variables_(variables), object_(object), unknown_(unknown), clean(text)
  {
  }

  void scan()
  {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
        clean[at_++] = ' ';
      else if (is_digit(c) || c == '.')
        number();
      else if (is_letter(c))
        identifier();
      else if (c == '\'')
        character();
      else
        symbol();
    }
  }

private:
  std::string_view text_;
  std::span<const std::string> variables_;
  std::string_view object_;
  std::string_view unknown_;
  std::size_t at_ = 0;
  bool behind_value_ = false;
  struct Parenthesis {
    const Function* function; // that it is of
    std::size_t at;
    std::size_t commas = 0;
    bool empty = true;
  };
  std::vector<Parenthesis> open_;
  const Function* function_ = nullptr; // whose parenthesis has to follow

public:
  std::string clean;
  std::vector<std::size_t> used;
  std::vector<double> constants;
  bool names_time = false;

private:
  [[noreturn]] void refuse(std::string_view expected, std::string_view got, std::string_view next) const
  {
    throw UsageError(object_, expected, fmt::format("{} in {}", got, in_quotes(text_)), next);
  }

  void value(std::size_t length)
  {
    if (behind_value_)
      refuse("an operator", at_column(in_quotes(text_.substr(at_, length)), at_),
             "Write * between factors; units are ps ns us ms s kB MB GB KiB MiB GiB.");
    behind_value_ = true;
    if (!open_.empty())
      open_.back().empty = false;
    at_ += length;
  }

  void number()
  {
    double number = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
    const auto length = static_cast<std::size_t>(end - begin);
    if (error != std::errc{})
      refuse("a number", at_column(in_quotes(text_.substr(at_, std::max<std::size_t>(length, 1))), at_),
             "Numbers are written like 7, 0.5 or 1e-9.");
    constants.push_back(number);
    value(length);
  }

  void character()
  {
    constexpr std::size_t length = 3;
    if (at_ + length > text_.size() || text_[at_ + 2] != '\'' || text_[at_ + 1] < ' ' || text_[at_ + 1] > '~')
      refuse("one character between quotes", at_column(in_quotes(text_.substr(at_, length)), at_),
             "Write it like 'T'.");
    const int code = static_cast<unsigned char>(text_[at_ + 1]);
    clean.replace(at_, length, fmt::format("{:<3}", code));
    constants.push_back(code);
    value(length);
  }

  void identifier()
  {
    std::size_t end = at_;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end])))
      ++end;
    const std::string_view name = text_.substr(at_, end - at_);
    if (behind_value_) {
      if (!is_unit(name))
        refuse("an operator or a unit", at_column(in_quotes(name), at_),
               "Write * between factors; units are ps ns us ms s kB MB GB KiB MiB GiB.");
      names_time = names_time || name.back() == 's';
      at_ = end;
      return;
    }
    if (is_unit(name))
      refuse("a number or a variable", at_column(fmt::format("the unit {}", in_quotes(name)), at_),
             "Put a number before the unit: 1us. A parameter of that name needs another one.");
    if (const Function* function = find_function(name)) {
      function_ = function;
      std::size_t next = end;
      while (next < text_.size() && text_[next] == ' ')
        ++next;
      if (next == text_.size() || text_[next] != '(')
        refuse(fmt::format("'(' behind the function {}", name), at_column(in_quotes(text_.substr(next, 1)), next),
               fmt::format("Write {}(...).", name));
      // muParser wants the parenthesis next to the name.
      clean.replace(at_, next - at_, fmt::format("{:>{}}", name, next - at_));
      at_ = next;
      return;
    }
    const auto found = std::find(variables_.begin(), variables_.end(), name);
    if (found == variables_.end())
      unknown(name);
    used.push_back(static_cast<std::size_t>(found - variables_.begin()));
    value(name.size());
  }

  [[noreturn]] void unknown(std::string_view name) const
  {
    std::vector<std::string> known(variables_.begin(), variables_.end());
    std::string next = known.empty() ? "" : fmt::format("There are {}.", fmt::join(known, " "));
    if (!unknown_.empty())
      next = fmt::format("{}{}{}", unknown_, next.empty() ? "" : " ", next);
    if (next.empty())
      next = "There are no variables here.";
    for (const Function& function : functions)
      known.emplace_back(function.name);
    if (const std::string_view guess = plausible(name, known); !guess.empty())
      next = fmt::format("Did you mean '{}'? {}", guess, next);
    refuse("a variable", at_column(in_quotes(name), at_), next);
  }

  void symbol()
  {
    const char c = text_[at_];
    const std::string_view two = text_.substr(at_, 2);
    if (two == "<=" || two == ">=" || two == "==" || two == "!=" || two == "&&" || two == "||") {
      behind_value_ = false;
      at_ += 2;
    } else if (c == '(') {
      open();
    } else if (c == ')') {
      close();
    } else if (c == ',') {
      comma();
    } else if (std::string_view("+-*/^<>?:").find(c) != std::string_view::npos) {
      behind_value_ = false;
      ++at_;
    } else {
      refuse("an expression", at_column(in_quotes(text_.substr(at_, 1)), at_),
             c == '=' ? "Compare with ==." : "Operators are + - * / ^ < <= > >= == != && || ?:");
    }
  }

  void open()
  {
    if (behind_value_)
      refuse("an operator", at_column("'('", at_), "Write * between factors.");
    if (!open_.empty())
      open_.back().empty = false;
    open_.push_back({std::exchange(function_, nullptr), at_++});
  }

  void close()
  {
    if (open_.empty())
      refuse("'(' before ')'", at_column("')'", at_), "Remove it, or open the parenthesis.");
    const Parenthesis last = open_.back();
    open_.pop_back();
    const std::size_t arguments = last.empty ? 0 : last.commas + 1;
    if (last.function != nullptr &&
        (last.function->arguments == 0 ? arguments == 0 : arguments != last.function->arguments))
      refuse(fmt::format("{} of {}",
                         last.function->arguments == 0 ? std::string("one or more arguments") : "1 argument",
                         last.function->name),
             at_column(fmt::format("{} arguments", arguments), last.at), "Separate arguments by commas.");
    behind_value_ = true;
    ++at_;
  }

  void comma()
  {
    if (open_.empty() || open_.back().function == nullptr)
      refuse("an operator", at_column("','", at_), "A comma separates arguments of a function; write 0.5, not 0,5.");
    ++open_.back().commas;
    behind_value_ = false;
    ++at_;
  }
};

// muParser takes functions without state, so the unit of time is in their type.
template <int Scale> void define_units(mu::Parser& parser)
{
  parser.DefinePostfixOprt("ps", [](double x) { return x * (Scale * 1e-12); });
  parser.DefinePostfixOprt("ns", [](double x) { return x * (Scale * 1e-9); });
  parser.DefinePostfixOprt("us", [](double x) { return x * (Scale * 1e-6); });
  parser.DefinePostfixOprt("ms", [](double x) { return x * (Scale * 1e-3); });
  parser.DefinePostfixOprt("s", [](double x) { return x * Scale; });
  parser.DefinePostfixOprt("kB", [](double x) { return x * 1e3; });
  parser.DefinePostfixOprt("MB", [](double x) { return x * 1e6; });
  parser.DefinePostfixOprt("GB", [](double x) { return x * 1e9; });
  parser.DefinePostfixOprt("KiB", [](double x) { return x * 0x1p10; });
  parser.DefinePostfixOprt("MiB", [](double x) { return x * 0x1p20; });
  parser.DefinePostfixOprt("GiB", [](double x) { return x * 0x1p30; });
}

void define_functions(mu::Parser& parser)
{
  parser.ClearFun();
  parser.ClearConst();
  parser.DefineFun("min", [](const double* values, int count) { return *std::min_element(values, values + count); });
  parser.DefineFun("max", [](const double* values, int count) { return *std::max_element(values, values + count); });
  parser.DefineFun("abs", [](double x) { return std::abs(x); });
  parser.DefineFun("sqrt", [](double x) { return std::sqrt(x); });
  parser.DefineFun("log", [](double x) { return std::log(x); });
  parser.DefineFun("log2", [](double x) { return std::log2(x); });
  parser.DefineFun("exp", [](double x) { return std::exp(x); });
  parser.DefineFun("floor", [](double x) { return std::floor(x); });
  parser.DefineFun("ceil", [](double x) { return std::ceil(x); });
}

// What muParser's error says in the words of this file.
std::string_view reason(const mu::ParserError& error)
{
  switch (error.GetCode()) {
  case mu::ecMISSING_PARENS:
    return "a parenthesis that is not closed";
  case mu::ecUNEXPECTED_EOF:
    return "the end";
  case mu::ecEMPTY_EXPRESSION:
    return "nothing";
  case mu::ecUNEXPECTED_CONDITIONAL:
  case mu::ecMISSING_ELSE_CLAUSE:
  case mu::ecMISPLACED_COLON:
    return "a '?' without ':' or a ':' without '?'";
  default:
    return "something else";
  }
}

} // namespace

struct Expression::Program {
  mu::Parser parser;
  std::vector<double> values;

  template <int Scale>
  static std::unique_ptr<Program> make(const std::string& clean, std::span<const std::string> names,
                                       std::integral_constant<int, Scale>)
  {
    auto program = std::make_unique<Program>();
    program->values.resize(names.size());
    define_functions(program->parser);
    define_units<Scale>(program->parser);
    for (std::size_t i = 0; i < names.size(); ++i)
      program->parser.DefineVar(names[i], &program->values[i]);
    program->parser.SetExpr(clean);
    program->parser.Eval(); // compiles
    return program;
  }
};

Expression::Expression(std::string_view text, std::span<const std::string> variables, std::string_view object,
                       std::string_view unknown)
    : text_(text), object_(object)
{
  Scanner scanner(text, variables, object, unknown);
  scanner.scan();
  clean_ = std::move(scanner.clean);
  constants_ = std::move(scanner.constants);
  names_time_ = scanner.names_time;
  used_ = std::move(scanner.used);
  std::sort(used_.begin(), used_.end());
  used_.erase(std::unique(used_.begin(), used_.end()), used_.end());
  for (const std::size_t index : used_)
    names_.push_back(variables[index]);
  try {
    program_ = Program::make(clean_, names_, std::integral_constant<int, 1>());
  } catch (const mu::ParserError& error) {
    const auto position = static_cast<std::size_t>(std::max(error.GetPos(), 0));
    throw UsageError(
        object, "an expression",
        fmt::format("{} in {}", at_column(reason(error), std::min(position, text.size())), in_quotes(text)),
        "For example: 2us + 7e-11 s * M * N * K");
  }
}

Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;
Expression::~Expression() = default;

double Expression::evaluate(std::span<const double> values) const
{
  for (std::size_t i = 0; i < used_.size(); ++i) {
    assert(used_[i] < values.size());
    program_->values[i] = values[used_[i]];
  }
  return program_->parser.Eval();
}

Dimension Expression::dimension(std::span<const std::uint8_t> times) const
{
  // Both sides of each comparison have to be seen, so what is compared with is among the values, and its neighbours.
  std::vector<double> numbers{0, 1, 2, 3, 17, 100, 1000, 12345, 1e6};
  for (const double constant : constants_)
    numbers.insert(numbers.end(), {constant, constant + 1, constant - 1});
  std::vector<double> durations;
  for (const double number : numbers)
    for (const double unit : {1., 1e-3, 1e-6, 1e-9, 1e-12})
      durations.push_back(number * unit);

  const auto other = Program::make(clean_, names_, std::integral_constant<int, 2>());
  std::uint64_t state = 1;
  bool is_number = false;
  bool is_time = false;
  const int points = used_.empty() ? 1 : 512;
  for (int point = 0; point < points; ++point) {
    for (std::size_t i = 0; i < used_.size(); ++i) {
      state = state * 6364136223846793005 + 1442695040888963407; // Knuth's linear congruential generator
      const std::uint8_t kind = used_[i] < times.size() ? times[used_[i]] : 0;
      const std::vector<double>& choice = kind == a_time ? durations : numbers;
      program_->values[i] = choice[(state >> 33) % choice.size()];
      other->values[i] = (kind == a_time ? 2. : kind == per_time ? 0.5 : 1.) * program_->values[i];
    }
    const double once = program_->parser.Eval();
    const double twice = other->parser.Eval();
    if (!std::isfinite(once) || !std::isfinite(twice) || (once == 0 && twice == 0))
      continue;
    constexpr double rounding = 1e-9;
    if (std::abs(twice - once) <= rounding * std::abs(once))
      is_number = true;
    else if (std::abs(twice - 2 * once) <= rounding * std::abs(once))
      is_time = true;
    else
      return Dimension::mixed;
  }
  if (is_number && is_time)
    return Dimension::mixed;
  return is_number ? Dimension::number : is_time ? Dimension::time : Dimension::zero;
}

void require_time(const Expression& expression, std::span<const std::uint8_t> times)
{
  const Dimension dimension = expression.dimension(times);
  if (dimension == Dimension::number)
    throw UsageError(expression.object(), "a time", fmt::format("{}, without a unit", in_quotes(expression.text())),
                     "Put one of ps ns us ms s behind a number: 2us, or 7e-11 s * M * N * K.");
  if (dimension == Dimension::mixed)
    throw UsageError(expression.object(), "a time",
                     fmt::format("{}, which is not proportional to the unit of time", in_quotes(expression.text())),
                     "Each term of a sum needs one unit of time, and no product two of them.");
}

void require_number(const Expression& expression, std::string_view what, std::span<const std::uint8_t> times)
{
  const Dimension dimension = expression.dimension(times);
  if (dimension == Dimension::time || dimension == Dimension::mixed)
    throw UsageError(expression.object(), what,
                     fmt::format("{}, which depends on the unit of time", in_quotes(expression.text())),
                     "Leave the unit out, or divide by a time.");
}

bool is_reserved(std::string_view name)
{
  return is_unit(name) || find_function(name) != nullptr;
}

bool is_identifier(std::string_view name)
{
  return !name.empty() && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

} // namespace umwelt::kernels
