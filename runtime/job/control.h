// SPDX-License-Identifier: LGPL-2.1-or-later
// What `umwelt ctl` asks of a run (base/control_channel.h).
#pragma once

#include <string>

#include "runtime/base/control_channel.h"
#include "runtime/base/timeline.h"
#include "runtime/job/network.h"

namespace umwelt::job
{

class Control
{
public:
  // Both outlive it. Throws std::system_error.
  Control(Network& network, const sim::Timeline& timeline) : network_(network), timeline_(timeline) {}

  // Now and then, while no model is in the middle of its work.
  void serve()
  {
    server_.serve([this](const std::string& request) { return answer(request); });
  }

private:
  std::string answer(const std::string& request);
  [[nodiscard]] std::string status() const;

  Network& network_;
  const sim::Timeline& timeline_;
  ControlServer server_;
};

} // namespace umwelt::job
