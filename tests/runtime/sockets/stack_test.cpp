// SPDX-License-Identifier: LGPL-2.1-or-later
// The stack alone, over a network of constant delays whose orders and failures the test chooses.
#include "runtime/sockets/stack.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "preload/abi/datagram.h"
#include "tests/runtime/portals/test_model.h"

namespace umwelt::sockets
{
namespace
{

using portals::test::TestModel;
using ::testing::ElementsAre;

struct Listener final : net::CommandQueueListener {
  void command_slot_free(net::NodeIndex) override {}
};

struct RecordingHost final : Host {
  void socket_changed(std::uint32_t rank) override { changed.insert(rank); }
  void backlog_changed(std::uint32_t rank, int by) override
  {
    backlog.resize(std::max<std::size_t>(backlog.size(), rank + 1));
    backlog[rank] += by;
  }
  void outside_refused(std::uint32_t, IpAddress host) override { outside.push_back(host); }
  void sent(std::uint32_t rank, std::size_t bytes) override { counted[rank].first += bytes; }
  void received(std::uint32_t rank, std::size_t bytes) override { counted[rank].second += bytes; }
  std::map<std::uint32_t, std::pair<std::size_t, std::size_t>> counted; // bytes sent, received
  std::set<std::uint32_t> changed;
  std::vector<int> backlog;
  std::vector<IpAddress> outside;
};

class StackTest : public ::testing::Test
{
protected:
  static constexpr NodeIndex nodes = 4;

  StackTest() { stack.set_model(model); }
  ~StackTest() override
  {
    for (const int fd : ends)
      close(fd);
  }

  // A socket of rank `rank` on the node of the same number; its end of the pair.
  struct Own {
    Stack::Id id;
    int fd;
  };
  std::array<int, 2> pair(Type type)
  {
    std::array<int, 2> two{};
    EXPECT_EQ(socketpair(AF_UNIX, (type == Type::stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK, 0, two.data()), 0);
    ends.push_back(two[0]);
    return two;
  }
  Own make(std::uint32_t rank, Type type = Type::stream, Family family = Family::v4)
  {
    const auto [own, other] = pair(type);
    return {stack.create(rank, rank, type, family, other), own};
  }
  Own listening(std::uint32_t rank, std::uint16_t port)
  {
    const Own listener = make(rank);
    EXPECT_EQ(stack.bind(listener.id, {0, port}), 0);
    EXPECT_EQ(stack.listen(listener.id, 5), 0);
    return listener;
  }
  Own accept(const Own& listener)
  {
    char token = 0;
    EXPECT_EQ(recv(listener.fd, &token, 1, MSG_DONTWAIT), 1);
    const auto [own, other] = pair(Type::stream);
    return {stack.accept(listener.id, other), own};
  }
  // Two ends of a connection from rank 1 to rank 0.
  std::pair<Own, Own> connected(std::uint16_t port = 80)
  {
    const Own listener = listening(0, port);
    const Own client = make(1);
    EXPECT_EQ(stack.connect(client.id, {host_of(0), port}, 0), -EINPROGRESS);
    run();
    const Own server = accept(listener);
    stack.close(listener.id);
    return {server, client};
  }
  void run()
  {
    while (timeline.step()) {
    }
  }
  void write(const Own& socket, const std::string& text)
  {
    EXPECT_EQ(send(socket.fd, text.data(), text.size(), MSG_DONTWAIT), static_cast<ssize_t>(text.size()));
    stack.written(socket.id);
  }
  std::string read(const Own& socket, std::size_t most = 1 << 20)
  {
    std::string text(most, '\0');
    const ssize_t n = recv(socket.fd, text.data(), text.size(), MSG_DONTWAIT);
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    if (n > 0)
      stack.read(socket.id);
    return text;
  }
  static bool at_end(const Own& socket)
  {
    char byte = 0;
    return recv(socket.fd, &byte, 1, MSG_DONTWAIT) == 0;
  }
  void send_datagram(const Own& socket, Address to, const std::string& text)
  {
    const umw_datagram_head head{to_gate(to)};
    std::string whole(sizeof head, '\0');
    std::memcpy(whole.data(), &head, sizeof head);
    whole += text;
    write(socket, whole);
  }
  // The text of the next one.
  static std::string datagram(const Own& socket)
  {
    std::string whole(70000, '\0');
    const ssize_t n = recv(socket.fd, whole.data(), whole.size(), MSG_DONTWAIT);
    if (n < static_cast<ssize_t>(sizeof(umw_datagram_head)))
      return n < 0 ? "none" : "mark";
    return whole.substr(sizeof(umw_datagram_head), static_cast<std::size_t>(n) - sizeof(umw_datagram_head));
  }

  sim::Timeline timeline;
  Listener queue_listener;
  TestModel model{timeline, queue_listener};
  RecordingHost host;
  Stack stack{timeline, host, nodes, 3 * sim::second};
  std::vector<int> ends;
};

TEST_F(StackTest, AConnectionTakesARoundTripAndIsNamedOnBothEnds)
{
  const Own listener = listening(0, 80);
  const Own client = make(1);
  EXPECT_EQ(stack.connect(client.id, {host_of(0), 80}, 0), -EINPROGRESS);
  EXPECT_EQ(stack.peer_address(client.id), std::nullopt);
  run();
  EXPECT_EQ(timeline.now(), 2 * (model.header_delay + model.payload_delay));
  const Own server = accept(listener);
  EXPECT_EQ(stack.peer_address(client.id), (Address{host_of(0), 80}));
  EXPECT_EQ(stack.peer_address(server.id), stack.own_address(client.id));
  EXPECT_EQ(stack.own_address(client.id)->host, host_of(1));
}

TEST_F(StackTest, ANodeWithoutListenerRefuses)
{
  const Own client = make(1);
  EXPECT_EQ(stack.connect(client.id, {host_of(0), 80}, 0), -EINPROGRESS);
  run();
  EXPECT_EQ(stack.take_error(client.id), ECONNREFUSED);
  EXPECT_EQ(stack.take_error(client.id), 0);
  pollfd descriptor{client.fd, POLLOUT, 0};
  EXPECT_EQ(poll(&descriptor, 1, 0), 1);
  EXPECT_TRUE(descriptor.revents & POLLHUP);
}

TEST_F(StackTest, NobodyAnswersForAnAddressOfTheNetworkThatIsNoNode)
{
  const Own client = make(1);
  EXPECT_EQ(stack.connect(client.id, {host_of(nodes), 80}, 0), -EINPROGRESS);
  run();
  EXPECT_EQ(timeline.now(), 3 * sim::second);
  EXPECT_EQ(stack.take_error(client.id), EHOSTUNREACH);
}

TEST_F(StackTest, TheOutsideWorldIsRefusedAtOnceAndReported)
{
  const Own client = make(1);
  const std::uint32_t outside = 192U << 24 | 1;
  EXPECT_EQ(stack.connect(client.id, {outside, 80}, 0), -ENETUNREACH);
  EXPECT_THAT(host.outside, ElementsAre(outside));
}

TEST_F(StackTest, PortsAreThoseOfANode)
{
  const Own first = listening(0, 80);
  const Own second = make(0);
  EXPECT_EQ(stack.bind(second.id, {0, 80}), -EADDRINUSE);
  const Own elsewhere = make(1);
  EXPECT_EQ(stack.bind(elsewhere.id, {0, 80}), 0);
  EXPECT_EQ(stack.bind(elsewhere.id, {0, 81}), -EINVAL);
  const Own foreign = make(1);
  EXPECT_EQ(stack.bind(foreign.id, {host_of(0), 80}), -EADDRNOTAVAIL);
  stack.close(first.id);
  EXPECT_EQ(stack.bind(second.id, {0, 80}), 0);
}

TEST_F(StackTest, AListenerOfBothFamiliesHasClientsOfBoth)
{
  const Own listener = make(0, Type::stream, Family::v6);
  EXPECT_EQ(stack.bind(listener.id, {any_v6, 80}), 0);
  EXPECT_EQ(stack.listen(listener.id, 5), 0);
  const Own old = make(1);
  const Own local = make(1, Type::stream, Family::v6);
  const Own far = make(1, Type::stream, Family::v6);
  EXPECT_EQ(stack.connect(old.id, {host_of(0), 80}, 0), -EINPROGRESS);
  run();
  EXPECT_EQ(stack.connect(local.id, {link_local_of(0), 80}, 0), -EINPROGRESS);
  run();
  EXPECT_EQ(stack.connect(far.id, {unique_local_of(0), 80}, 0), -EINPROGRESS);
  run();
  EXPECT_EQ(stack.own_address(listener.id)->host, any_v6);
  for (const IpAddress expected : {IpAddress{host_of(1)}, link_local_of(1), unique_local_of(1)})
    EXPECT_EQ(stack.peer_address(accept(listener).id)->host, expected);
}

TEST_F(StackTest, AListenerOfIPv6AloneLeavesIPv4ToAnother)
{
  const Own listener = make(0, Type::stream, Family::v6);
  EXPECT_EQ(stack.set_only_v6(listener.id, true), 0);
  EXPECT_EQ(stack.bind(listener.id, {any_v6, 80}), 0);
  EXPECT_EQ(stack.set_only_v6(listener.id, false), -EINVAL);
  EXPECT_EQ(stack.listen(listener.id, 5), 0);
  const Own early = make(1);
  EXPECT_EQ(stack.connect(early.id, {host_of(0), 80}, 0), -EINPROGRESS);
  run();
  EXPECT_EQ(stack.take_error(early.id), ECONNREFUSED);
  const Own other = listening(0, 80);
  const Own client = make(1);
  EXPECT_EQ(stack.connect(client.id, {host_of(0), 80}, 0), -EINPROGRESS);
  run();
  EXPECT_EQ(stack.peer_address(accept(other).id)->host, IpAddress{host_of(1)});
  EXPECT_EQ(stack.connect(make(1).id, {IpAddress{0x20010db800000000, 1}, 80}, 0), -ENETUNREACH);
  EXPECT_THAT(host.outside, ElementsAre(IpAddress{0x20010db800000000, 1}));
  EXPECT_EQ(host.outside.front().text(), "2001:db8::1");
}

TEST_F(StackTest, ADisconnectedSocketHearsEverybodyAgain)
{
  const Own receiver = make(0, Type::datagram);
  EXPECT_EQ(stack.bind(receiver.id, {0, 53}), 0);
  EXPECT_EQ(stack.connect(receiver.id, {host_of(2), 5353}, 0), 0);
  const Own sender = make(1, Type::datagram);
  send_datagram(sender, {host_of(0), 53}, "one");
  run();
  EXPECT_EQ(datagram(receiver), "none");
  EXPECT_EQ(stack.disconnect(receiver.id), 0);
  EXPECT_EQ(stack.own_address(receiver.id), (Address{0, 53}));
  send_datagram(sender, {host_of(0), 53}, "two");
  run();
  EXPECT_EQ(datagram(receiver), "two");
}

TEST_F(StackTest, WhoWasRefusedTriesAgainWithANewPair)
{
  const Own client = make(1);
  for (int i = 0; i < 2; ++i) {
    const bool first = i == 0;
    if (!first) {
      EXPECT_EQ(stack.connect(client.id, {host_of(0), 80}, 0), -ESTALE);
      EXPECT_EQ(stack.renew(client.id, pair(Type::stream)[1]), 0);
    }
    EXPECT_EQ(stack.connect(client.id, {host_of(0), 80}, 0), -EINPROGRESS);
    run();
    EXPECT_EQ(stack.own_address(client.id), (Address{0, 0}));
    EXPECT_EQ(stack.connect(client.id, {host_of(0), 80}, 0), -ECONNREFUSED);
  }
  const Own listener = listening(0, 80);
  const auto [own, other] = pair(Type::stream);
  EXPECT_EQ(stack.renew(client.id, other), 0);
  EXPECT_EQ(send(own, "filling", 7, MSG_DONTWAIT), 7);
  EXPECT_EQ(stack.connect(client.id, {192U << 24 | 1, 80}, 7), -ENETUNREACH);
  EXPECT_EQ(send(own, "more", 4, MSG_DONTWAIT), 4);
  EXPECT_EQ(stack.connect(client.id, {host_of(0), 80}, 4), -EINPROGRESS);
  run();
  const Own server = accept(listener);
  write({client.id, own}, "text");
  run();
  EXPECT_EQ(read(server), "text");
}

TEST_F(StackTest, BytesArriveInOrderHoweverTheNetworkOrdersThem)
{
  const auto [server, client] = connected();
  model.slowness = [](const net::Transfer& transfer) -> sim::SimTime {
    return transfer.payload > 1000 ? 100 * sim::microsecond : 0; // the long one is overtaken
  };
  write(client, std::string(5000, 'a'));
  write(client, "b");
  run();
  EXPECT_EQ(read(server), std::string(5000, 'a') + "b");
  EXPECT_EQ(host.counted[1], std::pair(5001UL, 0UL));
  EXPECT_EQ(host.counted[0], std::pair(0UL, 5001UL));
}

TEST_F(StackTest, AReaderThatDoesNotReadHoldsTheWriterUp)
{
  const auto [server, client] = connected();
  const std::string part(100'000, 'x');
  std::size_t sent = 0;
  for (ssize_t n = 0; (n = send(client.fd, part.data(), part.size(), MSG_DONTWAIT)) > 0; run()) {
    sent += static_cast<std::size_t>(n);
    stack.written(client.id);
  }
  EXPECT_LT(sent, 2U << 20);
  EXPECT_GT(host.backlog.at(0), 0);
  std::size_t received = 0;
  for (std::string some; !(some = read(server)).empty(); run())
    received += some.size();
  EXPECT_EQ(received, sent);
  EXPECT_EQ(host.backlog.at(0), 0);
  host.changed.clear();
  EXPECT_GT(send(client.fd, part.data(), part.size(), MSG_DONTWAIT), 0);
}

TEST_F(StackTest, WhatWasWrittenBeforeTheEndArrivesBeforeIt)
{
  const auto [server, client] = connected();
  write(client, "last words");
  shutdown(client.fd, SHUT_WR);
  stack.written(client.id);
  run();
  EXPECT_EQ(read(server), "last words");
  EXPECT_TRUE(at_end(server));
  write(server, "answer"); // the other half is open
  run();
  EXPECT_EQ(read(client), "answer");
}

TEST_F(StackTest, WhatIsSentToOneWhoHasClosedComesBackAsReset)
{
  const auto [server, client] = connected();
  close(server.fd);
  ends.erase(std::find(ends.begin(), ends.end(), server.fd));
  stack.close(server.id);
  run();
  write(client, "x");
  run();
  EXPECT_EQ(stack.take_error(client.id), ECONNRESET);
}

TEST_F(StackTest, NothingIsLeftOfARankThatEnds)
{
  const auto [server, client] = connected();
  write(client, "unread");
  make(1, Type::datagram);
  stack.close_all(1);
  run();
  stack.close_all(0);
  run();
  EXPECT_EQ(stack.size(), 0U);
  EXPECT_EQ(model.in_flight(), 0U);
  EXPECT_EQ(read(server), "unread");
}

TEST_F(StackTest, AFailedSegmentEndsTheConnection)
{
  const auto [server, client] = connected();
  model.fate = [](const net::Transfer&) { return TestModel::Fate::fail_after_source; };
  write(client, "x");
  run();
  EXPECT_EQ(stack.take_error(client.id), EHOSTUNREACH);
}

TEST_F(StackTest, DatagramsKeepTheirBoundsAndTheirOrder)
{
  const Own server = make(0, Type::datagram);
  ASSERT_EQ(stack.bind(server.id, {0, 53}), 0);
  const Own client = make(1, Type::datagram);
  model.slowness = [](const net::Transfer& transfer) -> sim::SimTime {
    return transfer.payload > 1000 ? sim::millisecond : 0;
  };
  send_datagram(client, {host_of(0), 53}, std::string(2000, 'a'));
  send_datagram(client, {host_of(0), 53}, "");
  send_datagram(client, {host_of(0), 53}, "b");
  run();
  EXPECT_EQ(datagram(server), std::string(2000, 'a'));
  EXPECT_EQ(datagram(server), "");
  EXPECT_EQ(datagram(server), "b");
  EXPECT_EQ(datagram(server), "none");
}

TEST_F(StackTest, ALostDatagramDoesNotHoldUpTheOthers)
{
  const Own server = make(0, Type::datagram);
  ASSERT_EQ(stack.bind(server.id, {0, 53}), 0);
  const Own client = make(1, Type::datagram);
  int count = 0;
  model.fate = [&count](const net::Transfer&) {
    return ++count == 1 ? TestModel::Fate::fail_after_source : TestModel::Fate::deliver;
  };
  send_datagram(client, {host_of(0), 53}, "lost");
  send_datagram(client, {host_of(0), 53}, "second");
  run();
  EXPECT_EQ(datagram(server), "second");
  EXPECT_EQ(datagram(server), "none");
  EXPECT_EQ(host.counted[1].first, 10U);
  EXPECT_EQ(host.counted[0].second, 6U);
}

TEST_F(StackTest, ADatagramForNobodyIsReportedToItsSender)
{
  const Own client = make(1, Type::datagram);
  EXPECT_EQ(stack.connect(client.id, {host_of(0), 53}, 0), 0);
  send_datagram(client, {}, "x");
  run();
  EXPECT_EQ(datagram(client), "mark");
  EXPECT_EQ(stack.take_error(client.id), ECONNREFUSED);
}

TEST_F(StackTest, NumbersOfNoSocketAreRefused)
{
  EXPECT_EQ(stack.bind(7, {0, 80}), -EBADF);
  EXPECT_EQ(stack.listen(7, 1), -EBADF);
  EXPECT_EQ(stack.connect(7, {host_of(0), 80}, 0), -EBADF);
  EXPECT_EQ(stack.written(7), -EBADF);
  EXPECT_EQ(stack.close(7), -EBADF);
  const auto two = pair(Type::stream);
  EXPECT_EQ(stack.accept(7, two[1]), -EBADF);
}

} // namespace
} // namespace umwelt::sockets
