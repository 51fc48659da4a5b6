// SPDX-License-Identifier: LGPL-2.1-or-later
// An entry of a kernels file, as text that kernels_file.h reads.
#pragma once

#include <string>
#include <vector>

#include "runtime/kernels/fitting/forms.h"
#include "runtime/kernels/fitting/scatter.h"

namespace umwelt::kernels
{

struct EntryText {
  std::string name;
  std::vector<std::string> comments; // lines
  std::string action = "model";
  const Terms* terms = nullptr;
  const Judged* model = nullptr; // one place; several: `table`
  Scatter scatter;
  std::string table; // CSV file with the coefficients of each place, as seen from the kernels file
  std::string draw;  // which of several rows of a place; empty: as it is by default

  [[nodiscard]] std::string text() const;
};

// Names of the coefficients as columns of a table, with their units; `scatter` adds one.
std::vector<std::string> coefficient_columns(const Terms& terms, const Form& form, const Scatter& scatter);

} // namespace umwelt::kernels
