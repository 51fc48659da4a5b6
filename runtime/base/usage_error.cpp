// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/base/usage_error.h"

#include <fmt/format.h>

namespace umwelt
{

UsageError::UsageError(std::string_view object, std::string_view expected, std::string_view got, std::string_view next)
    : std::runtime_error(fmt::format("{}: expected {}, got {}\n  {}", object, expected, got, next))
{
}

std::string in_quotes(std::string_view text)
{
  constexpr std::size_t longest = 60;
  std::string shown = "'";
  for (const char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f)
      shown += fmt::format("\\x{:02x}", byte);
    else
      shown += c;
  }
  shown += text.size() > longest ? "...'" : "'";
  return shown;
}

} // namespace umwelt
