// SPDX-License-Identifier: LGPL-2.1-or-later
// Perfetto's view of a run: a node is a process, its ranks and the stages of its NIC are tracks, a record is a slice.
//
// Slices of a track must nest, those of a stage overlap (several commands wait, several payloads cross PCI). So a stage
// has as many tracks as it needs, each slice goes to the first that is free, and the viewer merges them, for they have
// the same parent and name. The slices of an operation are tied together by a flow of the operation's number: from the
// command through the fabric to the target and with the response back. Calls of MPI have tracks of their own, one for
// each thread, since what a rank does (computes, waits) goes on from one call to the next.
//
// Perfetto counts nanoseconds. Times are rounded down, which keeps what does not overlap from overlapping; the exact
// ones are in the arguments of each slice, in picoseconds.
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>

#include "runtime/mpi/functions.h"
#include "runtime/observe/message_matches.h"
#include "runtime/observe/perfetto.pb.h"
#include "runtime/observe/trace_writer.h"

namespace umwelt::observe
{

namespace
{

constexpr std::uint32_t sequence = 1; // there is one writer

// Strings that are written once and then called by number, one table for each use.
class Names
{
public:
  using Field = google::protobuf::RepeatedPtrField<perfetto::InternedString>* (perfetto::InternedData::*)();
  explicit Names(Field field) : field_(field) {}

  // A new string is made known by `packet`. `name` is a literal: it is not copied.
  std::uint64_t number(const char* name, perfetto::TracePacket& packet)
  {
    const auto [found, fresh] = numbers_.try_emplace(name, numbers_.size() + 1);
    if (fresh) {
      perfetto::InternedString& entry = *(packet.mutable_interned_data()->*field_)()->Add();
      entry.set_iid(found->second);
      entry.set_name(name);
    }
    return found->second;
  }

private:
  Field field_;
  std::map<std::string_view, std::uint64_t> numbers_;
};

// A row of the viewer below its node. In the order in which rows are shown, behind the ranks.
struct Row {
  const char* name;
  const char* category;
};
enum RowIndex : std::size_t { commands, queues, reads, transmits, fabric = transmits + 4, receives, writes, events };
constexpr auto rows = std::to_array<Row>({{"PCI: commands", "pci"},
                                          {"command queues", "nic"},
                                          {"PCI: payload reads", "pci"},
                                          {"tx compute requests", "nic"},
                                          {"tx service requests", "nic"},
                                          {"tx compute responses", "nic"},
                                          {"tx service responses", "nic"},
                                          {"fabric: messages sent", "fabric"},
                                          {"rx: matching", "nic"},
                                          {"PCI: payload writes", "pci"},
                                          {"PCI: events", "pci"}});

constexpr std::size_t row_of(const net::StageRecord& stage)
{
  switch (stage.kind) {
  case net::StageKind::message:
  case net::StageKind::acknowledgement:
    return fabric;
  case net::StageKind::command:
  case net::StageKind::pio_payload:
    return commands;
  case net::StageKind::dma_request:
  case net::StageKind::dma_payload:
    return reads;
  case net::StageKind::payload_write:
    return writes;
  case net::StageKind::event:
    return events;
  case net::StageKind::queue:
    return queues;
  case net::StageKind::receive:
    return receives;
  case net::StageKind::transmit:
    break;
  }
  return transmits + (stage.response ? 2U : 0U) + (stage.service ? 1U : 0U);
}

constexpr std::array<const char*, 8> message_names = {"E2E ack", "ack",    "reply",        "put",
                                                      "get",     "atomic", "fetch atomic", "fetch atomic reply"};

const char* name_of(const OperationRecord& record)
{
  const bool lost = record.stage.outcome == net::StageOutcome::lost;
  switch (record.stage.kind) {
  case net::StageKind::acknowledgement:
    return lost ? "E2E ack (lost)" : "E2E ack";
  case net::StageKind::pio_payload:
    return "PIO payload";
  case net::StageKind::dma_request:
    return "DMA request";
  case net::StageKind::dma_payload:
    return "DMA payload";
  case net::StageKind::event:
    return "event";
  case net::StageKind::message:
    if (lost)
      return "lost message";
    if (record.stage.outcome == net::StageOutcome::duplicate)
      return "duplicate message";
    break;
  case net::StageKind::command:
  case net::StageKind::payload_write:
  case net::StageKind::queue:
  case net::StageKind::transmit:
  case net::StageKind::receive:
    break;
  }
  return message_names[static_cast<std::size_t>(record.message)];
}

// The path of an operation, without what only goes on at its side.
constexpr bool flows(net::StageKind kind)
{
  return kind == net::StageKind::command || kind == net::StageKind::message || kind == net::StageKind::receive ||
         kind == net::StageKind::payload_write;
}

constexpr std::array<const char*, 3> state_names = {"compute", "NIC commands and events", "waiting"};

constexpr std::size_t first_call_row = std::size_t{1} << 40; // behind stages and ranks: rank, thread
constexpr unsigned thread_bits = 16;

class PerfettoWriter final : public TraceWriter
{
public:
  PerfettoWriter(const TraceLayout& layout, ResultFile& file)
      : layout_(layout), file_(file), nodes_(layout.nodes.size())
  {
    perfetto::TracePacket& packet = begin_packet();
    packet.set_sequence_flags(perfetto::TracePacket::SEQ_INCREMENTAL_STATE_CLEARED);
    end_packet();
  }

  bool write(const OperationRecord& record) override
  {
    const net::StageRecord& stage = record.stage;
    const std::size_t row = row_of(stage);
    const std::uint64_t track = track_for(stage.node, row, stage.start, stage.end);
    perfetto::TracePacket& packet = begin_slice(track, name_of(record), rows[row].category, stage.start, stage.end);
    annotate(packet, "bytes", stage.bytes);
    if (record.operation != 0) {
      annotate(packet, "operation", record.operation);
      annotate(packet, "initiator rank", stage.initiator_process);
      if (stage.target_process < layout_.rank_nodes.size())
        annotate(packet, "target rank", stage.target_process);
      if (flows(stage.kind))
        packet.mutable_track_event()->add_flow_ids(record.operation);
    }
    if (stage.peer != stage.node)
      annotate(packet, "to nid", layout_.nid(stage.peer));
    end_slice(track, stage.end);
    return true;
  }

  bool write(const RankInterval& interval) override
  {
    const std::uint32_t node = layout_.rank_nodes[interval.rank];
    const std::uint64_t track = track_for(node, rows.size() + interval.rank, interval.start, interval.end);
    begin_slice(track, state_names[static_cast<std::size_t>(interval.state)], "rank", interval.start, interval.end);
    end_slice(track, interval.end);
    return true;
  }

  void begin_calls(std::uint32_t rank) override
  {
    rank_ = rank;
    threads_.clear();
    matches_.begin(rank);
  }

  bool call(const umw_event& event, const TracedCalls& calls) override
  {
    const std::uint64_t track = call_track(event.tid);
    const auto time = static_cast<sim::SimTime>(event.time_ps);
    switch (event.kind) {
    case UMW_EVENT_ENTER: {
      perfetto::TracePacket& packet = begin_event(perfetto::TrackEvent::TYPE_SLICE_BEGIN, track, time);
      const bool is_mpi = event.function < UMW_EVENT_FUNCTIONS;
      const char* const name = is_mpi ? mpi::function_name(event.function).data()
                                      : function_name(calls, event.function - UMW_EVENT_FUNCTIONS);
      packet.mutable_track_event()->set_name_iid(names_.number(name, packet));
      packet.mutable_track_event()->add_category_iids(categories_.number(is_mpi ? "mpi" : "function", packet));
      annotate(packet, "start ps", static_cast<std::uint64_t>(time));
      end_packet();
      return true;
    }
    case UMW_EVENT_LEAVE:
      begin_event(perfetto::TrackEvent::TYPE_SLICE_END, track, time);
      end_packet();
      return true;
    case UMW_EVENT_RECEIVE_BEGUN:
      matches_.receive_begun(event);
      return false;
    case UMW_EVENT_CANCELLED:
      matches_.receive_cancelled(event);
      return false;
    case UMW_EVENT_SEND:
    case UMW_EVENT_RECEIVED:
      message(event, calls, track, time);
      return true;
    case UMW_EVENT_COLLECTIVE_END: {
      perfetto::TracePacket& packet = begin_instant(track, "collective", time);
      annotate(packet, "communicator", event.object);
      annotate(packet, "bytes handed over", event.bytes);
      annotate(packet, "bytes received", event.more);
      end_packet();
      return true;
    }
    default:
      return false;
    }
  }

  void power(sim::SimTime at, std::uint32_t node, double watts) override
  {
    if (powers_.empty()) {
      powers_.resize(layout_.nodes.size());
      power_ = begin_counters("nodes: power");
    }
    if (powers_[node] == 0)
      powers_[node] = begin_counter(power_, layout_.nodes[node], "W");
    perfetto::TracePacket& packet = begin_event(perfetto::TrackEvent::TYPE_COUNTER, powers_[node], at);
    packet.mutable_track_event()->set_double_counter_value(watts);
    end_packet();
  }

  void link(const LinkSeries& series) override
  {
    if (links_ == 0)
      links_ = begin_counters("links: utilisation");
    const std::uint64_t track = begin_counter(links_, series.name, "%");
    double before = -1;
    for (std::size_t i = 0; i <= series.bytes.size(); ++i) {
      const double now = series.utilisation(i);
      if (now == before)
        continue;
      before = now;
      perfetto::TracePacket& packet =
          begin_event(perfetto::TrackEvent::TYPE_COUNTER, track, static_cast<sim::SimTime>(i) * series.bin);
      packet.mutable_track_event()->set_double_counter_value(now);
      end_packet();
    }
  }

private:
  struct Lane {
    std::uint64_t track = 0;
    sim::SimTime free = 0;
  };
  struct Node {
    std::uint64_t track = 0;                       // 0: not yet made known
    std::map<std::size_t, std::vector<Lane>> rows; // by index; ranks come behind the stages
  };

  // An instant on either side, which an arrow leads to: the receive may have begun before the message was sent.
  void message(const umw_event& event, const TracedCalls& calls, std::uint64_t track, sim::SimTime time)
  {
    const bool sends = event.kind == UMW_EVENT_SEND;
    const std::int64_t peer = calls.peer_of(event);
    perfetto::TracePacket& packet = begin_instant(track, sends ? "send" : "receive", time);
    annotate(packet, "bytes", event.bytes);
    annotate(packet, "tag", static_cast<std::uint64_t>(event.tag));
    annotate(packet, "communicator", event.object);
    if (peer >= 0) {
      annotate(packet, sends ? "to rank" : "from rank", static_cast<std::uint64_t>(peer));
      packet.mutable_track_event()->add_flow_ids(matches_.number(event, peer));
    }
    end_packet();
  }

  const char* function_name(const TracedCalls& calls, std::size_t function)
  {
    return functions_.insert(calls.functions().at(function)).first->c_str();
  }

  std::uint64_t call_track(std::int32_t tid)
  {
    for (const auto& [known, track] : threads_)
      if (known == tid)
        return track;
    const std::uint64_t track =
        new_track(layout_.rank_nodes[rank_], first_call_row + (std::size_t{rank_} << thread_bits) + threads_.size());
    threads_.emplace_back(tid, track);
    return track;
  }

  // A track that counters are below.
  std::uint64_t begin_counters(const char* name)
  {
    perfetto::TrackDescriptor& descriptor = *begin_packet().mutable_track_descriptor();
    descriptor.set_uuid(++tracks_);
    descriptor.set_name(name);
    end_packet();
    return tracks_;
  }
  std::uint64_t begin_counter(std::uint64_t below, const std::string& name, const char* unit)
  {
    perfetto::TrackDescriptor& descriptor = *begin_packet().mutable_track_descriptor();
    descriptor.set_uuid(++tracks_);
    descriptor.set_parent_uuid(below);
    descriptor.set_name(name);
    descriptor.mutable_counter()->set_unit_name(unit);
    end_packet();
    return tracks_;
  }

  perfetto::TracePacket& begin_event(perfetto::TrackEvent::Type type, std::uint64_t track, sim::SimTime time)
  {
    perfetto::TracePacket& packet = begin_packet();
    packet.set_timestamp(nanoseconds(time));
    packet.mutable_track_event()->set_type(type);
    packet.mutable_track_event()->set_track_uuid(track);
    return packet;
  }

  perfetto::TracePacket& begin_instant(std::uint64_t track, const char* name, sim::SimTime time)
  {
    perfetto::TracePacket& packet = begin_event(perfetto::TrackEvent::TYPE_INSTANT, track, time);
    packet.mutable_track_event()->set_name_iid(names_.number(name, packet));
    packet.mutable_track_event()->add_category_iids(categories_.number("mpi", packet));
    return packet;
  }

  static std::uint64_t nanoseconds(sim::SimTime time) { return static_cast<std::uint64_t>(time / sim::nanosecond); }

  // The first free track of a row of `node`, taken for a slice.
  std::uint64_t track_for(std::uint32_t node, std::size_t row, sim::SimTime start, sim::SimTime end)
  {
    std::vector<Lane>& lanes = nodes_[node].rows[row];
    for (Lane& lane : lanes)
      if (lane.free <= start) {
        lane.free = end;
        return lane.track;
      }
    lanes.push_back({new_track(node, row), end});
    return lanes.back().track;
  }

  std::uint64_t new_track(std::uint32_t node, std::size_t row)
  {
    std::uint64_t& parent = nodes_[node].track;
    if (parent == 0) {
      parent = ++tracks_;
      perfetto::TrackDescriptor& descriptor = *begin_packet().mutable_track_descriptor();
      descriptor.set_uuid(parent);
      descriptor.mutable_process()->set_pid(static_cast<std::int32_t>(layout_.nid(node)));
      descriptor.mutable_process()->set_process_name(layout_.nodes[node]);
      descriptor.set_child_ordering(perfetto::TrackDescriptor::EXPLICIT);
      end_packet();
    }
    perfetto::TrackDescriptor& descriptor = *begin_packet().mutable_track_descriptor();
    descriptor.set_uuid(++tracks_);
    descriptor.set_parent_uuid(parent);
    if (row < rows.size()) {
      descriptor.set_name(rows[row].name);
      descriptor.set_sibling_order_rank(static_cast<std::int32_t>(2 * layout_.rank_nodes.size() + row));
    } else if (row < first_call_row) {
      descriptor.set_name(fmt::format("rank {}", row - rows.size()));
      descriptor.set_sibling_order_rank(static_cast<std::int32_t>(2 * (row - rows.size())));
    } else {
      const std::size_t rank = (row - first_call_row) >> thread_bits;
      const std::size_t thread = (row - first_call_row) & ((std::size_t{1} << thread_bits) - 1);
      descriptor.set_name(thread == 0 ? fmt::format("rank {}: calls", rank)
                                      : fmt::format("rank {}, thread {}: calls", rank, thread));
      descriptor.set_sibling_order_rank(static_cast<std::int32_t>(2 * rank + 1));
    }
    end_packet();
    return tracks_;
  }

  perfetto::TracePacket& begin_slice(std::uint64_t track, const char* name, const char* category, sim::SimTime start,
                                     sim::SimTime end)
  {
    perfetto::TracePacket& packet = begin_packet();
    packet.set_timestamp(nanoseconds(start));
    perfetto::TrackEvent& event = *packet.mutable_track_event();
    event.set_type(perfetto::TrackEvent::TYPE_SLICE_BEGIN);
    event.set_track_uuid(track);
    event.set_name_iid(names_.number(name, packet));
    event.add_category_iids(categories_.number(category, packet));
    annotate(packet, "start ps", static_cast<std::uint64_t>(start));
    annotate(packet, "duration ps", static_cast<std::uint64_t>(end - start));
    return packet;
  }

  // The slice that was begun last.
  void end_slice(std::uint64_t track, sim::SimTime end)
  {
    end_packet();
    perfetto::TracePacket& packet = begin_packet();
    packet.set_timestamp(nanoseconds(end));
    packet.mutable_track_event()->set_type(perfetto::TrackEvent::TYPE_SLICE_END);
    packet.mutable_track_event()->set_track_uuid(track);
    end_packet();
  }

  void annotate(perfetto::TracePacket& packet, const char* name, std::uint64_t value)
  {
    perfetto::DebugAnnotation& annotation = *packet.mutable_track_event()->add_debug_annotations();
    annotation.set_name_iid(annotations_.number(name, packet));
    annotation.set_uint_value(value);
  }

  perfetto::TracePacket& begin_packet()
  {
    packet_.Clear(); // keeps its memory
    packet_.set_trusted_packet_sequence_id(sequence);
    packet_.set_sequence_flags(perfetto::TracePacket::SEQ_NEEDS_INCREMENTAL_STATE);
    return packet_;
  }

  // Appends the packet as an element of Trace.packet: the file as a whole is a message Trace.
  void end_packet()
  {
    constexpr std::uint8_t tag = 1 << 3 | 2; // field 1, with a length
    std::array<std::uint8_t, 1 + 5> head{tag};
    const std::uint8_t* const end = google::protobuf::io::CodedOutputStream::WriteVarint32ToArray(
        static_cast<std::uint32_t>(packet_.ByteSizeLong()), head.data() + 1);
    file_.buffer().append(head.begin(), head.begin() + (end - head.data()));
    packet_.AppendToString(&file_.buffer());
    file_.flush_if_large();
  }

  const TraceLayout& layout_;
  ResultFile& file_;
  std::vector<Node> nodes_;
  std::uint64_t tracks_ = 0;
  Names names_{&perfetto::InternedData::mutable_event_names};
  Names categories_{&perfetto::InternedData::mutable_event_categories};
  Names annotations_{&perfetto::InternedData::mutable_debug_annotation_names};
  perfetto::TracePacket packet_;
  // Of the rank whose calls are told:
  std::uint32_t rank_ = 0;
  std::vector<std::pair<std::int32_t, std::uint64_t>> threads_; // tracks
  MessageMatches matches_;
  std::set<std::string> functions_;   // names, which stay where they are
  std::uint64_t links_ = 0;           // their common track
  std::uint64_t power_ = 0;           // likewise of what nodes draw,
  std::vector<std::uint64_t> powers_; // and of each node; 0: not yet
};

} // namespace

std::unique_ptr<TraceWriter> make_perfetto_writer(const TraceLayout& layout, ResultFile& file)
{
  return std::make_unique<PerfettoWriter>(layout, file);
}

} // namespace umwelt::observe
