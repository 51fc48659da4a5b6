// SPDX-License-Identifier: LGPL-2.1-or-later
// Models that let SimGrid's solver move bytes need SimGrid to run: the loop is a SimGrid actor here, as in the engine.
#pragma once

#include <functional>

#include "platforms/simgrid.h"
#include "platforms/simgrid_versions.h"
#include "tests/net_models/probe.h"

namespace umwelt::net
{

// What the engine does: ask the model before every event.
inline void loop(Bench& bench)
{
  for (;;) {
    const SimTime next = bench.timeline.next();
    if (bench.model->external_pending() && bench.model->advance_external(next))
      continue;
    if (!bench.timeline.step())
      return;
  }
}

inline void in_actor(Bench& bench, const std::function<void()>& body)
{
  platform::versions::add_actor("conductor", bench.platform->node(0).host, body);
  platform::simgrid_engine().run();
}

} // namespace umwelt::net
