// SPDX-License-Identifier: LGPL-2.1-or-later
// Which processes use the service instead of the compute networks (parameter `service`).
#pragma once

#include <vector>

#include "net_models/bxi/parameters.h"
#include "net_models/core/model.h"

namespace umwelt::net
{

class BxiService
{
public:
  BxiService() = default; // none
  // Throws std::invalid_argument for a list that cannot be read.
  explicit BxiService(const BxiParameters& parameters);

  // Whether the process's messages, and the responses to them, go over the service networks.
  [[nodiscard]] bool uses(const Transfer& transfer) const
  {
    return transfer.service ||
           (transfer.initiator_process < processes_.size() && processes_[transfer.initiator_process]) || all_;
  }

private:
  std::vector<bool> processes_;
  bool all_ = false;
};

} // namespace umwelt::net
