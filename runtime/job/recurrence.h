// SPDX-License-Identifier: LGPL-2.1-or-later
// Whether a thread that is let round comes back to where it has stood before: then it gets nowhere by itself, unless it
// counts elsewhere in memory. Brent's algorithm on its states (umw_gate::poll_state).
#pragma once

#include <algorithm>
#include <cstdint>

namespace umwelt::job
{

class Recurrence
{
public:
  void add(std::uint64_t state)
  {
    ++since_;
    if (state == remembered_) {
      new_ground_ = false;
      since_ = 0;
    } else if (since_ >= limit_) {
      new_ground_ = true;
      remembered_ = state;
      limit_ = std::min(2 * limit_, longest_period);
      since_ = 0;
    }
  }
  // It has not come back lately.
  [[nodiscard]] bool new_ground() const { return new_ground_; }

private:
  static constexpr unsigned longest_period = 1024;
  std::uint64_t remembered_ = 0;
  unsigned since_ = 0;
  unsigned limit_ = 1;
  bool new_ground_ = false;
};

} // namespace umwelt::job
