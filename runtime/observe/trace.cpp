// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/trace.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace umwelt::observe
{

namespace
{

OperationType type_of(net::TransferKind kind, net::TransferKind request)
{
  switch (kind) {
  case net::TransferKind::put:
    return OperationType::ptl_put;
  case net::TransferKind::get:
    return OperationType::ptl_get;
  case net::TransferKind::atomic:
    return OperationType::ptl_atomic;
  case net::TransferKind::fetch_atomic:
    return OperationType::ptl_fetch_atomic;
  case net::TransferKind::ack:
    return OperationType::ptl_ack;
  case net::TransferKind::reply:
    break;
  }
  return request == net::TransferKind::fetch_atomic ? OperationType::ptl_fetch_atomic_response
                                                    : OperationType::ptl_get_response;
}

// The number of a transfer is that of its operation and the type of its message, so that nothing has to be kept for it.
constexpr std::uint64_t types_of_messages = 8;

constexpr std::string_view next_step =
    "Make room or name another file, and run again; --trace-ranks makes a trace smaller.";

// Where there is room for the trace, there is for this.
std::string directory_for_events(const std::string& path)
{
  const std::filesystem::path directory = std::filesystem::absolute(path).parent_path();
  const bool is_device = directory.string().starts_with("/dev") || directory.string().starts_with("/proc");
  return (is_device ? std::filesystem::temp_directory_path() : directory).string();
}

} // namespace

Trace::Trace(const TraceOptions& options, TraceLayout layout, OperationKey key)
    : layout_(std::move(layout)), key_(key), all_(options.ranks.empty()),
      traced_(layout_.rank_nodes.size(), options.ranks.empty()),
      traced_nodes_(layout_.nodes.size(), options.ranks.empty()), path_(options.path),
      intervals_(layout_.rank_nodes.size())
{
  for (const std::uint32_t rank : options.ranks) {
    traced_.at(rank) = true;
    traced_nodes_.at(layout_.rank_nodes[rank]) = true;
  }
  for (std::uint32_t rank = 0; rank < intervals_.size(); ++rank)
    intervals_[rank].rank = rank;
  switch (options.format) {
  case TraceFormat::csv:
    writer_ = make_csv_writer(layout_, file_.emplace("--trace", path_));
    break;
  case TraceFormat::perfetto:
    writer_ = make_perfetto_writer(layout_, file_.emplace("--trace", path_));
    break;
  case TraceFormat::pcapng:
    writer_ = make_pcapng_writer(layout_, file_.emplace("--trace", path_), traced_nodes_);
    break;
  case TraceFormat::paje:
    writer_ = make_paje_writer(layout_, file_.emplace("--trace", path_));
    break;
  case TraceFormat::otf2:
    writer_ = make_otf2_writer(layout_, path_);
    break;
  }
  shows_links_ = shows_links(options.format);
  if (shows_calls(options.format))
    events_ = std::make_shared<mpi::EventSpool>(directory_for_events(path_));
}

Trace::~Trace() = default;

std::uint64_t Trace::started(const net::Transfer& transfer)
{
  Operation& operation = operations_[key_(transfer)];
  if (!net::is_response(transfer.kind))
    operation = {++operation_, transfer.kind};
  return operation.number * types_of_messages + static_cast<std::uint64_t>(type_of(transfer.kind, operation.kind));
}

void Trace::stage(const net::StageRecord& record)
{
  OperationRecord entry{record};
  if (record.transfer == 0) {
    if (!traced_nodes_[record.node])
      return;
  } else {
    if (!traces(record.initiator_process) && !traces(record.target_process))
      return;
    entry.message = static_cast<OperationType>(record.transfer % types_of_messages);
    entry.operation = record.transfer / types_of_messages;
  }
  records_ += writer_->write(entry);
}

void Trace::add_rank(std::uint32_t node, std::uint32_t first)
{
  layout_.first_ranks.resize(layout_.rank_nodes.size());
  layout_.first_ranks.push_back(first);
  intervals_.emplace_back().rank = static_cast<std::uint32_t>(layout_.rank_nodes.size());
  layout_.rank_nodes.push_back(node);
  traced_.push_back(all_);
}

void Trace::rank_spent(std::uint32_t rank, RankState state, sim::SimTime start, sim::SimTime end)
{
  end_ = std::max(end_, end);
  if (end <= start || !traces(rank))
    return;
  RankInterval& last = intervals_[rank];
  if (last.state == state && last.end == start) {
    last.end = end;
    return;
  }
  write(last);
  last = {rank, state, start, end};
}

void Trace::write(const RankInterval& interval)
{
  if (interval.end > interval.start)
    records_ += writer_->write(interval);
}

void Trace::finish()
{
  for (const RankInterval& interval : intervals_)
    write(interval);
  intervals_.clear();
  TracedCalls calls;
  if (events_)
    write_calls(calls);
  if (load_ != nullptr)
    write_links();
  writer_->finish(calls);
  if (events_ && events_->error() != 0)
    throw std::runtime_error(fmt::format("--trace {}: expected all calls of MPI in it, got: {} while they were kept in "
                                         "its directory; some are missing\n  {}",
                                         path_, std::strerror(events_->error()), next_step));
  if (file_)
    file_->finish(next_step, true);
}

void Trace::node_draws(sim::SimTime at, std::uint32_t node, double watts)
{
  if (all_ || (node < traced_nodes_.size() && traced_nodes_[node]))
    writer_->power(at, node, watts);
}

net::LinkLoad* Trace::links(const platform::Platform& platform, net::LinkLoad* there, DescribeLink describe)
{
  if (!shows_links_)
    return there;
  if (there == nullptr)
    own_load_ = std::make_unique<net::LinkLoad>(platform);
  describe_link_ = std::move(describe);
  load_ = there != nullptr ? there : own_load_.get();
  return load_;
}

void Trace::write_links()
{
  for (std::uint32_t i = 0; i < load_->links(); ++i) {
    if (load_->bytes(i) == 0)
      continue;
    const LinkFacts link = describe_link_(i);
    writer_->link(
        {link.name, link.bandwidth, load_->bins().width(), load_->bins().row(i, std::max<sim::SimTime>(end_, 1))});
  }
}

void Trace::write_calls(TracedCalls& calls)
{
  for (std::uint32_t rank = 0; rank < layout_.rank_nodes.size(); ++rank) {
    if (!traces(rank))
      continue;
    calls.begin(rank < layout_.first_ranks.size() ? layout_.first_ranks[rank] : 0);
    writer_->begin_calls(rank);
    events_->read(rank, [this, &calls](const umw_event& told) {
      umw_event event = told;
      if (!calls.takes(event))
        records_ += writer_->call(event, calls);
    });
    writer_->end_calls();
  }
}

} // namespace umwelt::observe
