// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/table_row.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <initializer_list>
#include <stdexcept>
#include <utility>

namespace umwelt::kernels
{

namespace
{

struct ElementType {
  char letter;
  bool is_complex;
  std::string_view real; // C's name
  int real_bytes;
  std::string_view fftw; // prefix
};

constexpr std::array<ElementType, 5> element_types{
    {{'s', false, "float", 4, "fftwf_"},
     {'d', false, "double", 8, "fftw_"},
     {'c', true, "float", 4, {}},
     {'z', true, "double", 8, {}},
     {'l', false, "void", 16, "fftwl_"}}}; // long double, by pointer only

const ElementType& type_of(char letter)
{
  const auto* const found = std::find_if(element_types.begin(), element_types.end(),
                                         [&](const ElementType& type) { return type.letter == letter; });
  if (found == element_types.end())
    throw std::logic_error(fmt::format("built-in kernels: no type '{}'", letter));
  return *found;
}

std::vector<std::string_view> split(std::string_view text, std::string_view separator)
{
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + separator.size(), text.size()));
  }
  return parts;
}

// The alternatives of {a|b}; the last may be empty.
std::vector<std::string_view> alternatives(std::string_view text)
{
  std::vector<std::string_view> parts = split(text, "|");
  if (text.ends_with('|'))
    parts.emplace_back();
  return parts;
}

// Text of a row for one of its types: braces and placeholders are replaced.
class Filler
{
public:
  Filler(const TableRow& row, std::size_t index)
      : row_(row), index_(index), type_(type_of(row.types[index])),
        element_(type_.is_complex ? std::string_view("void") : type_.real)
  {
  }

  [[nodiscard]] const ElementType& type() const { return type_; }

  [[nodiscard]] std::string fill(std::string_view text) const
  {
    std::string filled;
    while (!text.empty()) {
      const std::size_t open = std::min(text.find('{'), text.size());
      filled += text.substr(0, open);
      text.remove_prefix(open);
      if (text.empty())
        break;
      const std::size_t close = text.find('}');
      const std::vector<std::string_view> parts = alternatives(text.substr(1, close - 1));
      filled += parts.at(parts.size() == row_.types.size() ? index_ : std::size_t{type_.is_complex});
      text.remove_prefix(close + 1);
    }
    return filled;
  }

  [[nodiscard]] std::string count(std::string_view text) const
  {
    const bool is_complex = type_.is_complex;
    const bool pairs = is_complex || row_.interface == Interface::fftw;
    std::string filled;
    const std::string source = fill(text);
    for (std::size_t at = 0; at < source.size(); ++at) {
      if (source[at] != '$') {
        filled += source[at];
        continue;
      }
      switch (source.at(++at)) {
      case 'm':
        filled += is_complex ? "6" : "1";
        break;
      case 'a':
        filled += is_complex ? "2" : "1";
        break;
      case 'f':
        filled += is_complex ? "8" : "2";
        break;
      case 's':
        filled += std::to_string(type_.real_bytes * (pairs ? 2 : 1));
        break;
      default:
        filled += std::to_string(type_.real_bytes);
      }
    }
    return filled;
  }

  // The type of a parameter or result without its `*` or `&`.
  [[nodiscard]] std::string_view named(std::string_view type) const
  {
    return type == "T" ? element_ : type == "R" ? type_.real : type;
  }

private:
  const TableRow& row_;
  std::size_t index_;
  const ElementType& type_;
  std::string_view element_;
};

struct Declared {
  std::string type; // of the row: "int", "T"
  char mark;        // '*' or '&'
  std::string name;
};

std::vector<Declared> declared(const std::string& parameters)
{
  std::vector<Declared> list;
  for (const std::string_view text : split(parameters, ", ")) {
    const std::size_t mark = text.find_first_of("*&");
    list.push_back({std::string(text.substr(0, mark)), text.at(mark), std::string(text.substr(mark + 2))});
  }
  return list;
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names)
{
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_workspace_size(std::string_view name)
{
  return is_one_of(name, {"LWORK", "LRWORK", "LIWORK"});
}

bool is_workspace(std::string_view name)
{
  return is_workspace_size(name) || is_one_of(name, {"WORK", "RWORK", "IWORK", "BWORK", "LDWORK"});
}

std::string in_fortran(const Declared& parameter, const Filler& filler)
{
  const bool complex_scalar = parameter.type == "T" && filler.type().is_complex;
  return fmt::format("{}{} {}", filler.named(parameter.type), complex_scalar ? '*' : parameter.mark, parameter.name);
}

std::string in_cblas(const Declared& parameter, const Filler& filler)
{
  if (parameter.mark == '*' || (parameter.type == "T" && filler.type().is_complex))
    return fmt::format("{}* {}", filler.named(parameter.type), parameter.name);
  return fmt::format("{} {}", parameter.type == "char" ? "int" : filler.named(parameter.type), parameter.name);
}

// LAPACKE takes complex scalars by value: in vector registers, of which no other argument of these functions takes any.
std::string in_lapacke(const Declared& parameter, const Filler& filler)
{
  if (parameter.mark == '*')
    return fmt::format("{}* {}", filler.named(parameter.type), parameter.name);
  if (parameter.type == "T" && filler.type().is_complex)
    return fmt::format("double {}", parameter.name);
  return fmt::format("{} {}", filler.named(parameter.type), parameter.name);
}

class Expansion
{
public:
  Expansion(const TableRow& row, std::size_t index) : row_(row), filler_(row, index)
  {
    const std::string prototype = filler_.fill(row.prototype);
    const std::size_t blank = prototype.find(' ');
    result_ = prototype.substr(0, blank);
    stem_ = prototype.substr(blank + 1);
    parameters_ = declared(filler_.fill(row.parameters));
  }

  KernelFunction function()
  {
    const std::size_t mark = stem_.find('?');
    const std::string_view prefix(&filler_.type().letter, 1);
    function_.name = stem_;
    if (mark != std::string::npos)
      function_.name.replace(mark, 1, row_.interface == Interface::fftw ? filler_.type().fftw : prefix);
    for (const std::string_view size : split(row_.sizes, " "))
      function_.sizes.emplace_back(size);
    function_.flops = filler_.count(row_.flops);
    function_.bytes = filler_.count(row_.bytes);
    function_.of_plan = row_.interface == Interface::fftw;
    if (row_.interface == Interface::fftw)
      add_fftw(mark);
    else
      add_fortran_and_c();
    return std::move(function_);
  }

private:
  void add(std::string_view result, const std::string& symbol, const std::vector<std::string>& parameters)
  {
    const std::string declaration = fmt::format("{} {}({})", result, symbol, fmt::join(parameters, ", "));
    Spelling spelling{symbol, Signature::parse(declaration, "built-in kernels"), {}};
    for (std::size_t i = 0; i < spelling.signature.parameters().size(); ++i) {
      if (is_workspace_size(spelling.signature.parameters()[i].name))
        spelling.queries.push_back(i);
    }
    function_.spellings.push_back(std::move(spelling));
  }

  void add_fortran_and_c()
  {
    std::vector<std::string> list;
    for (const Declared& parameter : parameters_)
      list.push_back(in_fortran(parameter, filler_));
    const std::string_view result = result_ == "I"   ? std::string_view("int")
                                    : result_ == "C" ? filler_.type().real
                                                     : filler_.named(result_);
    add(result, function_.name + "_", list);
    add(result, function_.name, list);
    switch (row_.interface) {
    case Interface::level1:
    case Interface::level23:
      add_cblas();
      break;
    case Interface::lapack:
    case Interface::lapack_vectors:
      add_lapacke();
      break;
    default:
      break;
    }
  }

  void add_cblas()
  {
    std::vector<std::string> list;
    if (row_.interface == Interface::level23)
      list.emplace_back("int ORDER");
    for (const Declared& parameter : parameters_)
      list.push_back(in_cblas(parameter, filler_));
    const std::string symbol = "cblas_" + function_.name;
    if (result_ != "C") {
      add(result_ == "I" ? std::string_view("size_t") : filler_.named(result_), symbol, list);
      return;
    }
    add(filler_.type().real, symbol, list); // OpenBLAS has both
    list.emplace_back("void* RESULT");
    add("void", symbol + "_sub", list);
  }

  void add_lapacke()
  {
    std::vector<std::string> list;
    if (row_.interface == Interface::lapack)
      list.emplace_back("int MATRIX_LAYOUT");
    for (const Declared& parameter : parameters_) {
      if (parameter.name != "INFO" && !is_workspace(parameter.name))
        list.push_back(in_lapacke(parameter, filler_));
    }
    add(result_ == "void" ? std::string_view("int") : filler_.named(result_), "LAPACKE_" + function_.name, list);
  }

  // GNU Fortran's predecessor g77 wrote two underscores: FFTW has both.
  void add_fftw(std::size_t mark)
  {
    std::vector<std::string> list;
    for (const Declared& parameter : parameters_)
      list.push_back(in_fortran(parameter, filler_));
    add(result_, function_.name, list);
    list[0] = "void*& PLAN";
    const std::string fortran = fmt::format("{}fftw_{}", filler_.type().letter, stem_.substr(mark + 1));
    add(result_, fortran + "_", list);
    add(result_, fortran + "__", list);
  }

  const TableRow& row_;
  Filler filler_;
  std::string result_;
  std::string stem_;
  std::vector<Declared> parameters_;
  KernelFunction function_;
};

} // namespace

std::vector<KernelFunction> expand(const TableRow& row)
{
  std::vector<KernelFunction> functions;
  for (std::size_t i = 0; i < row.types.size(); ++i)
    functions.push_back(Expansion(row, i).function());
  return functions;
}

} // namespace umwelt::kernels
