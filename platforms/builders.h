// SPDX-License-Identifier: LGPL-2.1-or-later
// One builder per kind of machine, each in a file of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "platforms/platform.h"
#include "runtime/base/parameters.h"

namespace umwelt::platform
{

using Builder = std::unique_ptr<Platform> (*)(const Request& request, const Parameters& parameters);

std::unique_ptr<Platform> build_bxi(const Request& request, const Parameters& parameters);
std::unique_ptr<Platform> build_fat_tree(const Request& request, const Parameters& parameters);
std::unique_ptr<Platform> build_torus(const Request& request, const Parameters& parameters);
std::unique_ptr<Platform> build_mesh(const Request& request, const Parameters& parameters);
std::unique_ptr<Platform> build_dragonfly(const Request& request, const Parameters& parameters);
std::unique_ptr<Platform> build_hyperx(const Request& request, const Parameters& parameters);
std::unique_ptr<Platform> build_slimfly(const Request& request, const Parameters& parameters);
std::unique_ptr<Platform> build_crossbar(const Request& request, const Parameters& parameters);
std::unique_ptr<Platform> build_ethernet(const Request& request, const Parameters& parameters);
std::unique_ptr<Platform> load_simgrid_file(const Request& request);

// Their parameters with defaults, for the catalogue.
std::vector<ParameterInfo> bxi_parameters();
std::vector<ParameterInfo> fat_tree_parameters();
std::vector<ParameterInfo> torus_parameters();
std::vector<ParameterInfo> mesh_parameters();
std::vector<ParameterInfo> dragonfly_parameters();
std::vector<ParameterInfo> hyperx_parameters();
std::vector<ParameterInfo> slimfly_parameters();
std::vector<ParameterInfo> crossbar_parameters();
std::vector<ParameterInfo> ethernet_parameters();

// Sockets and bytes of memory of a node, as `object` ("platform bxi") was told. Throws std::invalid_argument for none
// of them.
void check_machine(const std::string& object, std::uint64_t sockets, std::uint64_t memory);
// No socket is without a core.
unsigned sockets_of(std::uint64_t sockets, std::uint64_t cores);

} // namespace umwelt::platform
