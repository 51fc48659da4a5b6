// SPDX-License-Identifier: LGPL-2.1-or-later
// The field of q elements, q a power of a prime: element number n stands for the polynomial whose coefficients are the
// digits of n to the base p, calculated modulo an irreducible polynomial (R. Lidl, H. Niederreiter, "Finite fields",
// 1997).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace umwelt::platform
{

class GaloisField
{
public:
  // Nothing if q is no power of a prime.
  static std::optional<GaloisField> of(std::uint32_t q);

  [[nodiscard]] std::uint32_t size() const { return q_; }
  [[nodiscard]] std::uint32_t add(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] std::uint32_t times(std::uint32_t a, std::uint32_t b) const;
  // The powers of a primitive element, from the 0th to the (q-2)th: every element but 0 once.
  [[nodiscard]] const std::vector<std::uint32_t>& powers() const { return powers_; }

private:
  GaloisField(std::uint32_t p, std::uint32_t q) : p_(p), q_(q) {}
  [[nodiscard]] std::uint32_t product(std::uint32_t a, std::uint32_t b) const; // digit by digit
  bool find_powers();

  std::uint32_t p_;
  std::uint32_t q_;
  std::uint32_t reduction_ = 0; // what x^n is, n the degree of the field over p
  std::vector<std::uint32_t> powers_;
  std::vector<std::uint32_t> logarithms_;
};

} // namespace umwelt::platform
