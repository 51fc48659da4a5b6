// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "net_models/core/planned_model.h"
#include "net_models/delay/parameters.h"

namespace umwelt::net
{

class DelayModel final : public PlannedModel
{
public:
  DelayModel(const ModelContext& context, const DelayParameters& parameters);

  [[nodiscard]] std::string_view name() const override { return "delay"; }
  [[nodiscard]] SimTime issue_cost(const Transfer& transfer) const override;
  [[nodiscard]] SimTime take_cost(WriteKind kind) const override;

private:
  Plan plan(const Transfer& transfer) override;
  [[nodiscard]] SimTime write_delay(WriteKind kind) const override;

  DelayParameters parameters_;
};

} // namespace umwelt::net
