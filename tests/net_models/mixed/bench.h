// SPDX-License-Identifier: LGPL-2.1-or-later
// A machine whose nodes have models of their own.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net_models/mixed/model.h"
#include "tests/net_models/probe.h"

namespace umwelt::net
{

struct MixedBench : Bench {
  using Named = std::pair<std::string, std::string>; // name and parameters

  MixedBench(const std::vector<Named>& models, const std::vector<Assignment::Index>& of_node, bool change = false,
             std::vector<Assignment::Change> changes = {}, const std::string& machine = "crossbar")
      : Bench("zero", "", static_cast<unsigned>(of_node.size()), machine)
  {
    std::vector<std::unique_ptr<Model>> made;
    for (const auto& [name, list] : models) {
      Parameters parameters;
      parameters.add(list, "test");
      made.push_back(make_model(name, {timeline, *platform, &probe}, parameters));
    }
    auto all_of_them =
        std::make_unique<MixedModel>(timeline, std::move(made), Assignment(of_node, std::move(changes)), change);
    mixed = all_of_them.get();
    model = std::move(all_of_them);
  }

  MixedModel* mixed = nullptr;
};

} // namespace umwelt::net
