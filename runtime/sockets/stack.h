// SPDX-License-Identifier: LGPL-2.1-or-later
// TCP and UDP between simulated hosts: what sockets do. When their segments arrive is the network model's (IP over BXI:
// a segment is a put of the NIC).
//
// A rank's socket is one end of a pair of real, non-blocking AF_UNIX sockets, so that poll, epoll, dup, fork and
// FIONREAD mean what they always do; the stack has the other end. What the rank writes lies in the pair until the
// window lets it leave; what arrives is put into the pair, and waits here while that is full. Streams use SOCK_STREAM
// pairs; datagrams SOCK_DGRAM pairs, each headed by the address it comes from or goes to (struct umw_datagram_head). A
// socket that connects is not writable because the shim has filled its buffer; a listening one is readable while
// connections wait, because a byte for each lies in the pair.
//
// Deliberately simple: no slow start, no congestion window (the fabric loses nothing), a fixed window, acknowledgements
// that take no time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "net_models/core/model.h"
#include "runtime/base/origin.h"
#include "runtime/base/timeline.h"
#include "runtime/sockets/address.h"
#include "runtime/sockets/tap.h"

namespace umwelt::sockets
{

using sim::SimTime;

enum class Type : std::uint8_t { stream, datagram };
enum class Family : std::uint8_t { v4, v6 };

// Whom the stack tells.
class Host
{
public:
  // A descriptor of the rank has become readable or writable, or has got an error.
  virtual void socket_changed(std::uint32_t rank) = 0;
  // How many of the rank's sockets have data for which there is no room yet has changed by `by`.
  virtual void backlog_changed(std::uint32_t rank, int by) = 0;
  // Somebody tried to reach an address outside of the simulated machine; the text says who and what instead.
  virtual void outside_refused(std::uint32_t rank, IpAddress host) = 0;
  // For statistics: a segment of a stream or a datagram with `bytes` of payload has been sent, has reached the rank's
  // socket.
  virtual void sent(std::uint32_t rank, std::size_t bytes) = 0;
  virtual void received(std::uint32_t rank, std::size_t bytes) = 0;
  // Something of the rank leaves now. What is to be kept of that, or null.
  virtual std::unique_ptr<sim::Origin> departs(std::uint32_t rank)
  {
    (void)rank;
    return nullptr;
  }
  // What rank `source` sent at `began` has come for the rank: so many bytes. `origin`: what departs() gave, or null.
  virtual void came(std::uint32_t rank, std::uint32_t source, const sim::Origin* origin, SimTime began,
                    std::uint64_t bytes)
  {
    (void)rank, (void)source, (void)origin, (void)began, (void)bytes;
  }

protected:
  ~Host() = default;
};

class Stack final : public net::TransferClient
{
public:
  using Id = std::int32_t;

  // `unreachable`: after so long a connection to an address at which there is nobody fails.
  Stack(sim::Timeline& timeline, Host& host, NodeIndex nodes, SimTime unreachable);
  ~Stack();
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  void set_model(net::Model& model) { model_ = &model; }
  // Null: nobody is told. It must outlive what is under way.
  void set_tap(Tap* tap) { tap_ = tap; }

  // Calls of a rank. `fd`: the stack's end of the pair, which it closes. Results: 0 or more, or a negative errno.
  Id create(std::uint32_t rank, NodeIndex node, Type type, Family family, int fd);
  // A socket of IPv6 may be bound and connected to an address of IPv4, too, unless it is for IPv6 only.
  int bind(Id id, Address address);
  int set_reuse(Id id, bool reuse);
  int set_only_v6(Id id, bool only);
  int listen(Id id, int backlog);
  // -EINPROGRESS: under way. `filled`: bytes that lie in the pair for it to be not writable. -ESTALE: it has failed to
  // connect before, which has ended its pair; it needs a new one.
  int connect(Id id, Address address, std::size_t filled);
  int renew(Id id, int fd);
  // Of datagrams: they come from anybody again.
  int disconnect(Id id);
  // The number of the connection, which gets `fd`.
  Id accept(Id id, int fd);
  // The last of the rank's descriptors of it is closed.
  int close(Id id);
  // Something was written into the pair, or it was shut down.
  int written(Id id);
  // Something was read from the pair.
  int read(Id id);
  // And forgets it.
  int take_error(Id id);
  [[nodiscard]] std::optional<Address> own_address(Id id) const;
  [[nodiscard]] std::optional<Address> peer_address(Id id) const;

  // The rank has ended: what the kernel does with its sockets.
  void close_all(std::uint32_t rank);
  [[nodiscard]] std::size_t size() const { return sockets_.size(); }

  // From the model.
  void source_read(net::Transfer& transfer) override;
  void header_arrived(net::Transfer& transfer) override;
  void delivered(net::Transfer& transfer) override;
  void failed(net::Transfer& transfer, net::TransferFailure why) override;

private:
  struct Segment;
  struct Socket;
  using Key = std::pair<NodeIndex, std::uint16_t>;
  struct Datagram {
    Address sender, destination;
    std::vector<char> bytes;
    bool lost = false;
  };
  // From one socket to one node: those that others have overtaken come first.
  struct Datagrams {
    std::uint64_t next = 0;
    std::map<std::uint64_t, Datagram> early;
  };

  [[nodiscard]] Socket* find(Id id) const;
  [[nodiscard]] Socket* listener_at(NodeIndex node, Address address) const;
  [[nodiscard]] bool taken(const Socket& socket, Address address) const;
  Socket& make(std::uint32_t rank, NodeIndex node, Type type);
  bool choose_port(Socket& socket);
  void enter_port(Socket& socket, Address address);
  void leave_port(Socket& socket);
  void forget_connection(Socket& socket);
  int start_connecting(Socket& socket, Address address);
  static void drain_filling(Socket& socket);
  [[nodiscard]] static int refusal(const Socket& socket, IpAddress destination);
  std::unique_ptr<Segment> segment_from(const Socket& socket, Address destination) const;
  void send(std::unique_ptr<Segment> segment, const Segment* answered = nullptr);
  void answer(const Segment& to, bool accepted, Id from);
  void pump(Socket& socket);
  void pump_datagrams(Socket& socket);
  void arrived_syn(const Segment& segment);
  void arrived_answer(const Segment& segment);
  void arrived_reset(const Segment& segment);
  void arrived_in_stream(Segment& segment);
  void arrived_datagram(Segment& segment);
  void take_datagram(const Segment& segment, Datagram datagram_or_gap);
  void deliver(const Datagram& datagram, const Segment& segment);
  void put_into_pair(Socket& socket);
  void fail(Socket& socket, int error);
  void end_if_over(Socket& socket);
  void drop_backlog(Socket& socket);
  void erase(Id id);

  sim::Timeline& timeline_;
  Host& host_;
  const NodeIndex nodes_;
  const SimTime unreachable_;
  net::Model* model_ = nullptr;
  Tap* tap_ = nullptr;
  std::unordered_map<Id, std::unique_ptr<Socket>> sockets_;
  std::map<Key, std::vector<Id>> ports_[2]; // by type: who is bound to them
  std::map<std::pair<Id, NodeIndex>, Datagrams> datagrams_;
  std::unordered_map<net::Transfer*, std::unique_ptr<Segment>> under_way_;
  Id last_ = 0;
  std::map<NodeIndex, std::uint16_t> next_port_;
};

} // namespace umwelt::sockets
