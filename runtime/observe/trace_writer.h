// SPDX-License-Identifier: LGPL-2.1-or-later
// A format of the trace: turns records into bytes of a file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/observe/result_file.h"
#include "runtime/observe/trace_format.h"
#include "runtime/observe/trace_record.h"
#include "runtime/observe/traced_calls.h"
#include "runtime/sockets/tap.h"

namespace umwelt::observe
{

// Who the numbers of the records are.
struct TraceLayout {
  std::vector<std::string> nodes;        // name of each
  std::vector<std::uint32_t> rank_nodes; // node of each rank
  // The Portals node identifier of a node.
  std::uint32_t (*nid)(std::uint32_t node) = nullptr;
  std::string machine;                    // name of the platform
  std::vector<std::uint32_t> first_ranks; // of each rank: rank 0 of its MPI_COMM_WORLD; those not there: 0
};

// How much a link has carried over time.
struct LinkSeries {
  std::string name;
  double bandwidth = 0; // bytes per second
  sim::SimTime bin = 0; // width of each of
  std::vector<double> bytes;

  // Percent of what it could carry in that bin; 0 behind the last.
  [[nodiscard]] double utilisation(std::size_t index) const
  {
    const double full = bandwidth * sim::to_seconds(bin);
    return index < bytes.size() && full > 0 ? 100 * bytes[index] / full : 0;
  }
};

class TraceWriter
{
public:
  virtual ~TraceWriter() = default;
  // False: the format has no place for the record.
  virtual bool write(const OperationRecord& record) = 0;
  virtual bool write(const RankInterval& interval) = 0;
  // At the end, rank by rank, its calls in the order of the times of each thread; numbers are those of `calls`.
  virtual void begin_calls(std::uint32_t) {}
  virtual bool call(const umw_event&, const TracedCalls&) { return false; }
  virtual void end_calls() {}
  virtual void link(const LinkSeries&) {}
  // A node draws so many watts from then on. Of a node in the order of time, but not in that of other records.
  virtual void power(sim::SimTime, std::uint32_t, double) {}
  // Whom sockets are to tell what they send; null: nobody.
  virtual sockets::Tap* tap() { return nullptr; }
  // All have been told. A format with files of its own makes them appear; throws std::runtime_error if it cannot.
  virtual void finish(const TracedCalls&) {}
  // Of what it has not been told by write() or call().
  [[nodiscard]] virtual std::uint64_t records() const { return 0; }
  // Of files of its own.
  [[nodiscard]] virtual std::uint64_t bytes() const { return 0; }
};

// The layout and the file must outlive the writer.
std::unique_ptr<TraceWriter> make_csv_writer(const TraceLayout& layout, ResultFile& file);
std::unique_ptr<TraceWriter> make_perfetto_writer(const TraceLayout& layout, ResultFile& file);
std::unique_ptr<TraceWriter> make_paje_writer(const TraceLayout& layout, ResultFile& file);
// `nodes`: those whose interfaces are shown; it must outlive the writer.
std::unique_ptr<TraceWriter> make_pcapng_writer(const TraceLayout& layout, ResultFile& file,
                                                const std::vector<bool>& nodes);
// Throws std::invalid_argument if an archive of that name cannot be written.
std::unique_ptr<TraceWriter> make_otf2_writer(const TraceLayout& layout, const std::string& path);

} // namespace umwelt::observe
