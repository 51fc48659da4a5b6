// SPDX-License-Identifier: LGPL-2.1-or-later
// Captures of packets: numbers of streams, packets, and the blocks of the file.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "runtime/observe/packet_bytes.h"
#include "runtime/observe/stream_places.h"
#include "runtime/observe/trace.h"

namespace umwelt::observe
{
namespace
{

namespace fs = std::filesystem;
using sim::microsecond;
using sim::millisecond;
using sockets::Address;
using sockets::host_of;
using sockets::Passing;
using sockets::StreamPlace;
using sockets::unique_local_of;
using Kind = Passing::Kind;

const Address client{host_of(0), 1000}, server{host_of(1), 80};

Passing from_client(Kind kind, std::string_view payload = {})
{
  return {kind, 0, 1, client, server, {payload.data(), payload.size()}, {}};
}

Passing from_server(Kind kind, std::string_view payload = {})
{
  return {kind, 1, 0, server, client, {payload.data(), payload.size()}, {}};
}

// ---- Numbers of streams ----

class StreamPlacesTest : public testing::Test
{
protected:
  Passing send(Passing passing, const Passing* answered = nullptr, sim::SimTime now = 0)
  {
    passing.place = places.sent(passing, answered, now);
    return passing;
  }
  Passing exchange(const Passing& passing, const Passing* answered = nullptr, sim::SimTime now = 0)
  {
    const Passing sent = send(passing, answered, now);
    places.arrived(sent);
    return sent;
  }
  void connect(sim::SimTime now = 0)
  {
    const Passing syn = exchange(from_client(Kind::syn), nullptr, now);
    accepted = exchange(from_server(Kind::accepted), &syn, now);
  }

  StreamPlaces places;
  Passing accepted;
};

TEST_F(StreamPlacesTest, AConnectionCountsFromTheTimeOfItsSyn)
{
  connect(40 * microsecond);
  EXPECT_EQ(accepted.place.sequence, 10U);
  EXPECT_EQ(accepted.place.acknowledged, 11U);
  const StreamPlace third = places.acknowledgement(accepted, 3 * millisecond);
  EXPECT_EQ(third.sequence, 11U);
  EXPECT_EQ(third.acknowledged, 11U);
  EXPECT_EQ(third.time, 3U);
}

TEST_F(StreamPlacesTest, DataAndEndsUseNumbersUp)
{
  connect();
  EXPECT_EQ(exchange(from_client(Kind::data, "abc")).place.sequence, 1U);
  EXPECT_EQ(exchange(from_client(Kind::end)).place.sequence, 4U);
  EXPECT_EQ(exchange(from_server(Kind::data, "x")).place.acknowledged, 5U);
}

TEST_F(StreamPlacesTest, OnlyWhatHasComeInOrderIsAcknowledged)
{
  connect();
  const Passing first = send(from_client(Kind::data, "abc")), second = send(from_client(Kind::data, "de"));
  places.arrived(second);
  EXPECT_EQ(send(from_server(Kind::data, "x")).place.acknowledged, 1U);
  places.arrived(first);
  EXPECT_EQ(send(from_server(Kind::data, "x")).place.acknowledged, 6U);
}

TEST_F(StreamPlacesTest, AResetTakesItsNumbersFromWhatItAnswers)
{
  const Passing syn = exchange(from_client(Kind::syn), nullptr, 40 * microsecond);
  const Passing refusal = exchange(from_server(Kind::reset), &syn);
  EXPECT_EQ(refusal.place.sequence, 0U);
  EXPECT_EQ(refusal.place.acknowledged, 11U);
}

TEST_F(StreamPlacesTest, ForgetsConnectionsThatAreOver)
{
  connect();
  exchange(from_client(Kind::end));
  EXPECT_EQ(places.size(), 2U);
  exchange(from_server(Kind::end));
  EXPECT_EQ(places.size(), 0U);
  connect();
  exchange(from_server(Kind::reset));
  EXPECT_EQ(places.size(), 0U);
}

TEST_F(StreamPlacesTest, NodesMayHaveTheSameAddressOfThemselves)
{
  const Address own{sockets::loopback_v4, 1}, other{sockets::loopback_v4, 2};
  exchange({Kind::syn, 0, 0, own, other, {}, {}});
  exchange({Kind::syn, 1, 1, own, other, {}, {}});
  EXPECT_EQ(places.size(), 2U);
}

// ---- Packets ----

unsigned number(std::string_view bytes, std::size_t at, std::size_t size)
{
  unsigned value = 0;
  for (std::size_t i = 0; i < size; ++i)
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// Of 16 bits, as who gets it adds it up: 0xffff if the checksum in it is right.
unsigned added_up(std::string_view bytes, unsigned beside = 0)
{
  unsigned sum = beside;
  for (std::size_t i = 0; i < bytes.size(); i += 2)
    sum += i + 1 < bytes.size() ? number(bytes, i, 2) : number(bytes, i, 1) << 8;
  while (sum >> 16 != 0)
    sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

TEST(PacketBytes, ATcpPacketOfIpv4)
{
  std::string packet;
  make_tcp_packet(packet, {0, 1, client, server}, {7, 9, 1, 2}, tcp_ack | tcp_psh, std::string_view("odd"));
  ASSERT_EQ(packet.size(), 14U + 20 + 32 + 3);
  EXPECT_EQ(packet.substr(0, 14), std::string("\2\0\x0a\0\0\2\2\0\x0a\0\0\1\x08\0", 14));
  const std::string ip = packet.substr(14, 20), tcp = packet.substr(34);
  EXPECT_EQ(number(ip, 2, 2), 20U + 32 + 3);
  EXPECT_EQ(added_up(ip), 0xffffU);
  EXPECT_EQ(added_up(tcp, 6 + 35 + added_up(ip.substr(12))), 0xffffU);
  EXPECT_EQ(number(tcp, 4, 4), 7U);
  EXPECT_EQ(number(tcp, 8, 4), 9U);
  EXPECT_EQ(number(tcp, 12, 2), 0x8018U);
}

TEST(PacketBytes, ADatagramOfIpv6)
{
  std::string packet;
  make_udp_packet(packet, {0, 1, {unique_local_of(0), 5}, {unique_local_of(1), 6}}, std::string_view("hello"));
  ASSERT_EQ(packet.size(), 14U + 40 + 8 + 5);
  EXPECT_EQ(number(packet, 12, 2), 0x86ddU);
  EXPECT_EQ(number(packet, 18, 2), 13U);
  EXPECT_EQ(added_up(packet.substr(54), 17 + 13 + added_up(packet.substr(22, 32))), 0xffffU);
}

TEST(PacketBytes, TheLongestOfTcpHasALengthOf16Bits)
{
  const std::string bytes(65536, 'x');
  std::string packet;
  const PacketEnds v4{0, 1, client, server}, v6{0, 1, {unique_local_of(0), 5}, {unique_local_of(1), 6}};
  make_tcp_packet(packet, v4, {}, tcp_ack, std::span(bytes).first(most_payload(v4)));
  EXPECT_EQ(number(packet, 16, 2), 65535U);
  make_tcp_packet(packet, v6, {}, tcp_ack, std::span(bytes).first(most_payload(v6)));
  EXPECT_EQ(number(packet, 18, 2), 65535U);
}

TEST(PacketBytes, AnUnreachablePortQuotesTheDatagram)
{
  std::string packet;
  make_unreachable_packet(packet, {1, 0, server, client});
  ASSERT_EQ(packet.size(), 14U + 20 + 8 + 20 + 8);
  EXPECT_EQ(number(packet, 34, 2), 0x0303U);
  EXPECT_EQ(added_up(packet.substr(34)), 0xffffU);
  EXPECT_EQ(number(packet, 42 + 12, 4), host_of(0)); // from the client it came
  EXPECT_EQ(number(packet, 62, 2), 1000U);
}

// ---- The file ----

class PcapngTest : public testing::Test
{
protected:
  struct Block {
    std::uint32_t type = 0;
    std::string body;
    [[nodiscard]] std::uint32_t word(std::size_t index) const
    {
      std::uint32_t value = 0;
      std::memcpy(&value, body.data() + 4 * index, sizeof value);
      return value;
    }
  };

  PcapngTest() { fs::create_directory(directory); }
  ~PcapngTest() override { fs::remove_all(directory); }
  sockets::Tap& open(std::vector<std::uint32_t> ranks = {})
  {
    trace.emplace(TraceOptions{path.string(), TraceFormat::pcapng, std::move(ranks)},
                  TraceLayout{{"bxi0", "bxi1"}, {0, 1}, nullptr, "", {}},
                  [](const net::Transfer&) -> const void* { return nullptr; });
    return *trace->tap();
  }
  std::vector<Block> blocks()
  {
    trace->finish();
    std::ifstream in(path, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    std::vector<Block> found;
    for (std::size_t at = 0; at < text.size();) {
      std::uint32_t head[2] = {};
      std::memcpy(head, text.data() + at, sizeof head);
      EXPECT_EQ(head[1] % 4, 0U);
      EXPECT_EQ(text.substr(at + 4, 4), text.substr(at + head[1] - 4, 4));
      found.push_back({head[0], text.substr(at + 8, head[1] - 12)});
      at += head[1];
    }
    return found;
  }

  fs::path directory = fs::path(testing::TempDir()) / ("packets." + std::to_string(getpid()));
  fs::path path = directory / "run.pcapng";
  std::optional<Trace> trace;
};

TEST_F(PcapngTest, WithoutPacketsThereIsASectionHeader)
{
  open();
  EXPECT_EQ(trace->records(), 0U);
  const std::vector<Block> all = blocks();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].type, 0x0a0d0d0aU);
  EXPECT_EQ(all[0].word(0), 0x1a2b3c4dU);
}

TEST_F(PcapngTest, EachSideSeesAPacketAtItsOwnTime)
{
  sockets::Tap& tap = open();
  Passing datagram = from_client(Kind::datagram, "hello");
  tap.sent(datagram, nullptr, 7);
  tap.arrived(datagram, (sim::SimTime{1} << 32) + 9);
  EXPECT_EQ(trace->records(), 2U);
  const std::vector<Block> all = blocks();
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[1].type, 1U);
  EXPECT_THAT(all[1].body, testing::HasSubstr("bxi0"));
  EXPECT_THAT(all[1].body, testing::HasSubstr(std::string("\x09\0\1\0\x0c\0\0\0", 8))); // 10^-12 s
  EXPECT_EQ(all[2].type, 6U);
  EXPECT_EQ(all[2].word(0), 0U);
  EXPECT_EQ(all[2].word(1), 0U);
  EXPECT_EQ(all[2].word(2), 7U);
  EXPECT_EQ(all[2].word(3), 14U + 20 + 8 + 5);
  EXPECT_THAT(all[3].body, testing::HasSubstr("bxi1"));
  EXPECT_EQ(all[4].word(0), 1U);
  EXPECT_EQ(all[4].word(1), 1U);
  EXPECT_EQ(all[4].word(2), 9U);
}

TEST_F(PcapngTest, ASegmentThatIsLongerThanAPacketIsCut)
{
  sockets::Tap& tap = open({0});
  const Passing syn = from_client(Kind::syn);
  tap.sent(syn, nullptr, 0);
  const std::string bytes(65536, 'x');
  tap.sent(from_client(Kind::data, bytes), nullptr, 0);
  const std::vector<Block> all = blocks();
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[3].word(3), 14U + 65535);
  EXPECT_EQ(all[4].word(3), 14U + 20 + 32 + 53);
}

TEST_F(PcapngTest, WhatStaysOnANodeIsSeenOnce)
{
  sockets::Tap& tap = open();
  const Passing inside{Kind::datagram, 1, 1, server, server, {}, {}};
  tap.sent(inside, nullptr, 0);
  tap.arrived(inside, 1);
  const std::vector<Block> all = blocks();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_THAT(all[1].body, testing::HasSubstr("bxi1 lo"));
}

TEST_F(PcapngTest, CanBeOfSomeRanks)
{
  sockets::Tap& tap = open({1});
  const Passing datagram = from_client(Kind::datagram);
  tap.sent(datagram, nullptr, 0);
  tap.arrived(datagram, 1);
  EXPECT_EQ(trace->records(), 1U);
  EXPECT_THAT(blocks().at(1).body, testing::HasSubstr("bxi1"));
}

} // namespace
} // namespace umwelt::observe
