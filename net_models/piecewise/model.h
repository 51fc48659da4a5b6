// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "net_models/core/planned_model.h"
#include "net_models/piecewise/parameters.h"

namespace umwelt::net
{

class PiecewiseModel final : public PlannedModel
{
public:
  PiecewiseModel(const ModelContext& context, const PiecewiseParameters& parameters);

  [[nodiscard]] std::string_view name() const override { return "piecewise"; }
  [[nodiscard]] SimTime issue_cost(const Transfer& transfer) const override;
  [[nodiscard]] SimTime take_cost(WriteKind kind) const override;

private:
  Plan plan(const Transfer& transfer) override;
  [[nodiscard]] SimTime write_delay(WriteKind kind) const override;

  // A step function of the message size; 1 below the first step.
  class Factors
  {
  public:
    Factors(std::string_view key, std::string_view list);
    [[nodiscard]] double at(std::uint64_t size) const;

  private:
    struct Step {
      std::uint64_t from = 0;
      double factor = 1;
    };
    std::vector<Step> steps_;
  };

  PiecewiseParameters parameters_;
  Factors latency_;
  Factors bandwidth_;
};

} // namespace umwelt::net
