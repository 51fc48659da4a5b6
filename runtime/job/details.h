// SPDX-License-Identifier: LGPL-2.1-or-later
// Gathers what the page of a report shows (observe/details.h), while a job runs. Memory depends on the numbers of ranks
// and of links that carry something, not on the length of the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include <sys/types.h>

#include "net_models/core/link_load.h"
#include "platforms/platform.h"
#include "runtime/base/time_bins.h"
#include "runtime/job/critical_path.h"
#include "runtime/observe/details.h"
#include "runtime/observe/nic_load.h"
#include "runtime/observe/trace_record.h"

namespace umwelt::job
{

class Details
{
public:
  // The platform outlives this.
  // Of a message from node to node alone on the machine.
  using Alone = std::function<net::PairTime(std::uint32_t from, std::uint32_t to)>;

  // `nodes`: of the ranks.
  // `observer`: of the network, is told everything, too; it may be null.
  Details(const platform::Platform& platform, const std::vector<std::uint32_t>& nodes, const Alone& alone,
          net::Observer* observer);

  [[nodiscard]] net::LinkLoad& load() { return load_; }
  [[nodiscard]] net::Observer& observer() { return nics_; }
  [[nodiscard]] CriticalPath& path() { return path_; }
  // A rank's main thread was in that state; `how`: it waited.
  void spent(std::size_t rank, observe::RankState state, sim::SimTime from, sim::SimTime until, CriticalPath::Wait how);
  // The process that carries a rank, which has loaded all that it needs: the first time counts.
  void look_at(pid_t process);

  // All but how it was started, and of objects their paths alone. `ends`: of the ranks.
  [[nodiscard]] observe::Details record(const std::vector<sim::SimTime>& ends) const;

private:
  const CriticalPath::Alone& way(std::uint32_t from, std::uint32_t to, const Alone& alone);
  void add_links(observe::Details& details, sim::SimTime simulated) const;

  const platform::Platform& platform_;
  net::LinkLoad load_;
  observe::NicLoad nics_;
  std::map<std::tuple<bool, std::size_t, sim::SimTime, double>, CriticalPath::Alone> ways_; // by what routes are like
  CriticalPath path_;
  sim::TimeBins outline_;
  std::vector<observe::RunFacts::Object> objects_;
};

} // namespace umwelt::job
