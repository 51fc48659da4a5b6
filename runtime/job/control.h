// SPDX-License-Identifier: LGPL-2.1-or-later
// What `umwelt ctl` asks of a run (base/control_channel.h).
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/control_channel.h"
#include "runtime/base/timeline.h"
#include "runtime/job/computing.h"
#include "runtime/job/network.h"

namespace umwelt::job
{

class Control
{
public:
  // All outlive it. Throws std::system_error.
  Control(Network& network, Computing& computing, const sim::Timeline& timeline)
      : network_(network), computing_(computing), timeline_(timeline)
  {
  }

  // Now and then, while no model is in the middle of its work.
  void serve()
  {
    server_.serve([this](const std::string& request) { return answer(request); });
  }

private:
  std::string answer(const std::string& request);
  // "ok WHAT on NODES nodes from now on"
  [[nodiscard]] std::string changed(std::string_view what, std::size_t nodes) const;
  [[nodiscard]] std::string status() const;

  Network& network_;
  Computing& computing_;
  const sim::Timeline& timeline_;
  ControlServer server_;
};

} // namespace umwelt::job
