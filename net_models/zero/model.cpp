// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/zero/model.h"

namespace umwelt::net
{

ZeroModel::ZeroModel(const ModelContext& context, const ZeroParameters&) : PlannedModel(context)
{
}

SimTime ZeroModel::issue_cost(const Transfer&) const
{
  return 0;
}

SimTime ZeroModel::take_cost(WriteKind) const
{
  return 0;
}

SimTime ZeroModel::write_delay(WriteKind) const
{
  return 0;
}

PlannedModel::Plan ZeroModel::plan(const Transfer&)
{
  const SimTime now = timeline().now();
  return {now, now, now};
}

} // namespace umwelt::net
