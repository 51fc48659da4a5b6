// SPDX-License-Identifier: LGPL-2.1-or-later
// A file that is written piece by piece and is there only when it is whole: until finish() it is called PATH.partial. What
// is no regular file (a pipe, /dev/stdout) is written as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace umwelt::observe
{

class TraceFile
{
public:
  // Relative to the present working directory. Throws std::invalid_argument if it cannot be written.
  explicit TraceFile(const std::string& path);
  // Not finished: the file is taken away.
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  // Text to append to; call flush_if_large() after each record, so that it stays small.
  [[nodiscard]] std::string& buffer() { return buffer_; }
  void flush_if_large()
  {
    if (buffer_.size() >= large)
      flush();
  }
  // Writes what is left and gives the file its name. Throws std::runtime_error if any of it could not be written; the
  // incomplete file then keeps the name that says so.
  void finish();
  // Bytes so far, the buffer's included.
  [[nodiscard]] std::uint64_t bytes() const { return written_ + buffer_.size(); }

private:
  static constexpr std::size_t large = 256 << 10;
  void flush();

  std::string path_;       // as given, for messages
  std::string final_;      // absolute: the process's working directory changes from rank to rank
  std::string unfinished_; // empty: written in place
  int fd_ = -1;
  int error_ = 0; // of the first write that failed; nothing is written after it
  std::uint64_t written_ = 0;
  std::string buffer_;
};

} // namespace umwelt::observe
