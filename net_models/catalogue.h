// SPDX-License-Identifier: LGPL-2.1-or-later
// Which models there are and what can be set. make_model() is declared in model.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/base/parameters.h"

namespace umwelt::net
{

struct ModelEntry {
  std::string name;
  std::string summary; // one line
  std::vector<ParameterInfo> parameters;
};

// The default model comes first.
std::span<const ModelEntry> models();

// What --node knows: the nodes, whatever the model.
const ModelEntry& node_entry();

} // namespace umwelt::net
