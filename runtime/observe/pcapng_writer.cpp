// SPDX-License-Identifier: LGPL-2.1-or-later
// What sockets send as a capture file of the format pcap-ng (draft-ietf-opsawg-pcapng): a node is an interface, which
// sees what the kernel hands to its NIC and what comes from there, as tcpdump would on that node; what stays within a
// node is seen once, by its loopback interface. Times are picoseconds.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/observe/packet_bytes.h"
#include "runtime/observe/stream_places.h"
#include "runtime/observe/trace_writer.h"
#include "runtime/sockets/tap.h"

namespace umwelt::observe
{

namespace
{

using sockets::Passing;
using Kind = Passing::Kind;

enum Block : std::uint32_t { section_header = 0x0a0d0d0a, interface_description = 1, enhanced_packet = 6 };
enum Option : std::uint16_t {
  end_of_options = 0,
  packet_flags = 2,
  interface_name = 2,
  user_application = 4,
  time_resolution = 9
};
constexpr std::uint16_t ethernet = 1; // type of link
constexpr char picoseconds = 12;      // as a negative power of 10

enum class Direction : std::uint32_t { inbound = 1, outbound = 2 };

class PcapngWriter final : public TraceWriter, public sockets::Tap
{
public:
  PcapngWriter(const TraceLayout& layout, ResultFile& file, const std::vector<bool>& nodes)
      : layout_(layout), file_(file), nodes_(nodes)
  {
    const std::size_t begin = begin_block(section_header);
    put32(0x1a2b3c4d); // in the byte order of the file
    put16(1);          // version 1.0
    put16(0);
    put32(UINT32_MAX); // length of the section: not said
    put32(UINT32_MAX);
    option(user_application, "Umwelt");
    option(end_of_options, "");
    end_block(begin);
  }

  bool write(const OperationRecord&) override { return false; }
  bool write(const RankInterval&) override { return false; }
  sockets::Tap* tap() override { return this; }
  [[nodiscard]] std::uint64_t records() const override { return packets_; }

  sockets::StreamPlace sent(const Passing& passing, const Passing* answered, sim::SimTime now) override
  {
    Passing placed = passing;
    placed.place = streams_.sent(passing, answered, now);
    show(placed, passing.source, Direction::outbound, now);
    return placed.place;
  }

  void arrived(const Passing& passing, sim::SimTime now) override
  {
    if (passing.source != passing.target)
      show(passing, passing.target, Direction::inbound, now);
    streams_.arrived(passing);
    if (passing.kind == Kind::accepted)
      acknowledge(passing, now);
  }

private:
  using Interface = std::pair<net::NodeIndex, bool>; // whether it is the one of the loopback

  // Acknowledgements take no time: both sides see the one that ends the handshake now.
  void acknowledge(const Passing& accepted, sim::SimTime now)
  {
    const PacketEnds ends{accepted.target, accepted.source, accepted.destination, accepted.sender};
    const bool leaves = ends.source != ends.target;
    make_tcp_packet(packet_, ends, streams_.acknowledgement(accepted, now), tcp_ack, {});
    if (nodes_[ends.source])
      put_packet({ends.source, !leaves}, Direction::outbound, now);
    if (leaves && nodes_[ends.target])
      put_packet({ends.target, false}, Direction::inbound, now);
  }

  void show(const Passing& passing, net::NodeIndex node, Direction direction, sim::SimTime now)
  {
    if (!nodes_[node])
      return;
    const PacketEnds ends{passing.source, passing.target, passing.sender, passing.destination};
    const Interface seen_by{node, passing.source == passing.target};
    switch (passing.kind) {
    case Kind::datagram:
      make_udp_packet(packet_, ends, passing.payload);
      break;
    case Kind::unreachable:
      make_unreachable_packet(packet_, ends);
      break;
    case Kind::data:
      show_data(passing, ends, seen_by, direction, now);
      return;
    case Kind::syn:
      make_tcp_packet(packet_, ends, passing.place, tcp_syn, {});
      break;
    case Kind::accepted:
      make_tcp_packet(packet_, ends, passing.place, tcp_syn | tcp_ack, {});
      break;
    case Kind::reset:
      make_tcp_packet(packet_, ends, passing.place, tcp_rst | tcp_ack, {});
      break;
    case Kind::end:
      make_tcp_packet(packet_, ends, passing.place, tcp_fin | tcp_ack, {});
      break;
    }
    put_packet(seen_by, direction, now);
  }

  // A segment may be longer than a packet.
  void show_data(const Passing& passing, const PacketEnds& ends, Interface seen_by, Direction direction,
                 sim::SimTime now)
  {
    const std::size_t most = most_payload(ends), size = passing.payload.size();
    sockets::StreamPlace place = passing.place;
    for (std::size_t done = 0; done < size; done += most) {
      const std::size_t part = std::min(most, size - done);
      const bool is_last = done + part == size;
      make_tcp_packet(packet_, ends, place, tcp_ack | (is_last ? unsigned{tcp_psh} : 0),
                      passing.payload.subspan(done, part));
      put_packet(seen_by, direction, now);
      place.sequence += static_cast<std::uint32_t>(part);
    }
  }

  std::uint32_t number_of(Interface interface)
  {
    const auto [found, added] = interfaces_.try_emplace(interface, static_cast<std::uint32_t>(interfaces_.size()));
    if (added) {
      const std::size_t begin = begin_block(interface_description);
      put16(ethernet);
      put16(0);
      put32(0); // packets are whole
      option(interface_name, layout_.nodes[interface.first] + (interface.second ? " lo" : ""));
      option(time_resolution, {&picoseconds, 1});
      option(end_of_options, "");
      end_block(begin);
    }
    return found->second;
  }

  void put_packet(Interface seen_by, Direction direction, sim::SimTime now)
  {
    const std::uint32_t interface = number_of(seen_by);
    const auto time = static_cast<std::uint64_t>(now);
    const auto size = static_cast<std::uint32_t>(packet_.size());
    const std::size_t begin = begin_block(enhanced_packet);
    put32(interface);
    put32(static_cast<std::uint32_t>(time >> 32));
    put32(static_cast<std::uint32_t>(time));
    put32(size); // in the file
    put32(size); // on the wire
    put_padded(packet_);
    put16(packet_flags);
    put16(4);
    put32(static_cast<std::uint32_t>(direction));
    option(end_of_options, "");
    end_block(begin);
    ++packets_;
    file_.flush_if_large();
  }

  // Returns where it begins.
  std::size_t begin_block(Block type)
  {
    const std::size_t begin = file_.buffer().size();
    put32(type);
    put32(0); // length, by end_block()
    return begin;
  }

  void end_block(std::size_t begin)
  {
    const auto length = static_cast<std::uint32_t>(file_.buffer().size() - begin + 4);
    put32(length);
    file_.buffer().replace(begin + 4, 4, file_.buffer(), file_.buffer().size() - 4, 4);
  }

  void option(Option code, std::string_view value)
  {
    put16(code);
    put16(static_cast<std::uint16_t>(value.size()));
    put_padded(value);
  }

  void put16(std::uint16_t value)
  {
    file_.buffer() += static_cast<char>(value & 0xff);
    file_.buffer() += static_cast<char>(value >> 8);
  }
  void put32(std::uint32_t value)
  {
    put16(static_cast<std::uint16_t>(value & 0xffff));
    put16(static_cast<std::uint16_t>(value >> 16));
  }
  void put_padded(std::string_view bytes)
  {
    file_.buffer() += bytes;
    file_.buffer().append((4 - bytes.size() % 4) % 4, '\0');
  }

  const TraceLayout& layout_;
  ResultFile& file_;
  const std::vector<bool>& nodes_;
  StreamPlaces streams_;
  std::map<Interface, std::uint32_t> interfaces_;
  std::uint64_t packets_ = 0;
  std::string packet_;
};

} // namespace

std::unique_ptr<TraceWriter> make_pcapng_writer(const TraceLayout& layout, ResultFile& file,
                                                const std::vector<bool>& nodes)
{
  return std::make_unique<PcapngWriter>(layout, file, nodes);
}

} // namespace umwelt::observe
