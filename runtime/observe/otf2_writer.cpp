// SPDX-License-Identifier: LGPL-2.1-or-later
// A run as an OTF2 archive: a location for each thread that has called MPI, a location group for each rank, a system
// tree of nodes; regions for functions, messages, collectives, one-sided communication and files as OTF2 has them; and
// for each NIC a location with metrics. Events of ranks are written rank by rank at the end, so that there is never
// more than one rank's buffers, whatever their number; definitions last, when it is known what was used.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runtime/mpi/functions.h"
#include "runtime/observe/nic_counters.h"
#include "runtime/observe/otf2_archive.h"
#include "runtime/observe/otf2_names.h"
#include "runtime/observe/trace_writer.h"

namespace umwelt::observe
{

namespace
{

constexpr unsigned thread_shift = 32; // a location: rank, and above it the number of the thread
constexpr OTF2_LocationRef first_nic = OTF2_LocationRef{1} << 60;
constexpr OTF2_LocationRef first_power = OTF2_LocationRef{1} << 61;
constexpr std::uint64_t ticks_per_second = 1'000'000'000'000;

struct Location {
  OTF2_LocationRef reference = 0;
  std::uint32_t rank = 0;
  std::uint32_t thread = 0; // 0: the main one
  std::uint64_t events = 0;
};

class Otf2Writer final : public TraceWriter
{
public:
  Otf2Writer(const TraceLayout& layout, const std::string& path) : layout_(layout), archive_(path) {}

  void power(sim::SimTime at, std::uint32_t node, double watts) override { draws_.add({node, at, watts}); }

  bool write(const OperationRecord& record) override
  {
    counters_.add(record.stage);
    return false;
  }
  bool write(const RankInterval& interval) override
  {
    end_ = std::max(end_, static_cast<std::uint64_t>(interval.end));
    return false;
  }

  void begin_calls(std::uint32_t rank) override
  {
    rank_ = rank;
    threads_.clear();
    accesses_.clear();
    thread(0); // the first that is heard of is the main thread, and even a rank without calls has it
  }

  bool call(const umw_event& event, const TracedCalls& calls) override
  {
    Thread& of = thread(event.tid);
    of.now = std::max(of.now, static_cast<std::uint64_t>(event.time_ps));
    end_ = std::max(end_, of.now);
    if (event.kind == UMW_EVENT_ENTER || event.kind == UMW_EVENT_LEAVE) {
      if (event.function == UINT16_MAX)
        return false;
      const OTF2_RegionRef region =
          regions_.try_emplace(event.function, static_cast<OTF2_RegionRef>(regions_.size())).first->second;
      if (event.kind == UMW_EVENT_ENTER)
        OTF2_EvtWriter_Enter(of.writer, nullptr, of.now, region);
      else
        OTF2_EvtWriter_Leave(of.writer, nullptr, of.now, region);
      return true;
    }
    return message(event, of) || collective(event, of) || access(event, of) || move(event, of, calls);
  }

  void end_calls() override
  {
    for (Thread& one : threads_) {
      one.location.events = archive_.end_location(one.writer);
      locations_.push_back(one.location);
    }
    threads_.clear();
  }

  void finish(const TracedCalls& calls) override
  {
    write_counters();
    write_power();
    define(calls);
    archive_.finish();
  }

  [[nodiscard]] std::uint64_t bytes() const override { return archive_.bytes(); }

private:
  struct Thread {
    std::int32_t tid = 0;
    Location location;
    OTF2_EvtWriter* writer = nullptr;
    std::uint64_t now = 0;
  };

  Thread& thread(std::int32_t tid)
  {
    if (threads_.size() == 1 && threads_.front().tid == 0)
      threads_.front().tid = tid;
    for (Thread& one : threads_)
      if (one.tid == tid)
        return one;
    Thread& made = threads_.emplace_back();
    made.tid = tid;
    made.location.rank = rank_;
    made.location.thread = static_cast<std::uint32_t>(threads_.size() - 1);
    made.location.reference = OTF2_LocationRef{made.location.thread} << thread_shift | rank_;
    made.writer = archive_.begin_location(made.location.reference);
    return made;
  }

  static bool message(const umw_event& event, const Thread& of)
  {
    const auto peer = static_cast<std::uint32_t>(event.peer), tag = static_cast<std::uint32_t>(event.tag);
    switch (event.kind) {
    case UMW_EVENT_SEND:
      if (event.request == 0)
        OTF2_EvtWriter_MpiSend(of.writer, nullptr, of.now, peer, event.object, tag, event.bytes);
      else
        OTF2_EvtWriter_MpiIsend(of.writer, nullptr, of.now, peer, event.object, tag, event.bytes, event.request);
      return true;
    case UMW_EVENT_SENT:
      OTF2_EvtWriter_MpiIsendComplete(of.writer, nullptr, of.now, event.request);
      return true;
    case UMW_EVENT_RECEIVE_BEGUN:
      OTF2_EvtWriter_MpiIrecvRequest(of.writer, nullptr, of.now, event.request);
      return true;
    case UMW_EVENT_RECEIVED:
      if (event.request == 0)
        OTF2_EvtWriter_MpiRecv(of.writer, nullptr, of.now, peer, event.object, tag, event.bytes);
      else
        OTF2_EvtWriter_MpiIrecv(of.writer, nullptr, of.now, peer, event.object, tag, event.bytes, event.request);
      return true;
    case UMW_EVENT_CANCELLED:
      OTF2_EvtWriter_MpiRequestCancelled(of.writer, nullptr, of.now, event.request);
      return true;
    default:
      return false;
    }
  }

  static bool collective(const umw_event& event, const Thread& of)
  {
    if (event.kind != UMW_EVENT_COLLECTIVE_BEGIN && event.kind != UMW_EVENT_COLLECTIVE_END)
      return false;
    const std::optional<OTF2_CollectiveOp> operation = otf2_collective(event.function);
    if (!operation)
      return false;
    if (event.kind == UMW_EVENT_COLLECTIVE_BEGIN) {
      if (event.request == 0)
        OTF2_EvtWriter_MpiCollectiveBegin(of.writer, nullptr, of.now);
      else
        OTF2_EvtWriter_NonBlockingCollectiveRequest(of.writer, nullptr, of.now, event.request);
      return true;
    }
    const std::uint32_t root =
        event.peer >= 0 ? static_cast<std::uint32_t>(event.peer) : std::uint32_t{OTF2_COLLECTIVE_ROOT_NONE};
    if (event.request == 0)
      OTF2_EvtWriter_MpiCollectiveEnd(of.writer, nullptr, of.now, *operation, event.object, root, event.bytes,
                                      event.more);
    else
      OTF2_EvtWriter_NonBlockingCollectiveComplete(of.writer, nullptr, of.now, *operation, event.object, root,
                                                   event.bytes, event.more, event.request);
    return true;
  }

  bool access(const umw_event& event, const Thread& of)
  {
    switch (event.kind) {
    case UMW_EVENT_WINDOW_MADE:
      OTF2_EvtWriter_RmaWinCreate(of.writer, nullptr, of.now, event.object);
      return true;
    case UMW_EVENT_WINDOW_FREED:
      OTF2_EvtWriter_RmaWinDestroy(of.writer, nullptr, of.now, event.object);
      return true;
    case UMW_EVENT_RMA: {
      const auto target = static_cast<std::uint32_t>(event.peer);
      const std::string_view name = mpi::function_name(event.function);
      const bool puts = name.ends_with("put") || name.ends_with("Put") || name.ends_with("ut_c");
      const bool gets = name.ends_with("get") || name.ends_with("Get") || name.ends_with("et_c");
      if (puts)
        OTF2_EvtWriter_RmaPut(of.writer, nullptr, of.now, event.object, target, event.bytes, event.request);
      else if (gets)
        OTF2_EvtWriter_RmaGet(of.writer, nullptr, of.now, event.object, target, event.more, event.request);
      else
        OTF2_EvtWriter_RmaAtomic(of.writer, nullptr, of.now, event.object, target, otf2_atomic(event.function),
                                 event.bytes, event.more, event.request);
      accesses_[event.object].emplace_back(event.peer, event.request);
      return true;
    }
    case UMW_EVENT_RMA_DONE: {
      auto& begun = accesses_[event.object];
      std::erase_if(begun, [&](const auto& one) {
        if (event.peer >= 0 && one.first != event.peer)
          return false;
        OTF2_EvtWriter_RmaOpCompleteNonBlocking(of.writer, nullptr, of.now, event.object, one.second);
        return true;
      });
      return true;
    }
    default:
      return false;
    }
  }

  bool move(const umw_event& event, const Thread& of, const TracedCalls& calls)
  {
    if (event.kind < UMW_EVENT_FILE_OPENED || event.kind > UMW_EVENT_IO_END || event.object >= calls.files().size())
      return false;
    switch (event.kind) {
    case UMW_EVENT_FILE_OPENED: {
      constexpr std::int32_t create = 1, read_only = 2, write_only = 4, append = 128; // MPI_MODE_... of both libraries
      const OTF2_IoAccessMode mode = (event.tag & read_only) != 0    ? OTF2_IO_ACCESS_MODE_READ_ONLY
                                     : (event.tag & write_only) != 0 ? OTF2_IO_ACCESS_MODE_WRITE_ONLY
                                                                     : OTF2_IO_ACCESS_MODE_READ_WRITE;
      OTF2_EvtWriter_IoCreateHandle(of.writer, nullptr, of.now, event.object, mode,
                                    (event.tag & create) != 0 ? OTF2_IO_CREATION_FLAG_CREATE
                                                              : OTF2_IO_CREATION_FLAG_NONE,
                                    (event.tag & append) != 0 ? OTF2_IO_STATUS_FLAG_APPEND : OTF2_IO_STATUS_FLAG_NONE);
      return true;
    }
    case UMW_EVENT_FILE_CLOSED:
      OTF2_EvtWriter_IoDestroyHandle(of.writer, nullptr, of.now, event.object);
      return true;
    case UMW_EVENT_IO_BEGIN: {
      const std::string_view name = mpi::function_name(event.function);
      std::uint32_t flags = OTF2_IO_OPERATION_FLAG_NONE;
      if ((event.tag & UMW_EVENT_IO_COLLECTIVE) != 0)
        flags |= OTF2_IO_OPERATION_FLAG_COLLECTIVE;
      if (name.find("_iread") != std::string_view::npos || name.find("_iwrite") != std::string_view::npos ||
          name.find("_begin") != std::string_view::npos)
        flags |= OTF2_IO_OPERATION_FLAG_NON_BLOCKING;
      OTF2_EvtWriter_IoOperationBegin(of.writer, nullptr, of.now, event.object,
                                      (event.tag & UMW_EVENT_IO_WRITE) != 0 ? OTF2_IO_OPERATION_MODE_WRITE
                                                                            : OTF2_IO_OPERATION_MODE_READ,
                                      flags, event.bytes, event.request);
      return true;
    }
    case UMW_EVENT_IO_ISSUED:
      OTF2_EvtWriter_IoOperationIssued(of.writer, nullptr, of.now, event.object, event.request);
      return true;
    default:
      OTF2_EvtWriter_IoOperationComplete(of.writer, nullptr, of.now, event.object, event.bytes, event.request);
      return true;
    }
  }

  void write_counters()
  {
    OTF2_EvtWriter* writer = nullptr;
    std::uint32_t of = 0;
    const auto close = [&] {
      if (writer != nullptr)
        nics_.emplace_back(of, archive_.end_location(writer));
    };
    counters_.read([&](std::uint32_t node, sim::SimTime time, const std::int64_t* values) {
      if (writer == nullptr || node != of) {
        close();
        of = node;
        writer = archive_.begin_location(first_nic + node);
      }
      constexpr OTF2_Type types[nic_counters] = {OTF2_TYPE_UINT64, OTF2_TYPE_UINT64};
      OTF2_MetricValue now[nic_counters];
      for (std::size_t i = 0; i < nic_counters; ++i)
        now[i].unsigned_int = static_cast<std::uint64_t>(values[i]);
      end_ = std::max(end_, static_cast<std::uint64_t>(time));
      OTF2_EvtWriter_Metric(writer, nullptr, static_cast<std::uint64_t>(time), 0, nic_counters, types, now);
    });
    close();
  }

  void write_power()
  {
    OTF2_EvtWriter* writer = nullptr;
    std::uint32_t of = 0;
    const auto close = [&] {
      if (writer != nullptr)
        powers_.emplace_back(of, archive_.end_location(writer));
    };
    draws_.read([&](const Draw& draw) {
      if (writer == nullptr || draw.node != of) {
        close();
        of = draw.node;
        writer = archive_.begin_location(first_power + of);
      }
      const OTF2_Type type = OTF2_TYPE_DOUBLE;
      OTF2_MetricValue value;
      value.floating_point = draw.watts;
      end_ = std::max(end_, static_cast<std::uint64_t>(draw.at));
      OTF2_EvtWriter_Metric(writer, nullptr, static_cast<std::uint64_t>(draw.at), power_class(), 1, &type, &value);
    });
    close();
  }

  // --- definitions ---

  OTF2_StringRef string(const std::string& text)
  {
    const auto [found, added] = strings_.try_emplace(text, static_cast<OTF2_StringRef>(strings_.size()));
    if (added)
      OTF2_GlobalDefWriter_WriteString(out_, found->second, text.c_str());
    return found->second;
  }

  void define(const TracedCalls& calls)
  {
    out_ = archive_.definitions();
    OTF2_GlobalDefWriter_WriteClockProperties(out_, ticks_per_second, 0, end_, OTF2_UNDEFINED_TIMESTAMP);
    define_tree();
    define_functions(calls);
    define_communicators(calls);
    define_metrics();
  }

  void define_tree()
  {
    OTF2_GlobalDefWriter_WriteSystemTreeNode(out_, 0, string(layout_.machine), string("machine"),
                                             OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (std::uint32_t node = 0; node < layout_.nodes.size(); ++node)
      OTF2_GlobalDefWriter_WriteSystemTreeNode(out_, node + 1, string(layout_.nodes[node]), string("node"), 0);
    for (std::uint32_t rank = 0; rank < layout_.rank_nodes.size(); ++rank)
      OTF2_GlobalDefWriter_WriteLocationGroup(out_, rank, string(fmt::format("rank {}", rank)),
                                              OTF2_LOCATION_GROUP_TYPE_PROCESS, layout_.rank_nodes[rank] + 1,
                                              OTF2_UNDEFINED_LOCATION_GROUP);
    std::set<std::uint32_t> told;
    for (const Location& one : locations_) {
      told.insert(one.rank);
      const std::string name =
          one.thread == 0 ? fmt::format("rank {}", one.rank) : fmt::format("rank {}, thread {}", one.rank, one.thread);
      OTF2_GlobalDefWriter_WriteLocation(out_, one.reference, string(name), OTF2_LOCATION_TYPE_CPU_THREAD, one.events,
                                         one.rank);
    }
    for (std::uint32_t rank = 0; rank < layout_.rank_nodes.size(); ++rank) // communicators speak of them
      if (!told.contains(rank))
        OTF2_GlobalDefWriter_WriteLocation(out_, rank, string(fmt::format("rank {}", rank)),
                                           OTF2_LOCATION_TYPE_CPU_THREAD, 0, rank);
  }

  void define_functions(const TracedCalls& calls)
  {
    const OTF2_StringRef nothing = string("");
    std::vector<std::uint32_t> functions(regions_.size()); // in the order of their references, as readers want them
    for (const auto& [function, region] : regions_)
      functions[region] = function;
    for (OTF2_RegionRef region = 0; region < functions.size(); ++region) {
      const std::uint32_t function = functions[region];
      const bool is_mpi = function < UMW_EVENT_FUNCTIONS;
      const OTF2_StringRef name = string(calls.function_name(function));
      OTF2_GlobalDefWriter_WriteRegion(
          out_, region, name, name, nothing, is_mpi ? otf2_role(function) : OTF2_RegionRole{OTF2_REGION_ROLE_FUNCTION},
          is_mpi ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE, nothing, 0, 0);
    }
  }

  OTF2_GroupRef group(const TracedCalls::Members& members)
  {
    const auto [found, added] = groups_.try_emplace(members, static_cast<OTF2_GroupRef>(groups_.size() + 1));
    if (added) {
      std::vector<std::uint64_t> list(members.size);
      for (std::uint32_t i = 0; i < members.size; ++i)
        list[i] = members.at(i) < 0 ? OTF2_UNDEFINED_UINT64 : static_cast<std::uint64_t>(members.at(i));
      OTF2_GlobalDefWriter_WriteGroup(out_, found->second, string(""), OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                      OTF2_GROUP_FLAG_NONE, members.size, list.data());
    }
    return found->second;
  }

  // One that ranks of both groups are in: the MPI_COMM_WORLD that they come from, if there is one.
  static OTF2_CommRef common(const TracedCalls& calls, const TracedCalls::Communicator& of)
  {
    const auto has = [](const TracedCalls::Members& members, std::int64_t rank) {
      for (std::uint32_t i = 0; i < members.size; ++i)
        if (members.at(i) == rank)
          return true;
      return false;
    };
    for (OTF2_CommRef i = 0; i < calls.communicators().size(); ++i) {
      const TracedCalls::Communicator& one = calls.communicators()[i];
      if (one.others.size == 0 && has(one.members, of.members.at(0)) && has(one.members, of.others.at(0)))
        return i;
    }
    return OTF2_UNDEFINED_COMM;
  }

  void define_communicators(const TracedCalls& calls)
  {
    std::vector<std::uint64_t> all(layout_.rank_nodes.size()); // the location of a rank's main thread is its number
    for (std::size_t rank = 0; rank < all.size(); ++rank)
      all[rank] = rank;
    OTF2_GlobalDefWriter_WriteGroup(out_, 0, string("ranks"), OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, static_cast<std::uint32_t>(all.size()), all.data());
    for (std::uint32_t i = 0; i < calls.communicators().size(); ++i) {
      const TracedCalls::Communicator& one = calls.communicators()[i];
      const OTF2_GroupRef members = group(one.members);
      if (one.others.size == 0)
        OTF2_GlobalDefWriter_WriteComm(out_, i, string(one.name), members, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
      else
        OTF2_GlobalDefWriter_WriteInterComm(out_, i, string(one.name), members, group(one.others), common(calls, one),
                                            OTF2_COMM_FLAG_NONE);
    }
    for (std::uint32_t i = 0; i < calls.windows().size(); ++i)
      OTF2_GlobalDefWriter_WriteRmaWin(out_, i, string(fmt::format("window {}", i)), calls.windows()[i].communicator,
                                       OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS);
    if (!calls.files().empty())
      define_files(calls);
  }

  void define_files(const TracedCalls& calls)
  {
    OTF2_GlobalDefWriter_WriteIoParadigm(out_, 0, string("MPI-IO"), string("MPI-IO"), OTF2_IO_PARADIGM_CLASS_PARALLEL,
                                         OTF2_IO_PARADIGM_FLAG_NONE, 0, nullptr, nullptr, nullptr);
    std::map<std::string, OTF2_IoFileRef> paths;
    for (std::uint32_t i = 0; i < calls.files().size(); ++i) {
      const TracedCalls::File& one = calls.files()[i];
      const auto [found, added] = paths.try_emplace(one.path, static_cast<OTF2_IoFileRef>(paths.size()));
      if (added)
        OTF2_GlobalDefWriter_WriteIoRegularFile(out_, found->second, string(one.path), 0);
      OTF2_GlobalDefWriter_WriteIoHandle(out_, i, string(""), found->second, 0, OTF2_IO_HANDLE_FLAG_NONE,
                                         one.communicator, OTF2_UNDEFINED_IO_HANDLE);
    }
  }

  void define_metric_member(OTF2_MetricMemberRef reference, const char* name, const char* what, const char* unit,
                            OTF2_Type type)
  {
    OTF2_GlobalDefWriter_WriteMetricMember(out_, reference, string(name), string(what), OTF2_METRIC_TYPE_OTHER,
                                           OTF2_METRIC_ABSOLUTE_NEXT, type, OTF2_BASE_DECIMAL, 0, string(unit));
  }

  // A location of a node's metrics, and what is measured there; beside the node's first rank.
  void define_metric_location(OTF2_LocationRef location, const char* what, std::uint32_t node, std::uint64_t events,
                              OTF2_MetricRef metric_class)
  {
    const auto rank = std::find(layout_.rank_nodes.begin(), layout_.rank_nodes.end(), node);
    OTF2_GlobalDefWriter_WriteLocation(
        out_, location, string(what + layout_.nodes[node]), OTF2_LOCATION_TYPE_METRIC, events,
        rank == layout_.rank_nodes.end() ? 0 : static_cast<OTF2_LocationGroupRef>(rank - layout_.rank_nodes.begin()));
    OTF2_GlobalDefWriter_WriteMetricInstance(out_, instances_++, metric_class, location, OTF2_SCOPE_SYSTEM_TREE_NODE,
                                             node + 1);
  }

  // Numbers follow each other: of members, and of classes with their instances.
  void define_metrics()
  {
    instances_ = power_class() + (powers_.empty() ? 0U : 1U);
    define_nics();
    define_power();
  }

  [[nodiscard]] OTF2_MetricRef power_class() const { return nics_.empty() ? 0 : 1; }

  void define_nics()
  {
    if (nics_.empty())
      return;
    define_metric_member(0, "bytes in flight", "payload on its way from the node's NIC to others", "bytes",
                         OTF2_TYPE_UINT64);
    define_metric_member(1, "queue depth", "commands in the node's NIC that have not departed", "commands",
                         OTF2_TYPE_UINT64);
    constexpr OTF2_MetricMemberRef members[nic_counters] = {0, 1};
    OTF2_GlobalDefWriter_WriteMetricClass(out_, 0, nic_counters, members, OTF2_METRIC_ASYNCHRONOUS,
                                          OTF2_RECORDER_KIND_ABSTRACT);
    if (!powers_.empty())
      define_power_class();
    for (const auto& [node, events] : nics_)
      define_metric_location(first_nic + node, "NIC of ", node, events, 0);
  }

  void define_power_class()
  {
    const OTF2_MetricMemberRef member = nics_.empty() ? 0 : nic_counters;
    define_metric_member(member, "power", "what the node draws", "W", OTF2_TYPE_DOUBLE);
    OTF2_GlobalDefWriter_WriteMetricClass(out_, power_class(), 1, &member, OTF2_METRIC_ASYNCHRONOUS,
                                          OTF2_RECORDER_KIND_ABSTRACT);
  }

  void define_power()
  {
    if (nics_.empty() && !powers_.empty())
      define_power_class();
    for (const auto& [node, events] : powers_)
      define_metric_location(first_power + node, "power of ", node, events, power_class());
  }

  const TraceLayout& layout_;
  Otf2Archive archive_;
  NicCounters counters_;
  struct Draw {
    std::uint32_t node;
    sim::SimTime at;
    double watts;
    bool operator<(const Draw& other) const { return node != other.node ? node < other.node : at < other.at; }
  };
  SortedSpool<Draw> draws_;
  std::uint64_t end_ = 0; // of the run
  // Of the rank whose calls are told:
  std::uint32_t rank_ = 0;
  std::vector<Thread> threads_;
  std::map<std::uint32_t, std::vector<std::pair<std::int32_t, std::uint64_t>>> accesses_; // under way, by window
  // What is to be defined:
  std::map<std::uint32_t, OTF2_RegionRef> regions_; // by function
  std::vector<Location> locations_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> nics_;   // nodes, and how many events
  std::vector<std::pair<std::uint32_t, std::uint64_t>> powers_; // likewise
  OTF2_MetricRef instances_ = 2;                                // of metrics; before them are the classes
  OTF2_GlobalDefWriter* out_ = nullptr;
  std::map<std::string, OTF2_StringRef> strings_;
  std::map<TracedCalls::Members, OTF2_GroupRef> groups_;
};

} // namespace

std::unique_ptr<TraceWriter> make_otf2_writer(const TraceLayout& layout, const std::string& path)
{
  return std::make_unique<Otf2Writer>(layout, path);
}

} // namespace umwelt::observe
