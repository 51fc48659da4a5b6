// SPDX-License-Identifier: LGPL-2.1-or-later
// Counts messages per rank for the summary: every operation once, as sent by its initiator and received by its target.
#pragma once

#include <memory>
#include <vector>

#include "runtime/job/rank.h"
#include "runtime/portals/fabric/observer.h"

namespace umwelt::job
{

class MessageCounter final : public portals::Observer
{
public:
  explicit MessageCounter(const std::vector<std::unique_ptr<Rank>>& ranks) : ranks_(ranks) {}

  void message(const portals::MessageRecord& record) override
  {
    if (!record.delivered || record.kind == net::TransferKind::ack)
      return;
    // The payload of a get travels in its reply, from target to initiator.
    const bool reply = record.kind == net::TransferKind::reply;
    if (record.kind == net::TransferKind::get)
      return;
    const std::uint32_t from = reply ? record.target : record.initiator;
    const std::uint32_t to = reply ? record.initiator : record.target;
    if (from < ranks_.size()) {
      observe::RankStatistics& statistics = ranks_[from]->statistics;
      ++statistics.messages_sent;
      statistics.bytes_sent += record.payload;
      statistics.sizes.add(record.payload);
    }
    if (to < ranks_.size()) {
      ++ranks_[to]->statistics.messages_received;
      ranks_[to]->statistics.bytes_received += record.payload;
    }
  }

private:
  const std::vector<std::unique_ptr<Rank>>& ranks_;
};

} // namespace umwelt::job
