// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes into the memory of one host by several models in turn: visible in the order in which they were posted, as
// those of one model are.
#pragma once

#include <deque>

#include "net_models/core/model.h"
#include "runtime/base/pool.h"

namespace umwelt::net
{

class OrderedWrites
{
public:
  void post(Model& model, NodeIndex node, WriteKind kind, HostWrite& write);

private:
  struct Posted final : HostWrite {
    OrderedWrites* queue = nullptr;
    HostWrite* write = nullptr;
    bool is_visible = false;
    void visible() override;
  };

  sim::Pool<Posted> pool_;
  std::deque<Posted*> posted_;
};

} // namespace umwelt::net
