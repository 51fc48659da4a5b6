// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/base/control_channel.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace umwelt
{

namespace
{

struct Address {
  sockaddr_un name{};
  socklen_t length = 0;
};

Address address_of(pid_t process)
{
  Address address;
  address.name.sun_family = AF_UNIX;
  const std::string text = fmt::format("umwelt-run-{}", process); // behind a zero: abstract
  std::memcpy(address.name.sun_path + 1, text.data(), text.size());
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return address;
}

bool is_readable(int fd, int milliseconds)
{
  pollfd wanted{fd, POLLIN, 0};
  return poll(&wanted, 1, milliseconds) > 0;
}

std::string receive(int fd)
{
  std::array<char, ControlServer::longest> buffer{};
  const ssize_t got = recv(fd, buffer.data(), buffer.size(), 0);
  return got > 0 ? std::string(buffer.data(), static_cast<std::size_t>(got)) : std::string{};
}

bool may_ask(int fd)
{
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && (peer.uid == geteuid() || peer.uid == 0);
}

void reply(int fd, const std::string& text)
{
  send(fd, text.data(), std::min(text.size(), ControlServer::longest), MSG_NOSIGNAL | MSG_DONTWAIT);
}

} // namespace

ControlServer::ControlServer()
{
  Descriptor made(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const Address address = address_of(getpid());
  if (made.get() < 0 || bind(made.get(), reinterpret_cast<const sockaddr*>(&address.name), address.length) != 0 ||
      listen(made.get(), 8) != 0)
    throw std::system_error(errno, std::generic_category(), "--ctl: a socket for umwelt ctl");
  socket_ = std::move(made);
}

void ControlServer::wait(int milliseconds)
{
  is_readable(socket_.get(), milliseconds);
}

void ControlServer::serve(const std::function<std::string(const std::string& request)>& answer)
{
  constexpr int patience = 100; // milliseconds, for a request that is to follow its connection at once
  for (;;) {
    const Descriptor peer(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (peer.get() < 0)
      return;
    if (!may_ask(peer.get()))
      reply(peer.get(), "error the run belongs to another user");
    else if (is_readable(peer.get(), patience))
      reply(peer.get(), answer(receive(peer.get())));
  }
}

std::string ask_run(pid_t process, const std::string& request, unsigned seconds)
{
  const Descriptor made(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const Address address = address_of(process);
  if (made.get() < 0)
    throw std::system_error(errno, std::generic_category(), "umwelt ctl: a socket");
  if (connect(made.get(), reinterpret_cast<const sockaddr*>(&address.name), address.length) != 0)
    throw std::runtime_error(
        fmt::format("process {}: expected a run that was started with umwelt run --ctl or --break, got none. "
                    "Next step: `pgrep -a umwelt` lists processes",
                    process));
  if (send(made.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0 ||
      !is_readable(made.get(), static_cast<int>(seconds) * 1000))
    throw std::runtime_error(fmt::format("run of process {}: expected an answer within {} s, got none. A run answers "
                                         "between events: is one of its ranks computing for long?",
                                         process, seconds));
  std::string text = receive(made.get());
  if (text.empty())
    throw std::runtime_error(fmt::format("run of process {}: expected an answer, but it has ended", process));
  return text;
}

} // namespace umwelt
