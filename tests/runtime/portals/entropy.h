// SPDX-License-Identifier: LGPL-2.1-or-later
// Where random tests take their decisions from: a seed, or the bytes a fuzzer mutates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>

namespace umwelt::portals::test
{

class Entropy
{
public:
  explicit Entropy(std::uint32_t seed) : random_(seed) {}
  // One byte per small decision; zeros when they are used up.
  explicit Entropy(std::span<const std::uint8_t> bytes) : bytes_(bytes), from_bytes_(true) {}

  // 0 to count - 1.
  unsigned pick(unsigned count)
  {
    if (!from_bytes_)
      return static_cast<unsigned>(random_() % count);
    unsigned value = byte();
    for (unsigned reach = 256; reach < count; reach *= 256) {
      value = value << 8 | byte();
      if (reach > count / 256)
        break;
    }
    return value % count;
  }
  std::uint32_t word()
  {
    if (!from_bytes_)
      return static_cast<std::uint32_t>(random_());
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i)
      value = value << 8 | byte();
    return value;
  }
  [[nodiscard]] bool used_up() const { return from_bytes_ && next_ == bytes_.size(); }

private:
  std::uint8_t byte() { return next_ < bytes_.size() ? bytes_[next_++] : std::uint8_t{0}; }

  std::mt19937 random_;
  std::span<const std::uint8_t> bytes_;
  std::size_t next_ = 0;
  bool from_bytes_ = false;
};

} // namespace umwelt::portals::test
