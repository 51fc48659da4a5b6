// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/mixed/ordered_writes.h"

namespace umwelt::net
{

void OrderedWrites::post(Model& model, NodeIndex node, WriteKind kind, HostWrite& write)
{
  Posted& posted = pool_.acquire();
  posted.queue = this;
  posted.write = &write;
  posted.is_visible = false;
  posted_.push_back(&posted);
  model.write_to_host(node, kind, posted);
}

void OrderedWrites::Posted::visible()
{
  is_visible = true;
  OrderedWrites& writes = *queue;
  while (!writes.posted_.empty() && writes.posted_.front()->is_visible) {
    Posted& first = *writes.posted_.front();
    HostWrite& of_host = *first.write;
    writes.posted_.pop_front();
    writes.pool_.release(first);
    of_host.visible();
  }
}

} // namespace umwelt::net
