// SPDX-License-Identifier: LGPL-2.1-or-later
// A format of the trace: turns records into bytes of a file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/observe/result_file.h"
#include "runtime/observe/trace_format.h"
#include "runtime/observe/trace_record.h"

namespace umwelt::observe
{

// Who the numbers of the records are.
struct TraceLayout {
  std::vector<std::string> nodes;        // name of each
  std::vector<std::uint32_t> rank_nodes; // node of each rank
  // The Portals node identifier of a node.
  std::uint32_t (*nid)(std::uint32_t node) = nullptr;
};

class TraceWriter
{
public:
  virtual ~TraceWriter() = default;
  // False: the format has no place for the record.
  virtual bool write(const OperationRecord& record) = 0;
  virtual bool write(const RankInterval& interval) = 0;
};

// The layout and the file must outlive the writer.
std::unique_ptr<TraceWriter> make_csv_writer(const TraceLayout& layout, ResultFile& file);
std::unique_ptr<TraceWriter> make_perfetto_writer(const TraceLayout& layout, ResultFile& file);

} // namespace umwelt::observe
