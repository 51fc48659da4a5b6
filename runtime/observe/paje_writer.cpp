// SPDX-License-Identifier: LGPL-2.1-or-later
// A run in Paje's format (the trace file format of Kergommeaux, Stein and Martin, whose header says what fields events
// have), as tools of SimGrid's users read it: containers for the platform, nodes, ranks and what else there is; two
// states of a rank, what it does and the calls it is in, since one goes on where the other changes; links for messages;
// variables for NICs and links of the network.
//
// Readers want events in the order of time, and records come rank by rank: they are put aside and sorted, links by
// their keys first, so that none has only one end.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runtime/observe/message_matches.h"
#include "runtime/observe/nic_counters.h"
#include "runtime/observe/sorted_spool.h"
#include "runtime/observe/trace_writer.h"

namespace umwelt::observe
{

namespace
{

// Numbers of events in the header below.
constexpr std::string_view header = R"(%EventDef PajeDefineContainerType 0
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineStateType 1
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineVariableType 2
% Alias string
% Type string
% Name string
% Color color
%EndEventDef
%EventDef PajeDefineLinkType 3
% Alias string
% Type string
% StartContainerType string
% EndContainerType string
% Name string
%EndEventDef
%EventDef PajeDefineEntityValue 4
% Alias string
% Type string
% Name string
% Color color
%EndEventDef
%EventDef PajeCreateContainer 5
% Time date
% Alias string
% Type string
% Container string
% Name string
%EndEventDef
%EventDef PajeDestroyContainer 6
% Time date
% Type string
% Name string
%EndEventDef
%EventDef PajePushState 7
% Time date
% Type string
% Container string
% Value string
%EndEventDef
%EventDef PajePopState 8
% Time date
% Type string
% Container string
%EndEventDef
%EventDef PajeSetVariable 9
% Time date
% Type string
% Container string
% Value double
%EndEventDef
%EventDef PajeStartLink 10
% Time date
% Type string
% Container string
% StartContainer string
% Value string
% Key string
%EndEventDef
%EventDef PajeEndLink 11
% Time date
% Type string
% Container string
% EndContainer string
% Value string
% Key string
%EndEventDef
0 P 0 platform
0 N P node
0 R N rank
0 T R thread
0 K P link
1 A R activity
1 C R calls
1 D T "calls of a thread"
2 F N "bytes in flight" "0.2 0.4 0.8"
2 Q N "queue depth" "0.8 0.4 0.2"
2 U K "utilisation %" "0.3 0.6 0.3"
2 W N "power W" "0.8 0.2 0.2"
3 M P R R message
4 a0 A computing "0.2 0.6 0.3"
4 a1 A communicating "0.2 0.4 0.8"
4 a2 A waiting "0.8 0.3 0.2"
)";

constexpr const char* counter_types[nic_counters] = {"F", "Q"};

// Between quotation marks there are no escapes, and an event is a line.
std::string quoted(std::string_view name)
{
  std::string text(name);
  std::replace(text.begin(), text.end(), '"', '\'');
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return '"' + text + '"';
}

class PajeWriter final : public TraceWriter
{
public:
  PajeWriter(const TraceLayout& layout, ResultFile& file) : layout_(layout), file_(file) {}

  bool write(const OperationRecord& record) override
  {
    counters_.add(record.stage);
    return false;
  }

  bool write(const RankInterval& interval) override
  {
    add({interval.start, Event::begin_activity, interval.rank, static_cast<std::uint64_t>(interval.state)});
    add({interval.end, Event::end_activity, interval.rank});
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
    Thread& of = thread(event.tid);
    of.now = std::max(of.now, static_cast<sim::SimTime>(event.time_ps));
    switch (event.kind) {
    case UMW_EVENT_ENTER:
      if (event.function == UINT16_MAX)
        return false;
      functions_.insert(event.function);
      add({of.now, of.number == 0 ? Event::begin_call : Event::begin_thread_call, of.container, event.function});
      ++of.depth;
      return true;
    case UMW_EVENT_LEAVE:
      if (event.function == UINT16_MAX || of.depth == 0)
        return false;
      --of.depth;
      add({of.now, of.number == 0 ? Event::end_call : Event::end_thread_call, of.container});
      return true;
    case UMW_EVENT_RECEIVE_BEGUN:
      matches_.receive_begun(event);
      return false;
    case UMW_EVENT_CANCELLED:
      matches_.receive_cancelled(event);
      return false;
    case UMW_EVENT_SEND:
    case UMW_EVENT_RECEIVED:
      if (const std::int64_t peer = calls.peer_of(event); peer >= 0)
        halves_.add({matches_.number(event, peer), event.kind == UMW_EVENT_RECEIVED, rank_, of.now, event.bytes});
      return false;
    default:
      return false;
    }
  }

  // Calls that the rank was in when it was killed end when all does.
  void end_calls() override
  {
    for (const Thread& one : threads_)
      if (one.depth > 0)
        left_open_.push_back(one);
  }

  void power(sim::SimTime at, std::uint32_t node, double watts) override
  {
    nodes_.insert(node);
    add_counted({at, Event::watts, node, std::bit_cast<std::uint64_t>(watts)});
  }

  void link(const LinkSeries& series) override
  {
    const auto number = static_cast<std::uint32_t>(links_.size());
    links_.push_back(series.name);
    double before = 0;
    for (std::size_t i = 0; i < series.bytes.size(); ++i) {
      const double now = series.utilisation(i);
      if (now != std::exchange(before, now))
        add_counted(
            {static_cast<sim::SimTime>(i) * series.bin, Event::utilisation, number, std::bit_cast<std::uint64_t>(now)});
    }
  }

  void finish(const TracedCalls& calls) override
  {
    pair_links();
    std::int64_t before[nic_counters] = {};
    counters_.read([this, &before](std::uint32_t node, sim::SimTime time, const std::int64_t* values) {
      if (nodes_.insert(node).second)
        std::fill(std::begin(before), std::end(before), 0);
      for (std::size_t i = 0; i < nic_counters; ++i)
        if (std::exchange(before[i], values[i]) != values[i])
          add_counted({time, Event::counter, node, static_cast<std::uint64_t>(values[i]), i});
    });
    for (const Thread& one : left_open_)
      for (unsigned i = 0; i < one.depth; ++i)
        add({end_, one.number == 0 ? Event::end_call : Event::end_thread_call, one.container});
    define(calls);
    events_.read([this](const Event& event) { put(event); });
    destroy();
  }

  [[nodiscard]] std::uint64_t records() const override { return counted_; }

private:
  struct Event {
    enum Kind : std::uint8_t {
      end_activity,
      begin_activity,
      begin_call,
      end_call,
      begin_thread_call,
      end_thread_call,
      counter,
      utilisation,
      watts,
      begin_link,
      end_link, // behind its beginning, at the same time
    };
    sim::SimTime time;
    Kind kind;
    std::uint32_t container; // rank; or number of thread, node, link
    std::uint64_t value = 0; // state, function, value, bytes
    std::uint64_t key = 0;   // which counter, which link
    std::uint64_t order = 0; // in which it was told
    // Calls of a thread follow each other as they were told.
    [[nodiscard]] bool is_link() const { return kind >= begin_link; }
    bool operator<(const Event& other) const
    {
      const int link = is_link() ? kind : 0, other_link = other.is_link() ? other.kind : 0;
      return std::tie(time, link, order) < std::tie(other.time, other_link, other.order);
    }
  };
  struct Half {
    std::uint64_t key;
    bool is_end;
    std::uint32_t rank;
    sim::SimTime time;
    std::uint64_t bytes;
    bool operator<(const Half& other) const
    {
      return std::tie(key, is_end, time, rank) < std::tie(other.key, other.is_end, other.time, other.rank);
    }
  };
  struct Thread {
    std::int32_t tid = 0;
    std::uint32_t number = 0; // 0: the main one
    std::uint32_t container = 0;
    sim::SimTime now = 0;
    unsigned depth = 0; // calls that it is in
  };

  void add(Event event)
  {
    event.order = ++order_;
    end_ = std::max(end_, event.time);
    events_.add(event);
  }

  // Of what Trace does not count.
  void add_counted(const Event& event)
  {
    ++counted_;
    add(event);
  }

  Thread& thread(std::int32_t tid)
  {
    for (Thread& one : threads_)
      if (one.tid == tid)
        return one;
    Thread& made = threads_.emplace_back();
    made.tid = tid;
    made.number = static_cast<std::uint32_t>(threads_.size() - 1);
    made.container = rank_;
    if (made.number > 0) {
      made.container = static_cast<std::uint32_t>(other_threads_.size());
      other_threads_.emplace_back(rank_, made.number);
    }
    return made;
  }

  void pair_links()
  {
    Half sent{};
    bool any = false;
    halves_.read([&](const Half& half) {
      if (half.is_end && any && sent.key == half.key) {
        add_counted({sent.time, Event::begin_link, sent.rank, half.bytes, half.key});
        add({std::max(sent.time, half.time), Event::end_link, half.rank, half.bytes, half.key});
      }
      any = !half.is_end;
      sent = half;
    });
  }

  std::back_insert_iterator<std::string> out() { return std::back_inserter(file_.buffer()); }

  static std::string seconds(sim::SimTime time)
  {
    return fmt::format("{}.{:012}", time / sim::second, time % sim::second);
  }

  void define(const TracedCalls& calls)
  {
    file_.buffer() += header;
    for (const std::uint32_t function : functions_) {
      const std::string name = calls.function_name(function);
      const std::uint32_t mixed = function * 2654435761U; // neighbours get colours that are not alike
      for (const char* const type : {"C", "D"})
        fmt::format_to(out(), "4 {}{} {} {} \"{:.2f} {:.2f} {:.2f}\"\n", type, function, type, quoted(name),
                       0.3 + 0.6 * (mixed >> 24) / 255, 0.3 + 0.6 * (mixed >> 16 & 255) / 255,
                       0.3 + 0.6 * (mixed >> 8 & 255) / 255);
    }
    const std::string begin = seconds(0);
    fmt::format_to(out(), "5 {} p P 0 {}\n", begin, quoted(layout_.machine));
    nodes_.insert(layout_.rank_nodes.begin(), layout_.rank_nodes.end());
    for (const std::uint32_t node : nodes_)
      fmt::format_to(out(), "5 {} n{} N p {}\n", begin, node, quoted(layout_.nodes[node]));
    for (std::size_t rank = 0; rank < layout_.rank_nodes.size(); ++rank)
      fmt::format_to(out(), "5 {} r{} R n{} \"rank {}\"\n", begin, rank, layout_.rank_nodes[rank], rank);
    for (std::size_t i = 0; i < other_threads_.size(); ++i)
      fmt::format_to(out(), "5 {} t{} T r{} \"rank {}, thread {}\"\n", begin, i, other_threads_[i].first,
                     other_threads_[i].first, other_threads_[i].second);
    for (std::size_t i = 0; i < links_.size(); ++i)
      fmt::format_to(out(), "5 {} l{} K p {}\n", begin, i, quoted(links_[i]));
  }

  void put(const Event& event)
  {
    const std::string time = seconds(event.time);
    switch (event.kind) {
    case Event::begin_activity:
      fmt::format_to(out(), "7 {} A r{} a{}\n", time, event.container, event.value);
      break;
    case Event::end_activity:
      fmt::format_to(out(), "8 {} A r{}\n", time, event.container);
      break;
    case Event::begin_call:
      fmt::format_to(out(), "7 {} C r{} C{}\n", time, event.container, event.value);
      break;
    case Event::end_call:
      fmt::format_to(out(), "8 {} C r{}\n", time, event.container);
      break;
    case Event::begin_thread_call:
      fmt::format_to(out(), "7 {} D t{} D{}\n", time, event.container, event.value);
      break;
    case Event::end_thread_call:
      fmt::format_to(out(), "8 {} D t{}\n", time, event.container);
      break;
    case Event::counter:
      fmt::format_to(out(), "9 {} {} n{} {}\n", time, counter_types[event.key], event.container,
                     static_cast<std::int64_t>(event.value));
      break;
    case Event::utilisation:
      fmt::format_to(out(), "9 {} U l{} {:.3f}\n", time, event.container, std::bit_cast<double>(event.value));
      break;
    case Event::watts:
      fmt::format_to(out(), "9 {} W n{} {}\n", time, event.container, std::bit_cast<double>(event.value));
      break;
    case Event::begin_link:
      fmt::format_to(out(), "10 {} M p r{} {} {:x}\n", time, event.container, event.value, event.key);
      break;
    case Event::end_link:
      fmt::format_to(out(), "11 {} M p r{} {} {:x}\n", time, event.container, event.value, event.key);
      break;
    }
    file_.flush_if_large();
  }

  void destroy()
  {
    const std::string end = seconds(end_);
    for (std::size_t i = 0; i < links_.size(); ++i)
      fmt::format_to(out(), "6 {} K l{}\n", end, i);
    for (std::size_t i = 0; i < other_threads_.size(); ++i)
      fmt::format_to(out(), "6 {} T t{}\n", end, i);
    for (std::size_t rank = 0; rank < layout_.rank_nodes.size(); ++rank)
      fmt::format_to(out(), "6 {} R r{}\n", end, rank);
    for (const std::uint32_t node : nodes_)
      fmt::format_to(out(), "6 {} N n{}\n", end, node);
    fmt::format_to(out(), "6 {} P p\n", end);
  }

  const TraceLayout& layout_;
  ResultFile& file_;
  NicCounters counters_;
  SortedSpool<Event> events_;
  SortedSpool<Half> halves_;
  MessageMatches matches_;
  sim::SimTime end_ = 0;
  std::uint64_t order_ = 0;
  std::uint64_t counted_ = 0;
  // Of the rank whose calls are told:
  std::uint32_t rank_ = 0;
  std::vector<Thread> threads_;
  // Of the run:
  std::vector<Thread> left_open_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> other_threads_; // rank, number of thread
  std::vector<std::string> links_;
  std::set<std::uint32_t> nodes_; // that something is known of: a platform may have many more
  std::set<std::uint32_t> functions_;
};

} // namespace

std::unique_ptr<TraceWriter> make_paje_writer(const TraceLayout& layout, ResultFile& file)
{
  return std::make_unique<PajeWriter>(layout, file);
}

} // namespace umwelt::observe
