// SPDX-License-Identifier: LGPL-2.1-or-later
// The Portals engine's view of ranks: processes that wait, poll and spend CPU time (runtime/portals/fabric/host.h).
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/portals/fabric/host.h"

namespace umwelt::job
{

class Job;
class Rank;

class PortalsHost final : public portals::Host
{
public:
  explicit PortalsHost(Job& job) : job_(job) {}

  bool wait(portals::Process& process, sim::SimTime deadline) override;
  void refused(portals::Process& process) override;
  void changed(portals::Process& process) override;
  void event_visible(portals::Process& process, ptl_handle_eq_t queue) override;
  std::unique_ptr<sim::Origin> departs(portals::Process& process) override;
  void came(portals::Process& process, std::uint32_t source, const sim::Origin* origin, sim::SimTime began,
            std::uint64_t bytes) override;
  void answered(portals::Process& process, std::uint32_t other, const sim::Origin* origin, sim::SimTime began,
                std::uint64_t bytes) override;
  void exchanged(std::uint32_t one, std::uint32_t other, sim::SimTime began) override;
  void written(portals::Process& process, bool told) override;
  bool empty_poll(portals::Process& process) override;
  void idle_call(portals::Process& process) override;
  void productive_poll(portals::Process& process) override;
  void took_event(portals::Process& process, bool more) override;
  void received(portals::Process& process, std::uint64_t unread) override;
  void spend(portals::Process& process, sim::SimTime host_time) override;
  [[nodiscard]] sim::SimTime now(const portals::Process& process) const override;

private:
  Rank& rank_of(const portals::Process& process) const;
  void tell(Rank& rank);
  Job& job_;
};

} // namespace umwelt::job
