// SPDX-License-Identifier: LGPL-2.1-or-later
// `umwelt models`: the network models and their parameters, which are what --nic knows, and those of the nodes
// (--node).
#pragma once

#include <span>
#include <string>

#include "net_models/catalogue.h"

namespace umwelt::cli
{

// Name and summary of each model; key, default, kind and meaning of each parameter.
std::string models_text(std::span<const net::ModelEntry> models, const net::ModelEntry& node);

// [{"name", "summary", "option": "--nic" or (the last) "--node", "parameters": [{"key", "default", "kind", "help"}]}]
std::string models_json(std::span<const net::ModelEntry> models, const net::ModelEntry& node);

} // namespace umwelt::cli
