// SPDX-License-Identifier: LGPL-2.1-or-later
// Reading the values of options. Every function takes the option as the user wrote it, for the message of the
// UsageError it throws.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/base/time.h"

namespace umwelt
{

// A decimal integer between `least` and `most`; nothing may follow it. `what` says what it counts ("a number of
// ranks").
std::uint64_t read_count(std::string_view option, std::string_view text, std::string_view what, std::uint64_t least,
                         std::uint64_t most);

// A finite number greater than zero.
double read_factor(std::string_view option, std::string_view text);

// "2us", "1.5 ms", "0": a number with one of the units ps, ns, us, ms, s; not negative.
sim::SimTime read_duration(std::string_view option, std::string_view text);

// "64", "4KiB", "2MB": bytes, at least one.
std::uint64_t read_size(std::string_view option, std::string_view text);

// "key=value"; the key must not be empty.
std::pair<std::string, std::string> read_assignment(std::string_view option, std::string_view text);

} // namespace umwelt
