// SPDX-License-Identifier: LGPL-2.1-or-later
// Random numbers without a state: each is a function of the seed and of what it is for, so that it depends neither on
// the order in which ranks run nor on the worker process that carries them, and one kernel more changes nothing for the
// others. The function is Philox4x32-10 (J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC'11).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace umwelt::kernels
{

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

// What a kernel draws numbers for; each use has a sequence of its own.
enum class Purpose : std::uint8_t { noise, parameters, result, sampling };

class RandomKey
{
public:
  RandomKey(std::uint64_t seed, std::string_view kernel, Purpose purpose);

private:
  friend class Draws;
  std::array<std::uint32_t, 2> words_;
};

// The numbers of one call (of one of `major`, `minor` and the low 48 bits of `index`: node, rank and how many calls of
// the kernel that rank has made; for parameters node, socket and core).
class Draws
{
public:
  Draws(const RandomKey& key, std::uint32_t major, std::uint32_t minor, std::uint64_t index)
      : key_(key.words_), major_(major), minor_(minor), index_(index)
  {
  }
  // The next one, uniform in (0,1), of 53 random bits. There are 131072.
  double uniform();

private:
  std::array<std::uint32_t, 2> key_;
  std::uint32_t major_;
  std::uint32_t minor_;
  std::uint64_t index_;
  std::uint32_t next_ = 0;
};

} // namespace umwelt::kernels
