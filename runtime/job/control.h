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
  // All outlive it. `may_change`: what nodes have (--ctl). Throws std::system_error.
  Control(Network& network, Computing& computing, const sim::Timeline& timeline, bool may_change)
      : network_(network), computing_(computing), timeline_(timeline), may_change_(may_change)
  {
  }

  // Now and then, while no model is in the middle of its work.
  void serve()
  {
    server_.serve([this](const std::string& request) { return answer(request); });
  }
  // The run stands still until it is told to go on (--break); `where`: for messages.
  void hold(const std::string& where) { held_ = where; }
  [[nodiscard]] bool holds() const { return !held_.empty(); }
  // Returns when a request has come, or after so many milliseconds, or a signal.
  void wait(int milliseconds) { server_.wait(milliseconds); }

private:
  std::string answer(const std::string& request);
  // "ok WHAT on NODES nodes from now on"
  [[nodiscard]] std::string changed(std::string_view what, std::size_t nodes) const;
  [[nodiscard]] std::string status() const;

  Network& network_;
  Computing& computing_;
  const sim::Timeline& timeline_;
  const bool may_change_;
  std::string held_; // empty: it goes on
  ControlServer server_;
};

} // namespace umwelt::job
