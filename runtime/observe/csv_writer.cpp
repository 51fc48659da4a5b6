// SPDX-License-Identifier: LGPL-2.1-or-later
// The log of S4BXI, so that its viewers work: the header that BxiEngine::log writes (src/BxiEngine.cpp of
// github.com/s4bxi/s4bxi at eaf06b9) and the fields in the order of operator<< in BxiLog.hpp. What S4BXI does not tell
// comes behind. S4BXI writes nanoseconds and starts a new file every 10,000 records; here times are exact and there is
// one file.
#include <cstdint>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "runtime/observe/trace_writer.h"

namespace umwelt::observe
{

namespace
{

constexpr std::string_view header = "operation_type,initiator_nid,target_nid,start_time,end_time,"
                                    "bytes,operation,initiator_rank,target_rank,outcome\n";

// Type of a line for the stage; none: S4BXI has no such type.
std::optional<OperationType> type_of(const OperationRecord& record)
{
  switch (record.stage.kind) {
  case net::StageKind::message:
    return record.message;
  case net::StageKind::acknowledgement:
    return OperationType::e2e_ack;
  case net::StageKind::command:
    return OperationType::pci_command;
  case net::StageKind::pio_payload:
    return OperationType::pci_pio_payload;
  case net::StageKind::dma_request:
    return OperationType::pci_dma_request;
  case net::StageKind::dma_payload:
    return OperationType::pci_dma_payload;
  case net::StageKind::payload_write:
    return OperationType::pci_payload_write;
  case net::StageKind::event:
    return OperationType::pci_event;
  case net::StageKind::queue:
  case net::StageKind::transmit:
  case net::StageKind::receive:
    break;
  }
  return std::nullopt;
}

constexpr std::string_view word_of(net::StageOutcome outcome)
{
  return outcome == net::StageOutcome::done ? "done" : outcome == net::StageOutcome::lost ? "lost" : "duplicate";
}

class CsvWriter final : public TraceWriter
{
public:
  CsvWriter(const TraceLayout& layout, ResultFile& file) : layout_(layout), file_(file) { file_.buffer() += header; }

  bool write(const OperationRecord& record) override
  {
    const std::optional<OperationType> type = type_of(record);
    if (!type)
      return false;
    const net::StageRecord& stage = record.stage;
    begin(*type, stage.node, stage.peer, stage.start, stage.end, stage.bytes);
    if (record.operation == 0)
      fmt::format_to(out(), ",,,,{}\n", word_of(stage.outcome));
    else if (stage.target_process >= layout_.rank_nodes.size()) // there is no such process
      fmt::format_to(out(), ",{},{},,{}\n", record.operation, stage.initiator_process, word_of(stage.outcome));
    else
      fmt::format_to(out(), ",{},{},{},{}\n", record.operation, stage.initiator_process, stage.target_process,
                     word_of(stage.outcome));
    file_.flush_if_large();
    return true;
  }

  bool write(const RankInterval& interval) override
  {
    if (interval.state != RankState::compute)
      return false;
    const std::uint32_t node = layout_.rank_nodes[interval.rank];
    begin(OperationType::compute, node, node, interval.start, interval.end, 0);
    fmt::format_to(out(), ",,{0},{0},done\n", interval.rank);
    file_.flush_if_large();
    return true;
  }

private:
  std::back_insert_iterator<std::string> out() { return std::back_inserter(file_.buffer()); }

  // Up to the bytes.
  void begin(OperationType type, std::uint32_t from, std::uint32_t to, sim::SimTime start, sim::SimTime end,
             std::uint64_t bytes)
  {
    fmt::format_to(out(), "{},{},{},{}.{:012},{}.{:012},{}", static_cast<unsigned>(type), layout_.nid(from),
                   layout_.nid(to), start / sim::second, start % sim::second, end / sim::second, end % sim::second,
                   bytes);
  }

  const TraceLayout& layout_;
  ResultFile& file_;
};

} // namespace

std::unique_ptr<TraceWriter> make_csv_writer(const TraceLayout& layout, ResultFile& file)
{
  return std::make_unique<CsvWriter>(layout, file);
}

} // namespace umwelt::observe
