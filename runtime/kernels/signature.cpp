// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/signature.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

namespace umwelt::kernels
{

namespace
{

template <typename T> T load(const void* bytes)
{
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

// The machine is little-endian: the value of a register is that at the address of its eight bytes.
double value_at(const void* bytes, Kind kind)
{
  switch (kind) {
  case Kind::int32:
    return load<std::int32_t>(bytes);
  case Kind::uint32:
    return load<std::uint32_t>(bytes);
  case Kind::int64:
    return static_cast<double>(load<std::int64_t>(bytes));
  case Kind::uint64:
  case Kind::pointer:
    return static_cast<double>(load<std::uint64_t>(bytes));
  case Kind::float32:
    return load<float>(bytes);
  case Kind::float64:
    return load<double>(bytes);
  case Kind::character:
    return load<unsigned char>(bytes);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

template <typename T> std::uint64_t saturated(double value)
{
  using Limits = std::numeric_limits<T>;
  if (std::isnan(value))
    return 0;
  // The largest integers of 64 bits are not doubles: the power of two above them is.
  if (value >= std::ldexp(1.0, Limits::digits))
    return static_cast<std::uint64_t>(Limits::max());
  if (value <= static_cast<double>(Limits::min()))
    return static_cast<std::uint64_t>(Limits::min());
  return static_cast<std::uint64_t>(static_cast<T>(value));
}

std::uint64_t bits_of(Kind kind, double value)
{
  switch (kind) {
  case Kind::int32:
    return saturated<std::int32_t>(value);
  case Kind::uint32:
    return saturated<std::uint32_t>(value);
  case Kind::int64:
    return saturated<std::int64_t>(value);
  case Kind::uint64:
  case Kind::pointer:
    return saturated<std::uint64_t>(value);
  case Kind::float32:
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  case Kind::float64:
    return std::bit_cast<std::uint64_t>(value);
  case Kind::character:
    return saturated<unsigned char>(value);
  }
  return 0;
}

std::size_t size_of(Kind kind)
{
  switch (kind) {
  case Kind::character:
    return sizeof(char);
  case Kind::int32:
  case Kind::uint32:
  case Kind::float32:
    return sizeof(std::int32_t);
  default:
    return sizeof(std::uint64_t);
  }
}

} // namespace

std::optional<std::size_t> Signature::position(std::string_view parameter) const
{
  const auto found = std::find_if(parameters_.begin(), parameters_.end(),
                                  [&](const Parameter& candidate) { return candidate.name == parameter; });
  if (found == parameters_.end())
    return std::nullopt;
  return static_cast<std::size_t>(found - parameters_.begin());
}

void Signature::assign_slots()
{
  std::uint32_t general = 0;
  std::uint32_t vector = 0;
  std::uint32_t stack = 0;
  slots_.clear();
  for (const Parameter& parameter : parameters_) {
    if (is_floating(parameter.kind) && !parameter.by_reference)
      slots_.push_back(vector < std::size(CallRegisters{}.vector) ? Slot{Place::vector, vector++}
                                                                  : Slot{Place::stack, stack++});
    else
      slots_.push_back(general < std::size(CallRegisters{}.general) ? Slot{Place::general, general++}
                                                                    : Slot{Place::stack, stack++});
  }
}

// Of an argument: eight of them.
const std::uint64_t* Signature::bytes_of(const CallRegisters& frame, std::size_t parameter) const
{
  const std::array<const std::uint64_t*, 3> places{frame.general.data(), frame.vector.data(), frame.stack};
  return places[static_cast<std::size_t>(slots_[parameter].place)] + slots_[parameter].index;
}

void Signature::read(const CallRegisters& frame, std::span<double> values) const
{
  assert(values.size() >= parameters_.size());
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const void* bytes = bytes_of(frame, i);
    if (parameters_[i].by_reference)
      bytes = load<const void*>(bytes);
    values[i] = bytes != nullptr ? value_at(bytes, parameters_[i].kind) : std::numeric_limits<double>::quiet_NaN();
  }
}

void Signature::set(const CallRegisters& frame, std::size_t parameter, double value) const
{
  assert(parameters_[parameter].by_reference);
  const std::uint64_t bits = bits_of(parameters_[parameter].kind, value);
  if (void* const target = load<void*>(bytes_of(frame, parameter)); target != nullptr)
    std::memcpy(target, &bits, size_of(parameters_[parameter].kind)); // little-endian
}

std::uint64_t Signature::result_bits(double value) const
{
  return result_ ? bits_of(*result_, value) : 0;
}

bool Signature::result_in_vector() const
{
  return result_ && is_floating(*result_);
}

} // namespace umwelt::kernels
