// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/portals/data/atomics.h"

#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace umwelt::portals::atomics
{

namespace
{

template <class T> struct is_complex : std::false_type {
};
template <class T> struct is_complex<std::complex<T>> : std::true_type {
};

static_assert(sizeof(long double) == 16 && sizeof(std::complex<long double>) == max_item);

// Calls visit with a value of the C++ type that `type` names.
template <class Visit> void with_type(ptl_datatype_t type, Visit&& visit)
{
  switch (type) {
  case PTL_INT8_T:
    return visit(std::int8_t{});
  case PTL_UINT8_T:
    return visit(std::uint8_t{});
  case PTL_INT16_T:
    return visit(std::int16_t{});
  case PTL_UINT16_T:
    return visit(std::uint16_t{});
  case PTL_INT32_T:
    return visit(std::int32_t{});
  case PTL_UINT32_T:
    return visit(std::uint32_t{});
  case PTL_FLOAT:
    return visit(float{});
  case PTL_INT64_T:
    return visit(std::int64_t{});
  case PTL_UINT64_T:
    return visit(std::uint64_t{});
  case PTL_DOUBLE:
    return visit(double{});
  case PTL_FLOAT_COMPLEX:
    return visit(std::complex<float>{});
  case PTL_DOUBLE_COMPLEX:
    return visit(std::complex<double>{});
  case PTL_LONG_DOUBLE:
    return visit(static_cast<long double>(0));
  case PTL_LONG_DOUBLE_COMPLEX:
    return visit(std::complex<long double>{});
  default:
    return;
  }
}

// Integer arithmetic wraps; it is done in 64 unsigned bits, where that is defined.
template <class T> T sum(T a, T b)
{
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
}
template <class T> T product(T a, T b)
{
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else
    return a * b;
}

// The value target gets. Combinations that valid_*() refuses leave it as it is.
template <class T> T combine(ptl_op_t operation, T target, T source, T operand)
{
  switch (operation) {
  case PTL_SUM:
    return sum(target, source);
  case PTL_PROD:
    return product(target, source);
  case PTL_SWAP:
    return source;
  case PTL_CSWAP:
    return operand == target ? source : target;
  case PTL_CSWAP_NE:
    return operand != target ? source : target;
  default:
    break;
  }
  if constexpr (!is_complex<T>::value) {
    switch (operation) {
    case PTL_MIN:
      return source < target ? source : target;
    case PTL_MAX:
      return source > target ? source : target;
    case PTL_CSWAP_LE:
      return operand <= target ? source : target;
    case PTL_CSWAP_LT:
      return operand < target ? source : target;
    case PTL_CSWAP_GE:
      return operand >= target ? source : target;
    case PTL_CSWAP_GT:
      return operand > target ? source : target;
    default:
      break;
    }
  }
  if constexpr (std::is_integral_v<T>) {
    switch (operation) {
    case PTL_LOR:
      return static_cast<T>(target != 0 || source != 0);
    case PTL_LAND:
      return static_cast<T>(target != 0 && source != 0);
    case PTL_LXOR:
      return static_cast<T>((target != 0) != (source != 0));
    case PTL_BOR:
      return static_cast<T>(target | source);
    case PTL_BAND:
      return static_cast<T>(target & source);
    case PTL_BXOR:
      return static_cast<T>(target ^ source);
    case PTL_MSWAP:
      return static_cast<T>((target & ~operand) | (source & operand));
    default:
      break;
    }
  }
  return target;
}

bool is_float(ptl_datatype_t type)
{
  return type == PTL_FLOAT || type == PTL_DOUBLE || type == PTL_LONG_DOUBLE;
}

bool is_complex_type(ptl_datatype_t type)
{
  return type == PTL_FLOAT_COMPLEX || type == PTL_DOUBLE_COMPLEX || type == PTL_LONG_DOUBLE_COMPLEX;
}

} // namespace

std::size_t item_size(ptl_datatype_t type)
{
  std::size_t size = 0;
  with_type(type, [&](auto zero) { size = sizeof(zero); });
  return size;
}

bool valid_atomic(ptl_op_t operation, ptl_datatype_t type)
{
  if (operation > PTL_BXOR || type >= PTL_DATATYPE_LAST)
    return false;
  if (is_complex_type(type))
    return operation == PTL_SUM || operation == PTL_PROD;
  return !is_float(type) || operation <= PTL_PROD; // MIN, MAX, SUM, PROD
}

bool valid_swap(ptl_op_t operation, ptl_datatype_t type)
{
  if (operation < PTL_SWAP || operation >= PTL_OP_LAST || type >= PTL_DATATYPE_LAST)
    return false;
  if (is_complex_type(type))
    return operation <= PTL_CSWAP_NE; // complex numbers have no order
  return !is_float(type) || operation != PTL_MSWAP;
}

bool uses_operand(ptl_op_t operation)
{
  return operation >= PTL_CSWAP && operation <= PTL_MSWAP;
}

void apply(ptl_op_t operation, ptl_datatype_t type, void* target, const void* source, const void* operand, void* old,
           std::size_t size)
{
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    T third = zero;
    if (uses_operand(operation))
      std::memcpy(&third, operand, sizeof third);
    auto* to = static_cast<std::byte*>(target);
    const auto* from = static_cast<const std::byte*>(source);
    auto* before = static_cast<std::byte*>(old);
    for (std::size_t at = 0; at + sizeof(T) <= size; at += sizeof(T)) {
      T a = zero;
      T b = zero;
      std::memcpy(&a, to + at, sizeof a);
      std::memcpy(&b, from + at, sizeof b);
      if (before)
        std::memcpy(before + at, &a, sizeof a);
      a = combine(operation, a, b, third);
      std::memcpy(to + at, &a, sizeof a);
    }
  });
}

} // namespace umwelt::portals::atomics
