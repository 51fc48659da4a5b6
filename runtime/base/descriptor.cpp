// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/base/descriptor.h"

#include <array>
#include <cstddef>

namespace umwelt
{

std::string contents(int fd)
{
  std::string text;
  std::array<char, 64 << 10> buffer;
  for (ssize_t n = 0; (n = pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(text.size()))) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(n));
  return text;
}

} // namespace umwelt
