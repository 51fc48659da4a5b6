// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/core/model.h"

#include <stdexcept>

namespace umwelt::net
{

void Model::take_in(Transfer&, SimTime)
{
  throw std::logic_error("a model that takes in nothing from others got a transfer of one");
}

void Model::tail_moved(Transfer&, SimTime)
{
  throw std::logic_error("a model that takes in nothing from others got a transfer of one");
}

} // namespace umwelt::net
