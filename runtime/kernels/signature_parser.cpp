// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads C declarations of functions:
//
//   signature:  { "extern" } type NAME "(" [ parameter { "," parameter } ] ")" [ ";" ]
//   parameter:  type [ NAME ] { "[" ... "]" }
//   type:       words { "*" | "&" | "const" | "restrict" ... }
//
// C's grammar cannot tell a type's name from a parameter's. Here the words of a type are those of the language, or one
// name: known, or unknown and followed by `*`, since a pointer is a pointer to whatever it may be.
#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <utility>

#include "runtime/base/nearest.h"
#include "runtime/base/usage_error.h"
#include "runtime/kernels/signature.h"

namespace umwelt::kernels
{

namespace
{

struct Token {
  std::string_view text; // empty: the end
  std::size_t column;    // the first is 1
  [[nodiscard]] bool is_word() const
  {
    return !text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) != 0 || text[0] == '_');
  }
};

bool belongs_to_word(char c)
{
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$';
}

std::vector<Token> tokens_of(std::string_view text)
{
  std::vector<Token> tokens;
  for (std::size_t at = 0; at < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && belongs_to_word(text[end]))
      ++end;
    if (text.substr(at, 3) == "...")
      end = at + 3;
    end = std::max(end, at + 1);
    tokens.push_back({text.substr(at, end - at), at + 1});
    at = end;
  }
  tokens.push_back({{}, text.size() + 1});
  return tokens;
}

// The words that mean nothing to us wherever they stand.
constexpr std::array<std::string_view, 7> ignored{"const",        "volatile", "restrict", "__restrict",
                                                  "__restrict__", "register", "extern"};

// What no parameter can be called.
constexpr std::array<std::string_view, 13> keywords{"int",  "long",     "short",  "unsigned", "signed",
                                                    "char", "float",    "double", "struct",   "union",
                                                    "enum", "_Complex", "void"};

using Named = std::pair<std::string_view, Kind>;
constexpr std::array<Named, 24> names{
    {{"float", Kind::float32},      {"double", Kind::float64},       {"char", Kind::character},
     {"int32_t", Kind::int32},      {"int64_t", Kind::int64},        {"uint32_t", Kind::uint32},
     {"uint64_t", Kind::uint64},    {"size_t", Kind::uint64},        {"ssize_t", Kind::int64},
     {"ptrdiff_t", Kind::int64},    {"intptr_t", Kind::int64},       {"uintptr_t", Kind::uint64},
     {"lapack_int", Kind::int32},   {"lapack_logical", Kind::int32}, {"blasint", Kind::int32},
     {"CBLAS_INT", Kind::int32},    {"CBLAS_INDEX", Kind::uint64},   {"MKL_INT", Kind::int32},
     {"CBLAS_LAYOUT", Kind::int32}, {"CBLAS_ORDER", Kind::int32},    {"CBLAS_TRANSPOSE", Kind::int32},
     {"CBLAS_UPLO", Kind::int32},   {"CBLAS_DIAG", Kind::int32},     {"CBLAS_SIDE", Kind::int32}}};

// For guesses: what a misspelt word may have been meant to be.
std::vector<std::string> known_words()
{
  std::vector<std::string> words{"int", "unsigned", "long", "void", "signed"};
  for (const Named& name : names)
    words.emplace_back(name.first);
  return words;
}

bool is_one_of(std::string_view word, std::span<const std::string_view> words)
{
  return std::find(words.begin(), words.end(), word) != words.end();
}

struct Type {
  std::optional<Kind> kind; // nullopt: void
  bool by_reference = false;
};

} // namespace

class SignatureParser
{
public:
  SignatureParser(std::string_view text, std::string_view object) : tokens_(tokens_of(text)), object_(object) {}

  Signature parse()
  {
    Signature signature;
    const Type result = type();
    if (result.by_reference)
      refuse(tokens_[at_ - 1], "a result by value or a pointer", "Write `*` for a result that is a reference.");
    signature.result_ = result.kind;
    if (!here().is_word())
      refuse(here(), "the name of the function",
             "For example: void dscal_(int& N, double& ALPHA, double* X, int& INCX)");
    signature.name_ = take().text;
    const Token open = here();
    expect("(", "`(` and the parameters", "Parameters stand in parentheses, also if there are none.");
    signature.parameters_ = parameters(open);
    if (here().text == ";")
      ++at_;
    if (!here().text.empty())
      refuse(here(), "nothing behind the closing `)`", "One declaration a signature.");
    signature.assign_slots();
    return signature;
  }

private:
  [[nodiscard]] const Token& here() const { return tokens_[at_]; }
  const Token& take() { return tokens_[here().text.empty() ? at_ : at_++]; }

  [[noreturn]] void refuse(const Token& token, std::string_view expected, std::string_view next) const
  {
    throw UsageError(object_, fmt::format("{} in column {}", expected, token.column),
                     token.text.empty() ? std::string("the end") : in_quotes(token.text), next);
  }

  void expect(std::string_view text, std::string_view what, std::string_view next)
  {
    if (here().text != text)
      refuse(here(), what, next);
    ++at_;
  }

  void skip_ignored()
  {
    while (is_one_of(here().text, ignored))
      ++at_;
  }

  // int, unsigned, long, long long, unsigned long int, ...: any order of C's words. Nullopt: there are none.
  std::optional<Kind> integer()
  {
    const Token first = here();
    int longs = 0;
    int ints = 0;
    int shorts = 0;
    int is_unsigned = 0;
    int is_signed = 0;
    bool any = false;
    for (;; ++at_, any = true) {
      skip_ignored();
      const std::string_view word = here().text;
      if (word == "long")
        ++longs;
      else if (word == "int")
        ++ints;
      else if (word == "short")
        ++shorts;
      else if (word == "unsigned")
        ++is_unsigned;
      else if (word == "signed")
        ++is_signed;
      else
        break;
    }
    if (!any)
      return std::nullopt;
    if (here().text == "char" && longs + ints + shorts == 0) {
      ++at_;
      return Kind::character;
    }
    const bool is_long_double = here().text == "double" && longs == 1 && ints + shorts + is_unsigned + is_signed == 0;
    if (is_long_double) {
      ++at_;
      complex_after("double");
    }
    if ((is_long_double || shorts == 1) && star_follows())
      return Kind::pointer;
    if (is_long_double || shorts == 1)
      refuse(first, "an integer of 32 or 64 bits, float or double",
             "Values of long double and short cannot be read: only pointers to them.");
    if (longs > 2 || ints > 1 || shorts > 1 || is_unsigned + is_signed > 1)
      refuse(first, "a type of C", "Write int, unsigned, long, int64_t or the like.");
    if (longs > 0)
      return is_unsigned != 0 ? Kind::uint64 : Kind::int64;
    return is_unsigned != 0 ? Kind::uint32 : Kind::int32;
  }

  [[nodiscard]] bool star_follows() const
  {
    std::size_t at = at_;
    while (is_one_of(tokens_[at].text, ignored))
      ++at;
    return tokens_[at].text == "*";
  }

  // A pointer says nothing of what it points to, so what cannot come by value may stand before `*`.
  Kind base_kind(const Token& first)
  {
    if (const std::optional<Kind> kind = integer())
      return *kind;
    const std::string_view word = take().text;
    const bool tagged = is_one_of(word, std::array<std::string_view, 3>{"struct", "union", "enum"});
    if (tagged && !here().is_word())
      refuse(here(), fmt::format("a name behind '{}'", word), "For example: struct plan* p, enum side s.");
    if (tagged)
      ++at_;
    const bool is_complex = complex_after(word);
    if (star_follows())
      return Kind::pointer;
    if (word == "enum")
      return Kind::int32;
    if (tagged)
      refuse(first, "a pointer or a number", "Structures by value cannot be read: only pointers to them.");
    if (is_complex)
      refuse(first, "a pointer or a real number", "Complex numbers by value cannot be read: only pointers to them.");
    const auto* const known =
        std::find_if(names.begin(), names.end(), [&](const Named& name) { return name.first == word; });
    if (known != names.end())
      return known->second;
    const std::string guess(plausible(word, known_words()));
    refuse(first, "a type such as int, double or void*",
           guess.empty() ? std::string("Write void* for a handle, int for an enumeration.")
                         : fmt::format("Did you mean '{}'? A handle is written void*, an enumeration int.", guess));
  }

  // "double _Complex" or "complex double", of which `word` is the first word; goes behind the second.
  bool complex_after(std::string_view word)
  {
    constexpr std::array<std::string_view, 3> complex{"complex", "_Complex", "__complex__"};
    constexpr std::array<std::string_view, 2> real{"float", "double"};
    const bool first = is_one_of(word, complex);
    const bool second = is_one_of(here().text, first ? std::span<const std::string_view>(real) : complex);
    if (!first && (!second || !is_one_of(word, real)))
      return false;
    at_ += second ? 1 : 0;
    return true;
  }

  Type type()
  {
    skip_ignored();
    const Token first = here();
    if (!first.is_word())
      refuse(first, "a type", "For example: int N, double* A, or int& N for what Fortran passes by reference.");
    Type result;
    if (first.text == "void")
      ++at_;
    else
      result.kind = base_kind(first);
    for (skip_ignored(); here().text == "*" || here().text == "&"; skip_ignored()) {
      if (result.by_reference)
        refuse(here(), "nothing behind `&`", "A reference cannot be pointed to.");
      if (here().text == "&" && !result.kind)
        refuse(here(), "a type with a value before `&`", "Write void* for an address.");
      if (here().text == "*")
        result.kind = Kind::pointer;
      else
        result.by_reference = true;
      ++at_;
    }
    return result;
  }

  std::vector<Parameter> parameters(const Token& open)
  {
    std::vector<Parameter> list;
    if (here().text == ")" || (here().text == "void" && tokens_[at_ + 1].text == ")")) {
      at_ += here().text == ")" ? 1 : 2;
      return list;
    }
    for (;;) {
      list.push_back(parameter(list));
      if (here().text.empty())
        refuse(here(), fmt::format("`)` that closes the `(` of column {}", open.column), "Close the parentheses.");
      if (here().text == ")")
        break;
      expect(",", "`,` or `)`", "Parameters are separated by commas; each is a type and a name.");
    }
    ++at_;
    return list;
  }

  Parameter parameter(const std::vector<Parameter>& before)
  {
    if (here().text == "...")
      refuse(here(), "a parameter", "Leave out what is variable: the arguments before it can be read.");
    const Token first = here();
    Type of = type();
    if (here().text == "(")
      refuse(here(), "the name of a parameter", "Write void* for a pointer to a function.");
    std::string name = fmt::format("P{}", before.size() + 1);
    const Token named = here();
    if (here().is_word()) {
      if (is_one_of(here().text, keywords))
        refuse(here(), "the name of a parameter", "This word belongs to a type: write the type of C in full.");
      name = take().text;
    }
    while (here().text == "[") {
      of.kind = Kind::pointer;
      while (here().text != "]") {
        if (here().text.empty())
          refuse(here(), "`]`", "Close the brackets.");
        ++at_;
      }
      ++at_;
    }
    if (!of.kind)
      refuse(first, "a parameter with a value", "Write void* for an address.");
    if (std::any_of(before.begin(), before.end(), [&](const Parameter& other) { return other.name == name; }))
      refuse(named, "a name that no parameter before has", "Expressions name parameters: each needs its own.");
    return {std::move(name), *of.kind, of.by_reference};
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::string_view object_;
};

Signature Signature::parse(std::string_view text, std::string_view object)
{
  return SignatureParser(text, object).parse();
}

} // namespace umwelt::kernels
