// SPDX-License-Identifier: LGPL-2.1-or-later
// One builder per kind of machine, each in a file of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net_models/parameters.h"
#include "platforms/platform.h"

namespace umwelt::platform
{

using Builder = std::unique_ptr<Platform> (*)(const Request& request, const net::Parameters& parameters);

std::unique_ptr<Platform> build_fat_tree(const Request& request, const net::Parameters& parameters);
std::unique_ptr<Platform> build_crossbar(const Request& request, const net::Parameters& parameters);
std::unique_ptr<Platform> build_ethernet(const Request& request, const net::Parameters& parameters);
std::unique_ptr<Platform> load_xml(const Request& request);

// Their parameters with defaults, for the catalogue.
std::vector<net::ParameterInfo> fat_tree_parameters();
std::vector<net::ParameterInfo> crossbar_parameters();
std::vector<net::ParameterInfo> ethernet_parameters();

} // namespace umwelt::platform
