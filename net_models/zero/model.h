// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "net_models/core/planned_model.h"
#include "net_models/zero/parameters.h"

namespace umwelt::net
{

class ZeroModel final : public PlannedModel
{
public:
  ZeroModel(const ModelContext& context, const ZeroParameters& parameters);

  [[nodiscard]] std::string_view name() const override { return "zero"; }
  [[nodiscard]] SimTime issue_cost(const Transfer& transfer) const override;
  [[nodiscard]] SimTime take_cost(WriteKind kind) const override;

private:
  Plan plan(const Transfer& transfer) override;
  [[nodiscard]] SimTime write_delay(WriteKind kind) const override;
};

} // namespace umwelt::net
