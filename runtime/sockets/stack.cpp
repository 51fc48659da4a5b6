// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/sockets/stack.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

#include "preload/abi/datagram.h"

namespace umwelt::sockets
{

namespace
{

constexpr std::size_t largest_segment = 64 * 1024; // what Linux hands to a NIC at once (GSO)
constexpr std::size_t ip_header = 20;
constexpr std::size_t ip6_header = 40;
constexpr std::size_t stream_header = 32;  // TCP with time stamps
constexpr std::size_t datagram_header = 8; // UDP
constexpr std::size_t window = UMW_STREAM_WINDOW;
constexpr int least_backlog = 128;               // a SYN that finds no room would only be sent again
constexpr SimTime arp_timeout = 3 * sim::second; // until Linux gives EHOSTUNREACH
constexpr std::uint16_t first_ephemeral = 32768; // ip_local_port_range
constexpr std::uint16_t last_ephemeral = 60999;

} // namespace

struct Stack::Segment final : net::Transfer {
  enum class Kind : std::uint8_t { syn, accepted, reset, data, end, datagram };
  Kind kind = Kind::data;
  Id from = 0;
  Id to = 0; // 0: whoever is bound to the destination
  Address sender;
  Address destination;
  std::uint64_t number = 0; // in its direction of the stream
  std::vector<char> bytes;
  bool was_read = false;
  bool was_delivered = false;
};

struct Stack::Socket {
  enum class State : std::uint8_t { idle, listening, connecting, connected, refused, failed };

  struct Timeout final : sim::Event {
    Timeout(Stack& s, Id i) : stack(s), id(i) {}
    void fire() override
    {
      if (Socket* socket = stack.find(id))
        stack.fail(*socket, EHOSTUNREACH);
    }
    Stack& stack;
    Id id;
  };

  Id id = 0;
  std::uint32_t rank = 0;
  NodeIndex node = 0;
  Type type = Type::stream;
  Family family = Family::v4;
  bool only_v6 = false;
  State state = State::idle;
  int fd = -1;
  int error = 0;
  Address own;
  std::optional<Address> peer_address;
  bool bound = false;      // entered in ports_
  bool chose_host = false; // it was bound to an address of its own, rather than given one when it connected
  bool chose_port = false; // likewise
  bool reuse = false;
  bool closed = false; // the rank has no descriptor of it any more
  std::unique_ptr<Timeout> timeout;

  std::deque<Id> waiting; // to be accepted
  int backlog = 0;

  Id peer = 0;
  std::size_t filled = 0;    // bytes in the pair that are none
  std::size_t in_flight = 0; // sent and not yet in the receiver's pair
  std::uint64_t next_out = 0;
  std::map<NodeIndex, std::uint64_t> next_datagram;
  bool end_sent = false;

  std::uint64_t next_in = 0;
  std::map<std::uint64_t, std::pair<bool, std::vector<char>>> early; // by number: whether it is the end, its bytes
  std::deque<std::vector<char>> held;                                // no room in the pair yet
  std::size_t held_offset = 0;                                       // of the first
  bool end_received = false;
};

Stack::Stack(sim::Timeline& timeline, Host& host, NodeIndex nodes) : timeline_(timeline), host_(host), nodes_(nodes)
{
}

Stack::~Stack()
{
  for (const auto& [id, socket] : sockets_)
    if (socket->fd >= 0)
      ::close(socket->fd);
}

Stack::Socket* Stack::find(Id id) const
{
  const auto found = sockets_.find(id);
  return found == sockets_.end() ? nullptr : found->second.get();
}

Stack::Socket& Stack::make(std::uint32_t rank, NodeIndex node, Type type)
{
  auto socket = std::make_unique<Socket>();
  socket->id = ++last_;
  socket->rank = rank;
  socket->node = node;
  socket->type = type;
  return *sockets_.emplace(last_, std::move(socket)).first->second;
}

void Stack::erase(Id id)
{
  Socket* socket = find(id);
  if (socket == nullptr)
    return;
  drop_backlog(*socket);
  leave_port(*socket);
  if (socket->timeout)
    timeline_.cancel(*socket->timeout);
  if (socket->fd >= 0)
    ::close(socket->fd);
  sockets_.erase(id);
}

// --- calls -----------------------------------------------------------------------------------------------------------

Stack::Id Stack::create(std::uint32_t rank, NodeIndex node, Type type, Family family, int fd)
{
  Socket& socket = make(rank, node, type);
  socket.family = family;
  if (family == Family::v6)
    socket.own.host = any_v6;
  socket.fd = fd;
  return socket.id;
}

bool Stack::taken(const Socket& socket, Address address) const
{
  const auto& ports = ports_[static_cast<int>(socket.type)];
  const auto found = ports.find({socket.node, address.port});
  return found != ports.end() && std::any_of(found->second.begin(), found->second.end(), [&](Id other_id) {
           const Socket& other = *find(other_id);
           const bool overlap = covers(other.own.host, other.only_v6, address.host) ||
                                covers(address.host, socket.only_v6, other.own.host);
           return overlap && !(socket.reuse && other.reuse && other.state != Socket::State::listening);
         });
}

void Stack::enter_port(Socket& socket, Address address)
{
  socket.own = address;
  socket.bound = true;
  ports_[static_cast<int>(socket.type)][{socket.node, address.port}].push_back(socket.id);
}

void Stack::leave_port(Socket& socket)
{
  if (std::exchange(socket.bound, false))
    std::erase(ports_[static_cast<int>(socket.type)][{socket.node, socket.own.port}], socket.id);
}

bool Stack::choose_port(Socket& socket)
{
  std::uint16_t& next = next_port_.try_emplace(socket.node, first_ephemeral).first->second;
  for (unsigned tries = 0; tries <= last_ephemeral - first_ephemeral; ++tries) {
    const Address candidate{socket.own.host, next};
    next = next == last_ephemeral ? first_ephemeral : static_cast<std::uint16_t>(next + 1);
    const auto& entries = ports_[static_cast<int>(socket.type)];
    const auto found = entries.find({socket.node, candidate.port});
    if (found == entries.end() || found->second.empty()) {
      enter_port(socket, candidate);
      return true;
    }
  }
  return false;
}

int Stack::bind(Id id, Address address)
{
  Socket* socket = find(id);
  if (socket == nullptr)
    return -EBADF;
  if (socket->bound)
    return -EINVAL;
  if (socket->only_v6 && address.host.is_v4())
    return -EINVAL;
  if (!address.host.is_any() && !address.host.is_loopback() &&
      address.host != source_towards(address.host, socket->node))
    return -EADDRNOTAVAIL;
  if (address.port == 0) {
    const IpAddress before = std::exchange(socket->own.host, address.host);
    if (!choose_port(*socket)) {
      socket->own.host = before;
      return -EADDRINUSE;
    }
  } else {
    if (taken(*socket, address))
      return -EADDRINUSE;
    enter_port(*socket, address);
    socket->chose_port = true;
  }
  socket->chose_host = !address.host.is_any();
  return 0;
}

int Stack::set_only_v6(Id id, bool only)
{
  Socket* socket = find(id);
  if (socket == nullptr)
    return -EBADF;
  if (socket->bound)
    return -EINVAL;
  socket->only_v6 = only;
  return 0;
}

int Stack::set_reuse(Id id, bool reuse)
{
  Socket* socket = find(id);
  if (socket == nullptr)
    return -EBADF;
  socket->reuse = reuse;
  return 0;
}

int Stack::listen(Id id, int backlog)
{
  Socket* socket = find(id);
  if (socket == nullptr)
    return -EBADF;
  if (socket->type != Type::stream)
    return -EOPNOTSUPP;
  if (socket->state != Socket::State::idle && socket->state != Socket::State::listening)
    return -EINVAL;
  if (!socket->bound && !choose_port(*socket))
    return -EADDRINUSE;
  socket->backlog = std::max(backlog, least_backlog);
  socket->state = Socket::State::listening;
  return 0;
}

// What is wrong with the family of `destination` for a socket of IPv6, which may be bound; 0: nothing.
int Stack::refusal(const Socket& socket, IpAddress destination)
{
  if (socket.only_v6 && destination.is_v4())
    return -ENETUNREACH;
  if (!socket.chose_host || socket.own.host.is_v4() == destination.is_v4())
    return 0;
  return destination.is_v4() ? -ENETUNREACH : -EAFNOSUPPORT; // as Linux has it
}

int Stack::start_connecting(Socket& socket, Address address)
{
  switch (socket.state) {
  case Socket::State::idle:
    break;
  case Socket::State::connecting:
    return -EALREADY;
  case Socket::State::connected:
    return -EISCONN;
  case Socket::State::refused:
    return socket.error != 0 ? -std::exchange(socket.error, 0) : -ESTALE;
  default:
    return -EINVAL;
  }
  const auto node = node_of(address.host, socket.node, nodes_);
  if (!node && !is_on_network(address.host)) {
    host_.outside_refused(socket.rank, address.host);
    return -ENETUNREACH;
  }
  if (address.host.is_any())
    address.host = address.host.is_v4() ? loopback_v4 : loopback_v6;
  if (const int refused = refusal(socket, address.host); refused != 0)
    return refused;
  if (!socket.bound && !choose_port(socket))
    return -EADDRNOTAVAIL;
  if (!socket.chose_host)
    socket.own.host = source_towards(address.host, socket.node);
  socket.peer_address = address;
  if (socket.type == Type::datagram)
    return 0;
  socket.state = Socket::State::connecting;
  if (!node) { // nobody answers
    socket.timeout = std::make_unique<Socket::Timeout>(*this, socket.id);
    timeline_.schedule_in(*socket.timeout, arp_timeout);
    return -EINPROGRESS;
  }
  auto segment = segment_from(socket, address);
  segment->kind = Segment::Kind::syn;
  segment->target = *node;
  send(std::move(segment));
  return -EINPROGRESS;
}

int Stack::connect(Id id, Address address, std::size_t filled)
{
  Socket* socket = find(id);
  if (socket == nullptr)
    return -EBADF;
  socket->filled += filled;
  const int result = start_connecting(*socket, address);
  if (result != -EINPROGRESS && filled > 0)
    drain_filling(*socket);
  return result;
}

void Stack::drain_filling(Socket& socket)
{
  std::array<char, 4096> nothing; // NOLINT(*-member-init)
  while (socket.fd >= 0 && socket.filled > 0) {
    const ssize_t size = recv(socket.fd, nothing.data(), std::min(nothing.size(), socket.filled), MSG_DONTWAIT);
    if (size <= 0)
      break;
    socket.filled -= static_cast<std::size_t>(size);
  }
  socket.filled = 0;
}

// What connecting has chosen.
void Stack::forget_connection(Socket& socket)
{
  socket.peer_address.reset();
  if (!socket.chose_port)
    leave_port(socket);
  if (!socket.chose_host)
    socket.own.host = socket.family == Family::v6 ? any_v6 : any_v4;
  if (!socket.bound)
    socket.own.port = 0;
}

int Stack::disconnect(Id id)
{
  Socket* socket = find(id);
  if (socket == nullptr)
    return -EBADF;
  forget_connection(*socket);
  return 0;
}

int Stack::renew(Id id, int fd)
{
  Socket* socket = find(id);
  if (socket == nullptr || socket->state != Socket::State::refused) {
    ::close(fd);
    return socket == nullptr ? -EBADF : -EINVAL;
  }
  socket->state = Socket::State::idle;
  socket->fd = fd;
  return 0;
}

Stack::Id Stack::accept(Id id, int fd)
{
  Socket* listener = find(id);
  const int refusal = listener == nullptr                           ? EBADF
                      : listener->state != Socket::State::listening ? EINVAL
                      : listener->waiting.empty()                   ? EAGAIN
                                                                    : 0;
  if (refusal != 0) {
    ::close(fd);
    return -refusal;
  }
  Socket& connection = *find(listener->waiting.front());
  listener->waiting.pop_front();
  connection.fd = fd;
  connection.rank = listener->rank;
  if (connection.state == Socket::State::failed) {
    ::close(std::exchange(connection.fd, -1));
    return connection.id;
  }
  if (!connection.held.empty())
    host_.backlog_changed(connection.rank, 1);
  put_into_pair(connection);
  return connection.id;
}

int Stack::close(Id id)
{
  Socket* socket = find(id);
  if (socket == nullptr)
    return -EBADF;
  socket->closed = true;
  const std::deque<Id> waiting = std::exchange(socket->waiting, {});
  for (const Id connection : waiting)
    if (Socket* child = find(connection)) {
      child->closed = true;
      if (child->peer_address) {
        auto segment = segment_from(*child, *child->peer_address);
        segment->kind = Segment::Kind::reset;
        segment->to = child->peer;
        send(std::move(segment));
      }
      erase(connection);
    }
  if (socket->type == Type::stream && socket->state == Socket::State::connected) {
    drop_backlog(*socket);
    pump(*socket);
    return 0;
  }
  if (socket->type == Type::datagram)
    pump_datagrams(*socket);
  erase(id);
  return 0;
}

void Stack::close_all(std::uint32_t rank)
{
  std::vector<Id> own;
  for (const auto& [id, socket] : sockets_)
    if (socket->rank == rank && !socket->closed)
      own.push_back(id);
  std::sort(own.begin(), own.end());
  for (const Id id : own) {
    if (Socket* socket = find(id); socket != nullptr && socket->fd >= 0)
      ::shutdown(
          socket->fd,
          SHUT_RD); // its own end may stay open in the process that carried it: what was written leaves, then the end
    close(id);
  }
}

int Stack::written(Id id)
{
  Socket* socket = find(id);
  if (socket == nullptr)
    return -EBADF;
  if (socket->type == Type::datagram)
    pump_datagrams(*socket);
  else
    pump(*socket);
  return 0;
}

int Stack::read(Id id)
{
  Socket* socket = find(id);
  if (socket == nullptr)
    return -EBADF;
  put_into_pair(*socket);
  return 0;
}

int Stack::take_error(Id id)
{
  Socket* socket = find(id);
  return socket == nullptr ? 0 : std::exchange(socket->error, 0);
}

std::optional<Address> Stack::own_address(Id id) const
{
  const Socket* socket = find(id);
  return socket == nullptr ? std::nullopt : std::optional(socket->own);
}

std::optional<Address> Stack::peer_address(Id id) const
{
  const Socket* socket = find(id);
  const bool connected =
      socket != nullptr && (socket->type == Type::datagram || socket->state == Socket::State::connected);
  return connected ? socket->peer_address : std::nullopt;
}

// --- sending ---------------------------------------------------------------------------------------------------------

std::unique_ptr<Stack::Segment> Stack::segment_from(const Socket& socket, Address destination) const
{
  auto segment = std::make_unique<Segment>();
  segment->client = const_cast<Stack*>(this);
  segment->kind = Segment::Kind::data;
  segment->from = socket.id;
  segment->to = socket.peer;
  segment->sender = socket.own;
  if (segment->sender.host.is_any())
    segment->sender.host = source_towards(destination.host, socket.node);
  segment->destination = destination;
  segment->source = socket.node;
  segment->target = node_of(destination.host, socket.node, nodes_).value_or(socket.node);
  segment->initiator_process = segment->target_process = socket.rank;
  segment->from_host = false; // the kernel's commands wait for no rank
  return segment;
}

void Stack::send(std::unique_ptr<Segment> segment)
{
  segment->payload = segment->bytes.size() + (segment->destination.host.is_v4() ? ip_header : ip6_header) +
                     (segment->kind == Segment::Kind::datagram ? datagram_header : stream_header);
  Segment& started = *segment;
  under_way_.emplace(&started, std::move(segment));
  model_->start(started);
}

void Stack::answer(const Segment& to, bool accepted, Id from)
{
  auto segment = std::make_unique<Segment>();
  segment->client = this;
  segment->kind = accepted ? Segment::Kind::accepted : Segment::Kind::reset;
  segment->from = from;
  segment->to = to.from;
  segment->sender = to.destination;
  segment->destination = to.sender;
  segment->source = to.target;
  segment->target = to.source;
  segment->initiator_process = segment->target_process = to.initiator_process;
  segment->from_host = false;
  send(std::move(segment));
}

void Stack::pump(Socket& socket)
{
  while (socket.state == Socket::State::connected && socket.fd >= 0 && !socket.end_sent && socket.in_flight < window) {
    std::vector<char> bytes(std::min(largest_segment, window - socket.in_flight));
    const ssize_t size = recv(socket.fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (size < 0)
      break;
    auto segment = segment_from(socket, *socket.peer_address);
    segment->number = socket.next_out++;
    if (size == 0) {
      segment->kind = Segment::Kind::end;
      socket.end_sent = true;
    } else {
      bytes.resize(static_cast<std::size_t>(size));
      segment->bytes = std::move(bytes);
      socket.in_flight += segment->bytes.size();
      host_.sent(socket.rank, segment->bytes.size());
    }
    send(std::move(segment));
  }
  end_if_over(socket);
}

void Stack::pump_datagrams(Socket& socket)
{
  std::array<char, sizeof(umw_datagram_head) + UMW_LARGEST_DATAGRAM> bytes; // NOLINT(*-member-init)
  while (socket.fd >= 0 && socket.in_flight < window) {
    const ssize_t size = recv(socket.fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
    umw_datagram_head head{};
    if (size < static_cast<ssize_t>(sizeof head))
      break;
    std::memcpy(&head, bytes.data(), sizeof head);
    Address destination = address_from(head.address);
    if (destination == Address{any_v6, 0} && socket.peer_address)
      destination = *socket.peer_address;
    if (destination.host.is_any())
      destination.host = destination.host.is_v4() ? loopback_v4 : loopback_v6;
    if (const int refused = refusal(socket, destination.host); refused != 0) {
      socket.error = -refused;
      continue;
    }
    if (!socket.bound && !choose_port(socket))
      continue;
    if (!node_of(destination.host, socket.node, nodes_)) {
      const bool outside = !is_on_network(destination.host);
      if (outside)
        host_.outside_refused(socket.rank, destination.host);
      socket.error = outside ? ENETUNREACH : EHOSTUNREACH;
      continue;
    }
    auto segment = segment_from(socket, destination);
    segment->kind = Segment::Kind::datagram;
    segment->to = 0;
    segment->number = socket.next_datagram[segment->target]++;
    segment->bytes.assign(bytes.data() + sizeof head, bytes.data() + size);
    socket.in_flight += segment->bytes.size();
    host_.sent(socket.rank, segment->bytes.size());
    send(std::move(segment));
  }
}

// --- arriving --------------------------------------------------------------------------------------------------------

void Stack::source_read(net::Transfer& transfer)
{
  auto& segment = static_cast<Segment&>(transfer);
  segment.was_read = true;
  if (segment.was_delivered)
    under_way_.erase(&transfer);
}

void Stack::header_arrived(net::Transfer& transfer)
{
  transfer.deposit = transfer.payload;
}

void Stack::delivered(net::Transfer& transfer)
{
  auto& segment = static_cast<Segment&>(transfer);
  switch (segment.kind) {
  case Segment::Kind::syn:
    arrived_syn(segment);
    break;
  case Segment::Kind::accepted:
    arrived_answer(segment);
    break;
  case Segment::Kind::reset:
    arrived_reset(segment);
    break;
  case Segment::Kind::data:
  case Segment::Kind::end:
    arrived_in_stream(segment);
    break;
  case Segment::Kind::datagram:
    arrived_datagram(segment);
    break;
  }
  segment.was_delivered = true;
  if (segment.was_read)
    under_way_.erase(&transfer);
}

// The NIC has given up on it; for IP that is a link that is down.
void Stack::failed(net::Transfer& transfer, net::TransferFailure)
{
  auto& segment = static_cast<Segment&>(transfer);
  Socket* socket = find(segment.from);
  if (segment.kind == Segment::Kind::datagram) {
    if (socket != nullptr)
      socket->in_flight -= segment.bytes.size();
    take_datagram(segment, {{}, {}, {}, true});
  } else if (socket != nullptr)
    fail(*socket, EHOSTUNREACH);
  under_way_.erase(&transfer);
}

Stack::Socket* Stack::listener_at(NodeIndex node, Address address) const
{
  const auto found = ports_[static_cast<int>(Type::stream)].find({node, address.port});
  if (found == ports_[static_cast<int>(Type::stream)].end())
    return nullptr;
  for (const Id id : found->second) {
    Socket* socket = find(id);
    if (socket->state == Socket::State::listening && covers(socket->own.host, socket->only_v6, address.host))
      return socket;
  }
  return nullptr;
}

void Stack::arrived_syn(const Segment& segment)
{
  Socket* listener = listener_at(segment.target, segment.destination);
  if (listener == nullptr || static_cast<int>(listener->waiting.size()) >= listener->backlog) {
    answer(segment, false, 0);
    return;
  }
  Socket& connection = make(listener->rank, segment.target, Type::stream);
  connection.state = Socket::State::connected;
  connection.own = segment.destination;
  connection.peer_address = segment.sender;
  connection.peer = segment.from;
  listener->waiting.push_back(connection.id);
  const char one = 1;
  if (::send(listener->fd, &one, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1)
    host_.socket_changed(listener->rank);
  answer(segment, true, connection.id);
}

void Stack::arrived_answer(const Segment& segment)
{
  Socket* socket = find(segment.to);
  if (socket == nullptr || socket->state != Socket::State::connecting) {
    answer(segment, false, 0); // nobody waits for it any more
    return;
  }
  socket->state = Socket::State::connected;
  socket->peer = segment.from;
  drain_filling(*socket);
  host_.socket_changed(socket->rank);
  pump(*socket);
}

void Stack::arrived_reset(const Segment& segment)
{
  Socket* socket = find(segment.to);
  if (socket == nullptr)
    return;
  if (socket->closed)
    erase(segment.to);
  else if (socket->type == Type::datagram) {
    socket->error = ECONNREFUSED;
    ::send(socket->fd, "", 0,
           MSG_NOSIGNAL | MSG_DONTWAIT); // no datagram, which would have a head: the rank is to ask for the error
    host_.socket_changed(socket->rank);
  } else
    fail(*socket, socket->state == Socket::State::connecting ? ECONNREFUSED : ECONNRESET);
}

void Stack::arrived_in_stream(Segment& segment)
{
  Socket* socket = find(segment.to);
  if (socket == nullptr || socket->state != Socket::State::connected ||
      (socket->closed && segment.kind == Segment::Kind::data)) {
    if (segment.kind == Segment::Kind::data)
      answer(segment, false, segment.to);
    else if (Socket* sender = find(segment.from))
      end_if_over(*sender);
    return;
  }
  if (segment.kind == Segment::Kind::data)
    host_.received(socket->rank, segment.bytes.size());
  socket->early.emplace(segment.number, std::pair(segment.kind == Segment::Kind::end, std::move(segment.bytes)));
  while (!socket->early.empty() && socket->early.begin()->first == socket->next_in) {
    auto& [is_end, bytes] = socket->early.begin()->second;
    if (is_end)
      socket->end_received = true;
    else {
      if (socket->held.empty() && socket->fd >= 0)
        host_.backlog_changed(socket->rank, 1);
      socket->held.push_back(std::move(bytes));
    }
    socket->early.erase(socket->early.begin());
    ++socket->next_in;
  }
  put_into_pair(*socket);
}

void Stack::put_into_pair(Socket& socket)
{
  if (socket.fd < 0) // not accepted yet
    return;
  bool changed = false;
  std::size_t taken = 0;
  while (!socket.held.empty()) {
    const std::vector<char>& first = socket.held.front();
    const ssize_t size = ::send(socket.fd, first.data() + socket.held_offset, first.size() - socket.held_offset,
                                MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size < 0 && errno == EAGAIN)
      break;
    // Otherwise the rank reads no more (shutdown): it is lost.
    const std::size_t done = size < 0 ? first.size() - socket.held_offset : static_cast<std::size_t>(size);
    taken += done;
    changed = true;
    socket.held_offset += done;
    if (socket.held_offset == first.size()) {
      socket.held.pop_front();
      socket.held_offset = 0;
      if (socket.held.empty())
        host_.backlog_changed(socket.rank, -1);
    }
  }
  if (socket.held.empty() && socket.end_received) {
    ::shutdown(socket.fd, SHUT_WR);
    changed = true;
  }
  if (changed)
    host_.socket_changed(socket.rank);
  if (Socket* sender = find(socket.peer); sender != nullptr && taken > 0) {
    sender->in_flight -= std::min(taken, sender->in_flight);
    const bool had_no_room = sender->in_flight + taken >= window;
    const Id sender_id = sender->id;
    pump(*sender);
    if (sender = find(sender_id); had_no_room && sender != nullptr)
      host_.socket_changed(sender->rank);
  }
}

// A NIC may let a short one overtake a long one, which a network of Ethernet frames does not.
void Stack::arrived_datagram(Segment& segment)
{
  if (Socket* sender = find(segment.from)) {
    sender->in_flight -= segment.bytes.size();
    pump_datagrams(*sender);
    host_.socket_changed(sender->rank);
  }
  take_datagram(segment, {segment.sender, segment.destination, std::move(segment.bytes)});
}

void Stack::take_datagram(const Segment& segment, Datagram datagram_or_gap)
{
  const std::pair from{segment.from, segment.target};
  Datagrams& way = datagrams_[from];
  way.early.emplace(segment.number, std::move(datagram_or_gap));
  while (!way.early.empty() && way.early.begin()->first == way.next) {
    const Datagram datagram = std::move(way.early.begin()->second);
    way.early.erase(way.early.begin());
    ++way.next;
    if (!datagram.lost)
      deliver(datagram, segment);
  }
  if (way.early.empty() && find(segment.from) == nullptr)
    datagrams_.erase(from);
}

void Stack::deliver(const Datagram& datagram, const Segment& segment)
{
  const auto found = ports_[static_cast<int>(Type::datagram)].find({segment.target, datagram.destination.port});
  if (found != ports_[static_cast<int>(Type::datagram)].end())
    for (const Id id : found->second) {
      Socket& socket = *find(id);
      if (!covers(socket.own.host, socket.only_v6, datagram.destination.host) ||
          (socket.peer_address && *socket.peer_address != datagram.sender))
        continue;
      const umw_datagram_head head{to_gate(datagram.sender)};
      std::vector<char> bytes(sizeof head + datagram.bytes.size());
      std::memcpy(bytes.data(), &head, sizeof head);
      std::copy(datagram.bytes.begin(), datagram.bytes.end(), bytes.begin() + sizeof head);
      if (::send(socket.fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >=
          0) { // else there is no room: it is lost
        host_.received(socket.rank, datagram.bytes.size());
        host_.socket_changed(socket.rank);
      }
      return;
    }
  answer(segment, false, 0); // ICMP: port unreachable
}

void Stack::drop_backlog(Socket& socket)
{
  if (!socket.held.empty() && socket.fd >= 0)
    host_.backlog_changed(socket.rank, -1);
  socket.held.clear();
  socket.held_offset = 0;
}

void Stack::fail(Socket& socket, int error)
{
  socket.error = error;
  if (socket.state == Socket::State::connecting) {
    socket.state = Socket::State::refused;
    forget_connection(socket);
  } else
    socket.state = Socket::State::failed;
  drop_backlog(socket);
  if (socket.fd >= 0)
    ::close(std::exchange(socket.fd, -1)); // the rank's end: POLLHUP
  if (socket.closed)
    erase(socket.id);
  else
    host_.socket_changed(socket.rank);
}

void Stack::end_if_over(Socket& socket)
{
  if (socket.closed && socket.end_sent && socket.in_flight == 0)
    erase(socket.id);
}

} // namespace umwelt::sockets
