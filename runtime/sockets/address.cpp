// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/sockets/address.h"

#include <array>

#include <arpa/inet.h>

namespace umwelt::sockets
{

std::string IpAddress::text() const
{
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (is_v4()) {
    const in_addr address{htonl(v4())};
    return inet_ntop(AF_INET, &address, text.data(), text.size());
  }
  in6_addr address{};
  for (unsigned i = 0; i < 8; ++i) {
    address.s6_addr[i] = static_cast<std::uint8_t>(high_ >> (56 - 8 * i));
    address.s6_addr[8 + i] = static_cast<std::uint8_t>(low_ >> (56 - 8 * i));
  }
  return inet_ntop(AF_INET6, &address, text.data(), text.size());
}

} // namespace umwelt::sockets
