// SPDX-License-Identifier: LGPL-2.1-or-later
// What the user asked for cannot be done as written. The text says, in this order: the object, what was expected, what
// was given, and on a second line what to do next. Ends the run with exit_code::usage.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace umwelt
{

class UsageError : public std::runtime_error
{
public:
  using std::runtime_error::runtime_error;
  // "OBJECT: expected EXPECTED, got GOT\n  NEXT"
  UsageError(std::string_view object, std::string_view expected, std::string_view got, std::string_view next);
};

// `text` between quotes, shortened to a readable length and with unprintable bytes escaped: for user input in messages.
std::string in_quotes(std::string_view text);

} // namespace umwelt
