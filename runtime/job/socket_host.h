// SPDX-License-Identifier: LGPL-2.1-or-later
// The socket stack's view of ranks (runtime/sockets/stack.h).
#pragma once

#include <memory>

#include "runtime/sockets/stack.h"

namespace umwelt::job
{

class Job;

class SocketHost final : public sockets::Host
{
public:
  explicit SocketHost(Job& job) : job_(job) {}

  void socket_changed(std::uint32_t rank) override;
  void backlog_changed(std::uint32_t rank, int by) override;
  void outside_refused(std::uint32_t rank, sockets::IpAddress host) override;
  void sent(std::uint32_t rank, std::size_t bytes) override;
  void received(std::uint32_t rank, std::size_t bytes) override;
  std::unique_ptr<sim::Origin> departs(std::uint32_t rank) override;
  void came(std::uint32_t rank, std::uint32_t source, const sim::Origin* origin, sim::SimTime began,
            std::uint64_t bytes) override;

private:
  Job& job_;
};

} // namespace umwelt::job
