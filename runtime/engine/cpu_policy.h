// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "runtime/base/time.h"

namespace umwelt::engine
{

// How a burst of CPU time becomes simulated time.
struct CpuPolicy {
  enum class Kind { measured, none, fixed, scaled } kind = Kind::measured;
  sim::SimTime fixed = 0; // length of every burst, for `fixed`
  double scale = 1;       // simulated over measured time, for `scaled`

  // Simulated time depends on how long bursts take here.
  [[nodiscard]] bool measures() const { return kind == Kind::measured || kind == Kind::scaled; }
  // As users write it: "scale=0.5".
  [[nodiscard]] std::string text() const;

  friend bool operator==(const CpuPolicy&, const CpuPolicy&) = default;
};

} // namespace umwelt::engine
