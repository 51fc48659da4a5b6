// SPDX-License-Identifier: LGPL-2.1-or-later
// Exit codes of `umwelt`. A job that ran to its end gives its own code; codes of Umwelt itself lie in 120..127 and keep
// the meaning they have elsewhere (124 of timeout(1), 125 of "the launcher itself failed" in env(1) and timeout(1), 126
// and 127 of the shell). A program may end with one of them too: the message on stderr tells who it was.
#pragma once

#include <span>

namespace umwelt
{

namespace exit_code
{
inline constexpr int ok = 0;
inline constexpr int usage = 121; // command line, host file, platform or file to write that cannot be used as written
inline constexpr int deadlock = 122; // no rank can ever go on; the report names what each waits for
inline constexpr int timeout = 124;  // --timeout ran out
inline constexpr int failure =
    125; // Umwelt failed: a bug of it, the machine lacks something (see `umwelt doctor`), or a result is not whole
inline constexpr int refused = 126;   // the program was found and cannot be run: not executable, wrong machine, static,
                                      // too many ranks for the memory, ...
inline constexpr int not_found = 127; // there is no such program
inline constexpr int signalled = 128; // + n: a rank died of signal n, or Umwelt was stopped by it (Ctrl-C: 130)
} // namespace exit_code

// The table above as `umwelt run --help` prints it.
inline constexpr const char* exit_code_help =
    "Exit code\n"
    "  that of the lowest rank that ended non-zero; 128+n if it died of signal n (Ctrl-C: 130)\n"
    "  121 wrong use (options, host file, platform)    125 Umwelt itself failed\n"
    "  122 deadlock                                    126 the program cannot be run (static, wrong machine, ...)\n"
    "  124 --timeout ran out                           127 no such program\n";

// How a rank ended.
struct RankEnd {
  int status = 0; // of exit(), 0..255; meaningless after a signal
  int signal = 0; // 0: none
};

// Exit code of a job whose ranks ended so, in rank order.
constexpr int of_job(std::span<const RankEnd> ranks)
{
  for (const RankEnd& rank : ranks) {
    if (rank.signal != 0)
      return exit_code::signalled + rank.signal;
    if ((rank.status & 0xff) != 0)
      return rank.status & 0xff;
  }
  return exit_code::ok;
}

} // namespace umwelt
