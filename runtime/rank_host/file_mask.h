// SPDX-License-Identifier: LGPL-2.1-or-later
// umask(2) of the process for a while: a rank's own may take every right from the files that Umwelt makes.
#pragma once

#include <sys/stat.h>

namespace umwelt::rank_host
{

class FileMask
{
public:
  explicit FileMask(mode_t mask = 022) : before_(umask(mask)) {}
  ~FileMask() { umask(before_); }
  FileMask(const FileMask&) = delete;
  FileMask& operator=(const FileMask&) = delete;
  [[nodiscard]] mode_t before() const { return before_; }

private:
  mode_t before_;
};

} // namespace umwelt::rank_host
