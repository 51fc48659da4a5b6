// SPDX-License-Identifier: LGPL-2.1-or-later
// `torus`, `mesh` and `hyperx`: networks whose switches are the points of a grid.
#include "platforms/assembly.h"
#include "platforms/builders.h"
#include "platforms/topologies/hyperx.h"
#include "platforms/topologies/torus.h"

namespace umwelt::platform
{

namespace
{

constexpr std::array routings{Routing::dimension_order, Routing::valiant, Routing::random};

struct Grid : Machine, Cables {
  std::string sizes = "4x4x4";
  std::uint64_t hosts = 1;
  std::string routing = "dimension_order";
  std::uint64_t seed = 0;

  template <class Visitor> void visit(Visitor& v)
  {
    v.text("dims", sizes, "switches in each dimension");
    v.count("hosts", hosts, "nodes per switch");
    v.text("routing", routing, "dimension_order, valiant or random");
    v.count("seed", seed, "of random routes");
    visit_cables(v);
    visit_machine(v);
  }
};

struct HyperXGrid : Machine, Cables {
  std::string sizes = "4x4";
  std::uint64_t links = 1;
  std::uint64_t hosts = 4;
  std::string routing = "dimension_order";
  std::uint64_t seed = 0;

  template <class Visitor> void visit(Visitor& v)
  {
    v.text("dims", sizes, "switches in each dimension");
    v.count("links", links, "cables between two neighbours");
    v.count("hosts", hosts, "nodes per switch");
    v.text("routing", routing, "dimension_order, valiant or random");
    v.count("seed", seed, "of random routes");
    visit_cables(v);
    visit_machine(v);
  }
};

std::unique_ptr<Platform> build_grid(const Request& request, const Parameters& parameters, const std::string& name)
{
  const std::string object = "platform " + name;
  const auto grid = read_parameters<Grid>(parameters, object);
  check_range(object, "hosts", grid.hosts, 1, most_ports);
  const Torus::Form form{
      parse_shape(object, "dims", grid.sizes, 1),    name == "torus", static_cast<std::uint32_t>(grid.hosts),
      parse_routing(object, grid.routing, routings), grid.seed,       rails_of(object, grid)};
  Torus::check(object, form);
  return assemble(request, name, {std::make_shared<Torus>(form), "node", {grid.node, grid.local}, 0}, grid);
}

} // namespace

std::vector<ParameterInfo> torus_parameters()
{
  return list_parameters<Grid>();
}
std::vector<ParameterInfo> mesh_parameters()
{
  return list_parameters<Grid>();
}
std::vector<ParameterInfo> hyperx_parameters()
{
  return list_parameters<HyperXGrid>();
}

std::unique_ptr<Platform> build_torus(const Request& request, const Parameters& parameters)
{
  return build_grid(request, parameters, "torus");
}

std::unique_ptr<Platform> build_mesh(const Request& request, const Parameters& parameters)
{
  return build_grid(request, parameters, "mesh");
}

std::unique_ptr<Platform> build_hyperx(const Request& request, const Parameters& parameters)
{
  const std::string object = "platform hyperx";
  const auto grid = read_parameters<HyperXGrid>(parameters, object);
  check_range(object, "links", grid.links, 1, most_ports);
  check_range(object, "hosts", grid.hosts, 1, most_ports);
  const HyperX::Form form{parse_shape(object, "dims", grid.sizes, 1),
                          static_cast<std::uint32_t>(grid.links),
                          static_cast<std::uint32_t>(grid.hosts),
                          parse_routing(object, grid.routing, routings),
                          grid.seed,
                          rails_of(object, grid)};
  HyperX::check(object, form);
  return assemble(request, "hyperx", {std::make_shared<HyperX>(form), "node", {grid.node, grid.local}, 0}, grid);
}

} // namespace umwelt::platform
