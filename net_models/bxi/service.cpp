// SPDX-License-Identifier: LGPL-2.1-or-later
#include "net_models/bxi/service.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "runtime/base/parameters.h"

namespace umwelt::net
{

BxiService::BxiService(const BxiParameters& parameters)
{
  constexpr std::uint64_t most = 1'000'000;
  std::string_view list = parameters.service;
  all_ = list == "*";
  while (!list.empty() && !all_) {
    const auto end = list.find(';');
    const std::string_view item = list.substr(0, end);
    const auto dash = item.find('-');
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    if (!parse_count(item.substr(0, dash), first) ||
        !parse_count(dash == std::string_view::npos ? item : item.substr(dash + 1), last) || last < first ||
        last >= most)
      throw std::invalid_argument(
          fmt::format("parameter service of model bxi: expected ranks and ranges separated by ';' "
                      "(0;4-7), or '*', got '{}'. Correct the list.",
                      item));
    if (processes_.size() <= last)
      processes_.resize(last + 1);
    std::fill(processes_.begin() + static_cast<std::ptrdiff_t>(first),
              processes_.begin() + static_cast<std::ptrdiff_t>(last) + 1, true);
    list = end == std::string_view::npos ? std::string_view{} : list.substr(end + 1);
  }
}

} // namespace umwelt::net
