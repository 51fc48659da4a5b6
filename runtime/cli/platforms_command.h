// SPDX-License-Identifier: LGPL-2.1-or-later
// `umwelt platforms`: the machines that --platform knows by name.
#pragma once

#include <span>
#include <string>

#include "platforms/platform.h"

namespace umwelt::cli
{

// Name, summary and parameters of each entry.
std::string platforms_text(std::span<const platform::CatalogueEntry> catalogue);

// [{"name", "summary", "parameters"}]
std::string platforms_json(std::span<const platform::CatalogueEntry> catalogue);

} // namespace umwelt::cli
