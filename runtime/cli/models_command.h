// SPDX-License-Identifier: LGPL-2.1-or-later
// `umwelt models`: the network models and their parameters, which are what --nic knows.
#pragma once

#include <span>
#include <string>

#include "net_models/catalogue.h"

namespace umwelt::cli
{

// Name and summary of each model; key, default, kind and meaning of each parameter.
std::string models_text(std::span<const net::ModelEntry> models);

// [{"name", "summary", "parameters": [{"key", "default", "kind", "help"}]}]
std::string models_json(std::span<const net::ModelEntry> models);

} // namespace umwelt::cli
