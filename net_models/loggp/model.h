// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "net_models/core/planned_model.h"
#include "net_models/loggp/parameters.h"

namespace umwelt::net
{

class LogGPModel final : public PlannedModel
{
public:
  LogGPModel(const ModelContext& context, const LogGPParameters& parameters);

  [[nodiscard]] std::string_view name() const override { return "loggp"; }
  [[nodiscard]] SimTime issue_cost(const Transfer& transfer) const override;
  [[nodiscard]] SimTime take_cost(WriteKind kind) const override;

private:
  Plan plan(const Transfer& transfer) override;
  Plan plan_of_target(const Transfer& transfer) override;
  [[nodiscard]] SimTime write_delay(WriteKind kind) const override;

  struct Nic {
    SimTime sends_until = 0;
    SimTime receives_until = 0;
  };

  LogGPParameters parameters_;
  std::vector<Nic> nics_;
};

} // namespace umwelt::net
