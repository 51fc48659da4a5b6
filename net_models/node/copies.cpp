// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/node/copies.h"

#include <algorithm>
#include <cmath>

namespace umwelt::net
{

namespace
{
constexpr double ps_per_second = 1e12;
constexpr double rounding = 1e-3; // bytes
} // namespace

SimTime Copies::alone(std::uint64_t bytes) const
{
  return static_cast<SimTime>(std::ceil(static_cast<double>(bytes) * ps_per_second / std::min(core_, socket_)));
}

double Copies::rate() const
{
  return std::min(core_, socket_ / static_cast<double>(active_.size())) / ps_per_second;
}

void Copies::advance()
{
  const SimTime now = timeline_.now();
  if (!active_.empty())
    given_ += static_cast<double>(now - updated_) * rate();
  updated_ = now;
}

void Copies::plan()
{
  if (active_.empty()) {
    given_ = 0;
    timeline_.cancel(completion_);
    return;
  }
  const auto first =
      std::min_element(active_.begin(), active_.end(), [](const Copy* a, const Copy* b) { return a->end_ < b->end_; });
  const double left = std::max((*first)->end_ - given_, 0.0);
  timeline_.schedule(completion_, updated_ + static_cast<SimTime>(std::ceil(left / rate())));
}

void Copies::begin(Copy& copy, std::uint64_t bytes)
{
  advance();
  copy.end_ = given_ + static_cast<double>(bytes);
  active_.push_back(&copy);
  plan();
}

void Copies::forget(const Copy& copy)
{
  advance();
  std::erase(active_, &copy);
  plan();
}

void Copies::complete()
{
  advance();
  std::vector<Copy*> over;
  std::erase_if(active_, [&](Copy* copy) {
    if (copy->end_ > given_ + rounding)
      return false;
    over.push_back(copy);
    return true;
  });
  plan();
  for (Copy* copy : over)
    copy->copied();
}

} // namespace umwelt::net
