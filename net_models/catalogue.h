// SPDX-License-Identifier: LGPL-2.1-or-later
// Which models there are, what can be set, and making one.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net_models/core/model.h"
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

// Parameters are key=value strings ("--nic key=value"); an unknown key or a bad value throws std::invalid_argument
// whose text names the key, what was expected, what was given and the nearest known key.
std::unique_ptr<Model> make_model(std::string_view name, const ModelContext& context, const Parameters& parameters);

} // namespace umwelt::net
