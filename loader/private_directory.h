// SPDX-License-Identifier: LGPL-2.1-or-later
// The run's private directory (mode 0700, below $TMPDIR or /tmp): files and session directories of the
// simulated nodes. It is gone afterwards whatever happens: a janitor process removes it when the run ends in any way,
// kill -9 included, and remove() does so at once on the ordinary ways out. Should both be killed, the next run sweeps
// it up.
#pragma once

#include <string>

namespace umwelt::loader
{

class PrivateDirectory
{
public:
  // Makes the directory and starts the janitor; `keep`: neither removes it (--keep-temps). Throws std::runtime_error.
  explicit PrivateDirectory(bool keep);
  ~PrivateDirectory();
  PrivateDirectory(const PrivateDirectory&) = delete;
  PrivateDirectory& operator=(const PrivateDirectory&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  void remove() noexcept;

private:
  std::string path_;
  bool keep_;
  int lock_ = -1; // an open directory, locked: it is in use
  int pipe_ = -1; // its other end is the janitor's: end of file means this process has ended
};

} // namespace umwelt::loader
