// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/socket_host.h"

#include <fmt/format.h>

#include "runtime/job/details.h"
#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::job
{

void SocketHost::socket_changed(std::uint32_t index)
{
  Rank& rank = *job_.ranks()[index];
  ++rank.gate.wakes;
  ++rank.gate.activity;
  ++rank.gate.descriptor_news;
  rank.memory_changed(); // a loop that looks at memory may look at its descriptors now and then
  job_.polling().changed(rank);
  rank.lateness.progress();
  rank.notify_network();
  rank.notify_all();
}

std::unique_ptr<sim::Origin> SocketHost::departs(std::uint32_t rank)
{
  Details* const details = job_.details();
  return details == nullptr ? nullptr : details->path().departs(rank, job_.scheduler().now());
}

void SocketHost::came(std::uint32_t index, std::uint32_t source, const sim::Origin* origin, sim::SimTime began,
                      std::uint64_t bytes)
{
  job_.ranks()[index]->came(source, origin, began, bytes);
}

void SocketHost::backlog_changed(std::uint32_t index, int by)
{
  job_.ranks()[index]->gate.socket_backlog += static_cast<std::uint32_t>(by);
}

void SocketHost::outside_refused(std::uint32_t index, sockets::IpAddress host)
{
  job_.warn(
      *job_.ranks()[index],
      fmt::format(
          "socket to {}: expected an address of the simulated machine (10.0.0.1 and up, 127.0.0.1, {} and up, ::1), "
          "refused (ENETUNREACH). Next step: name a simulated host, or start that peer as a rank of the run",
          host.text(), sockets::unique_local_of(0).text()));
}

void SocketHost::sent(std::uint32_t index, std::size_t bytes)
{
  observe::RankStatistics& statistics = job_.ranks()[index]->statistics;
  ++statistics.segments_sent;
  statistics.segment_bytes_sent += bytes;
}

void SocketHost::received(std::uint32_t index, std::size_t bytes)
{
  observe::RankStatistics& statistics = job_.ranks()[index]->statistics;
  ++statistics.segments_received;
  statistics.segment_bytes_received += bytes;
}

} // namespace umwelt::job
