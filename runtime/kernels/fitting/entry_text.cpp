// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/fitting/entry_text.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace umwelt::kernels
{
namespace
{

// The parameters of a piece: those of the second one have another name.
std::string parameter_of(const Terms& terms, const Form& form, std::size_t index)
{
  const std::size_t n = form.terms.size();
  return terms.parameter(form.terms[index % n]) + (index < n ? "" : "_large");
}

constexpr const char* split_parameter = "split";
constexpr const char* deviation_parameter = "deviation";

// A sum of terms whose coefficients begin at `first`: numbers of a place, or names of parameters.
std::string duration(const EntryText& entry, std::size_t first)
{
  const Form& form = entry.model->form;
  std::string sum;
  for (std::size_t i = 0; i < form.terms.size(); ++i) {
    std::string factor;
    if (entry.table.empty()) {
      const double value = entry.model->places.front().values[first + i];
      if (value == 0)
        continue;
      factor = fmt::format("{:.6g} s", value);
    } else {
      factor = parameter_of(*entry.terms, form, first + i);
    }
    const std::size_t term = form.terms[i];
    sum += (sum.empty() ? "" : " + ") + factor + (term == 0 ? "" : " * " + entry.terms->texts()[term]);
  }
  return sum.empty() ? "0s" : sum;
}

} // namespace

std::string EntryText::text() const
{
  std::string result;
  for (const std::string& comment : comments)
    result += "# " + comment + "\n";
  result += fmt::format("- name: {}\n  action: {}\n", name, action);
  const Form& form = model->form;
  if (!form.split) {
    result += fmt::format("  duration: {}\n", duration(*this, 0));
  } else {
    const std::string split =
        table.empty() ? fmt::format("{:.6g}", model->places.front().split) : std::string(split_parameter);
    result += fmt::format("  pieces:\n  - {{when: {} < {}, duration: {}}}\n  - otherwise: {}\n",
                          terms->texts()[*form.split], split, duration(*this, 0), duration(*this, form.terms.size()));
  }
  if (!table.empty())
    result += fmt::format("  parameters: {{table: {}{}, missing: cycle}}\n", table,
                          draw.empty() ? "" : fmt::format(", draw: {}", draw));
  if (!scatter.none)
    result += fmt::format("  noise: {{distribution: {}, sd: {}{}}}\n",
                          distribution_names()[static_cast<std::size_t>(scatter.distribution)],
                          !table.empty()  ? std::string(deviation_parameter)
                          : scatter.grows ? fmt::format("{:.4g}", scatter.deviation)
                                          : fmt::format("{:.4g} s", scatter.deviation),
                          scatter.grows ? " * duration" : "");
  return result;
}

std::vector<std::string> coefficient_columns(const Terms& terms, const Form& form, const Scatter& scatter)
{
  std::vector<std::string> columns;
  for (std::size_t i = 0; i < form.terms.size() * (form.split ? 2 : 1); ++i)
    columns.push_back(parameter_of(terms, form, i) + " [s]");
  if (form.split)
    columns.emplace_back(split_parameter);
  if (!scatter.none)
    columns.push_back(deviation_parameter + std::string(scatter.grows ? "" : " [s]"));
  return columns;
}

} // namespace umwelt::kernels
