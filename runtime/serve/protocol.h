// SPDX-License-Identifier: LGPL-2.1-or-later
// Between a run and the program that serves its page: descriptors that the program begins with, a page of memory that
// both see, and messages that the run sends. They are of the same build.
#pragma once

#include <atomic>
#include <cstdint>

namespace umwelt::serve
{

enum : int {
  listening_descriptor = 3, // the socket that browsers connect to
  channel_descriptor = 4,   // SOCK_SEQPACKET, to the run
  wishes_descriptor = 5     // a memory file that begins with Wishes
};

struct Wishes {
  std::atomic<std::uint32_t> look{0}; // the run is to tell how it is; it sets it back
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

// From the run. What goes with `state` and `last` is a descriptor of a memory file: observe::now_json().
struct Message {
  enum class Kind : std::uint32_t { token, state, last } kind = Kind::token;
  std::uint32_t microseconds = 0; // that the run took for it
  char token[40] = {};            // of `token`: part of every address, with the end of the text
};

// To the run: everybody who watched has seen the last state.
inline constexpr char seen = 's';

} // namespace umwelt::serve
