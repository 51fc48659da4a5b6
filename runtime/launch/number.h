// SPDX-License-Identifier: LGPL-2.1-or-later
// Numbers in text that another program of ours, or the kernel, has written: what is none counts as 0.
#pragma once

#include <charconv>
#include <string>

namespace umwelt::launch
{

template <class Number> Number number(const std::string& word)
{
  Number value{};
  std::from_chars(word.data(), word.data() + word.size(), value);
  return value;
}

} // namespace umwelt::launch
