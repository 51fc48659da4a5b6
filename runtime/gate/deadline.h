// SPDX-License-Identifier: LGPL-2.1-or-later
// Until when a rank waits that has asked to wait for so many ps.
#pragma once

#include <cstdint>

#include "preload/abi/time_units.h"
#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::gate::services
{

// Negative: no limit.
inline sim::SimTime deadline(const job::Rank& rank, std::int64_t duration)
{
  return duration < 0 ? sim::never : umw_time_after(rank.job.scheduler().now(), duration);
}

} // namespace umwelt::gate::services
