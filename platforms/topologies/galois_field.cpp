// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platforms/topologies/galois_field.h"

namespace umwelt::platform
{

std::optional<GaloisField> GaloisField::of(std::uint32_t q)
{
  if (q < 2)
    return std::nullopt;
  std::uint32_t p = 2;
  while (q % p != 0)
    ++p;
  std::uint32_t rest = q;
  while (rest % p == 0)
    rest /= p;
  if (rest != 1)
    return std::nullopt;
  GaloisField field(p, q);
  // x^n is the right polynomial if some element then has all q-1 others but 0 as its powers; there is such a one.
  for (field.reduction_ = q == p ? 0 : 1; !field.find_powers(); ++field.reduction_) {
  }
  return field;
}

std::uint32_t GaloisField::add(std::uint32_t a, std::uint32_t b) const
{
  std::uint32_t sum = 0;
  for (std::uint32_t digit = 1; digit < q_; digit *= p_, a /= p_, b /= p_)
    sum += (a % p_ + b % p_) % p_ * digit;
  return sum;
}

// Horner's rule in x over the digits of b, the highest first.
std::uint32_t GaloisField::product(std::uint32_t a, std::uint32_t b) const
{
  const auto scaled = [this](std::uint32_t value, std::uint32_t factor) {
    std::uint32_t result = 0;
    for (std::uint32_t digit = 1; digit < q_; digit *= p_, value /= p_)
      result += value % p_ * factor % p_ * digit;
    return result;
  };
  const std::uint32_t top = q_ / p_;
  std::uint32_t result = 0;
  for (std::uint32_t digit = top; digit > 0; digit /= p_) {
    if (q_ > p_) // times x: what leaves on top comes back as x^n
      result = add(result % top * p_, scaled(reduction_, result / top));
    result = add(result, scaled(a, b / digit % p_));
  }
  return result;
}

bool GaloisField::find_powers()
{
  for (std::uint32_t candidate = 1; candidate < q_; ++candidate) {
    powers_.assign(1, 1);
    logarithms_.assign(q_, 0);
    for (std::uint32_t power = candidate; power > 1 && powers_.size() < q_; power = product(power, candidate)) {
      logarithms_[power] = static_cast<std::uint32_t>(powers_.size());
      powers_.push_back(power);
    }
    if (powers_.size() == q_ - 1 && product(powers_.back(), candidate) == 1)
      return true;
  }
  return false;
}

std::uint32_t GaloisField::times(std::uint32_t a, std::uint32_t b) const
{
  return a == 0 || b == 0 ? 0 : powers_[(logarithms_[a] + logarithms_[b]) % (q_ - 1)];
}

} // namespace umwelt::platform
