// SPDX-License-Identifier: LGPL-2.1-or-later
// Where a run's page is served: ADDR:PORT, [IPv6]:PORT. Port 0: a free one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/descriptor.h"

namespace umwelt::serve
{

struct Address {
  std::string host = "127.0.0.1"; // IPv4 or IPv6, as numbers
  std::uint16_t port = 0;
};

// Empty: the default. Throws UsageError.
Address parse_address(std::string_view option, std::string_view text);

// A socket that listens there; `address.port` becomes the one it has. Throws UsageError: that cannot be.
Descriptor listen_at(Address& address);

// "http://127.0.0.1:8080/TOKEN/"
std::string url_of(const Address& address, std::string_view token);

} // namespace umwelt::serve
