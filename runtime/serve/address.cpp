// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/serve/address.h"

#include <cerrno>
#include <cstring>
#include <limits>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "runtime/base/usage_error.h"
#include "runtime/base/values.h"

namespace umwelt::serve
{

namespace
{

constexpr std::string_view example = "For example: --serve 127.0.0.1:8080, or [::1]:8080; port 0: a free one";

struct Name {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

bool make_name(const Address& address, Name& name)
{
  auto* const four = reinterpret_cast<sockaddr_in*>(&name.storage);
  auto* const six = reinterpret_cast<sockaddr_in6*>(&name.storage);
  if (inet_pton(AF_INET, address.host.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(address.port);
    name.size = sizeof *four;
    return true;
  }
  name = {};
  if (inet_pton(AF_INET6, address.host.c_str(), &six->sin6_addr) != 1)
    return false;
  six->sin6_family = AF_INET6;
  six->sin6_port = htons(address.port);
  name.size = sizeof *six;
  return true;
}

} // namespace

Address parse_address(std::string_view option, std::string_view text)
{
  Address address;
  if (text.empty())
    return address;
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos)
    throw UsageError(option, "ADDR:PORT", in_quotes(text), example);
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']'))
    host = host.substr(1, host.size() - 2);
  address.host = host == "localhost" ? "127.0.0.1" : std::string(host);
  address.port = static_cast<std::uint16_t>(
      read_count(option, text.substr(colon + 1), "a port", 0, std::numeric_limits<std::uint16_t>::max()));
  Name name;
  if (!make_name(address, name))
    throw UsageError(option, "an address as numbers", in_quotes(host), example);
  return address;
}

Descriptor listen_at(Address& address)
{
  constexpr int backlog = 64;
  Name name;
  make_name(address, name);
  Descriptor made(socket(name.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  if (made.get() < 0 || setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(made.get(), reinterpret_cast<const sockaddr*>(&name.storage), name.size) != 0 ||
      listen(made.get(), backlog) != 0 ||
      getsockname(made.get(), reinterpret_cast<sockaddr*>(&name.storage), &name.size) != 0)
    throw UsageError(fmt::format("--serve {}:{}", address.host, address.port), "an address to listen at",
                     std::strerror(errno), "Choose another port, or none for a free one of 127.0.0.1.");
  address.port =
      ntohs(name.storage.ss_family == AF_INET ? reinterpret_cast<const sockaddr_in*>(&name.storage)->sin_port
                                              : reinterpret_cast<const sockaddr_in6*>(&name.storage)->sin6_port);
  return made;
}

std::string url_of(const Address& address, std::string_view token)
{
  const bool six = address.host.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}/{}/", six ? "[" : "", address.host, six ? "]" : "", address.port, token);
}

} // namespace umwelt::serve
