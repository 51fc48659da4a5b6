// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <stdexcept>

#include "net_models/core/factors.h"

namespace umwelt::net
{

struct ZeroParameters {
  template <class Visitor> void visit(Visitor&) {}

  // There is nothing that they could change, which a user should know.
  static void scale(const NetworkFactors& factors)
  {
    refuse_classes("zero", "Leave it out, or take another model.", factors);
    if (factors.latency != 1 || factors.bandwidth != 1)
      throw std::invalid_argument(
          "--latency-factor, --bandwidth-factor: expected a model with latency and bandwidth, "
          "got model zero, where messages take no time. Leave them out, or take another model.");
  }
};

} // namespace umwelt::net
