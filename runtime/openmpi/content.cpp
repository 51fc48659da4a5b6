// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/openmpi/content.h"

#include <array>
#include <fstream>

namespace umwelt::openmpi
{

std::uint64_t content_hash(const std::vector<std::filesystem::path>& files)
{
  constexpr std::uint64_t offset_basis = 0xcbf29ce484222325;
  constexpr std::uint64_t prime = 0x100000001b3;
  std::uint64_t hash = offset_basis;
  std::array<char, 65536> buffer;
  for (const std::filesystem::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    while (in.read(buffer.data(), buffer.size()), in.gcount() > 0)
      for (std::streamsize i = 0; i < in.gcount(); ++i)
        hash = (hash ^ static_cast<unsigned char>(buffer[static_cast<std::size_t>(i)])) * prime;
  }
  return hash;
}

} // namespace umwelt::openmpi
