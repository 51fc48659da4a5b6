// SPDX-License-Identifier: LGPL-2.1-or-later
// The trace of a run (--trace): listens to the network model and to the ranks and writes what it hears to a file.
// Memory does not grow with the length of the run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "net_models/core/link_load.h"
#include "runtime/mpi/event_spool.h"
#include "runtime/observe/result_file.h"
#include "runtime/observe/trace_writer.h"

namespace umwelt::observe
{

struct TraceOptions {
  std::string path;
  TraceFormat format = TraceFormat::perfetto;
  std::vector<std::uint32_t> ranks; // operations these begin or are the target of, and these ranks; empty: all
};

class Trace final : public net::Observer
{
public:
  // What is equal for a request and its response, as long as they are under way, and different for any two operations.
  using OperationKey = const void* (*)(const net::Transfer&);

  // Throws std::invalid_argument if the file cannot be written. A trace that is not finished leaves no file.
  Trace(const TraceOptions& options, TraceLayout layout, OperationKey key);
  ~Trace();

  std::uint64_t started(const net::Transfer& transfer) override;
  void stage(const net::StageRecord& record) override;
  // A node draws so many watts from then on (--power).
  void node_draws(sim::SimTime at, std::uint32_t node, double watts);
  // Intervals of one state that touch become one.
  void rank_spent(std::uint32_t rank, RankState state, sim::SimTime start, sim::SimTime end);

  // One more rank, the next by number: it has been started by others. Not traced if ranks were chosen. `first`: rank 0
  // of its MPI_COMM_WORLD.
  void add_rank(std::uint32_t node, std::uint32_t first);

  // Where calls of ranks are to be told; null: the format does not show them.
  [[nodiscard]] const std::shared_ptr<mpi::EventSpool>& events() const { return events_; }

  // Whom sockets are to tell what they send; null: the format does not show it.
  [[nodiscard]] sockets::Tap* tap() { return writer_->tap(); }

  // Where models are to tell what links of the platform carry: `there`, if somebody wants that already, otherwise the
  // trace's own; null: nobody wants it. All of them outlive finish().
  struct LinkFacts {
    std::string name;
    double bandwidth = 0; // bytes per second
  };
  using DescribeLink = std::function<LinkFacts(std::uint32_t link)>;
  net::LinkLoad* links(const platform::Platform& platform, net::LinkLoad* there, DescribeLink describe);

  // No records after this. Throws std::runtime_error if the trace is not whole.
  void finish();

  [[nodiscard]] std::uint64_t records() const { return records_ + writer_->records(); }
  [[nodiscard]] std::uint64_t bytes() const { return file_ ? file_->bytes() : writer_->bytes(); }
  // Null: it has files of its own.
  [[nodiscard]] const ResultFile* file() const { return file_ ? &*file_ : nullptr; }

private:
  struct Operation {
    std::uint64_t number = 0;
    net::TransferKind kind = net::TransferKind::put; // of the request
  };

  [[nodiscard]] bool traces(std::uint32_t rank) const { return rank < traced_.size() && traced_[rank]; }
  void write(const RankInterval& interval);
  void write_calls(TracedCalls& calls);
  void write_links();

  TraceLayout layout_;
  OperationKey key_;
  bool all_;                       // no ranks were chosen
  std::vector<bool> traced_;       // by rank
  std::vector<bool> traced_nodes_; // those with a traced rank
  std::string path_;
  std::optional<ResultFile> file_;
  std::unique_ptr<TraceWriter> writer_;
  std::shared_ptr<mpi::EventSpool> events_;
  std::unordered_map<const void*, Operation> operations_;
  std::vector<RankInterval> intervals_; // by rank, not yet written
  std::uint64_t operation_ = 0;
  std::uint64_t records_ = 0;
  sim::SimTime end_ = 0;
  bool shows_links_ = false;
  DescribeLink describe_link_;
  net::LinkLoad* load_ = nullptr;
  std::unique_ptr<net::LinkLoad> own_load_;
};

} // namespace umwelt::observe
