// SPDX-License-Identifier: LGPL-2.1-or-later
// What goes wrong on the wire: which messages a link loses or corrupts.
#pragma once

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "net_models/bxi/parameters.h"
#include "net_models/core/fabric.h"
#include "runtime/base/time.h"

namespace umwelt::net
{

class BxiFaults
{
public:
  // Throws std::invalid_argument for lists that cannot be read.
  explicit BxiFaults(const BxiParameters& parameters);

  // False: nothing will ever go wrong, and nobody needs to ask.
  [[nodiscard]] bool any() const { return any_; }

  // What a link of some name does; looked up once per link.
  struct LinkFaults {
    double drop = 0;
    double corrupt = 0;
    std::vector<std::pair<sim::SimTime, sim::SimTime>> down; // [from, to)
  };
  [[nodiscard]] LinkFaults on(std::string_view link) const;

  using Outcome = umwelt::net::LinkFaults::Outcome;
  // The fate of a message that enters a link at `when`. Draws random numbers only for probabilities above 0.
  Outcome cross(const LinkFaults& link, sim::SimTime when);

private:
  struct Probability {
    std::string link;
    double value = 0;
  };
  struct Interval {
    std::string link;
    sim::SimTime from = 0;
    sim::SimTime to = 0;
  };
  static std::vector<Probability> read_probabilities(std::string_view key, std::string_view list);
  static std::vector<Interval> read_intervals(std::string_view list);
  bool chance(double probability);

  double drop_;
  double corrupt_;
  std::vector<Probability> drop_on_;
  std::vector<Probability> corrupt_on_;
  std::vector<Interval> down_;
  bool any_;
  std::mt19937_64 random_;
};

// The same by the number of a link.
class BxiLinkFaults final : public LinkFaults
{
public:
  BxiLinkFaults(const platform::Platform& platform, const BxiParameters& parameters)
      : platform_(platform), faults_(parameters)
  {
  }
  Outcome cross(platform::LinkIndex link, sim::SimTime when) override;

private:
  const platform::Platform& platform_;
  BxiFaults faults_;
  std::vector<BxiFaults::LinkFaults> links_;
};

} // namespace umwelt::net
