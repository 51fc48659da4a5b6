// SPDX-License-Identifier: LGPL-2.1-or-later
// A file that a user has asked for by an option: report, trace, fitted parameters, figures. The one way to write them:
// - a regular file, or one that is not there yet, appears whole, by rename(2), or not at all: until finish() it has no
//   name (O_TMPFILE of open(2)), where the file system can do that, otherwise NAME.PID.partial. A file that was there
//   keeps its owner and permissions, a new one has those of the umask. A symbolic link stays: it is its target that is
//   replaced.
// - anything else (devices, FIFOs, what a descriptor of this process leads to: /dev/stdout, /dev/fd/N) is written in
//   place, and so is a regular file in a directory where nothing can be made;
// - what is to be read as it grows (Growth::followed) appears at once, and is added to.
// All of it is opened by the constructor, so what cannot be written is known before hours have been spent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace umwelt::observe
{

class ResultFile
{
public:
  enum class Growth : std::uint8_t { hidden, followed };

  // `option` is for messages ("--trace"); `path` is relative to the present working directory. Throws
  // std::invalid_argument if it cannot be written. A FIFO that nobody reads is waited for, and that is said on stderr.
  // Followed: what was there stays until begin(), so that of several none is lost if one of them is refused.
  ResultFile(std::string option, const std::string& path, Growth growth = Growth::hidden);
  // Not finished: nothing is left of it, but for what was written in place.
  ~ResultFile();
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;

  // Whether the constructor would throw, without waiting and without a trace: then it throws the same.
  static void check(const std::string& option, const std::string& path);

  // Text to append to; call flush_if_large() after each record, so that it stays small.
  [[nodiscard]] std::string& buffer() { return buffer_; }
  void flush_if_large()
  {
    if (buffer_.size() >= large)
      flush();
  }
  // Followed: empties it.
  void begin() { flush(); }
  // Followed: adds text at its end. What goes wrong is told by finish().
  void add(std::string_view text)
  {
    buffer_ += text;
    flush();
  }
  // Writes what is left and gives the file its name. Throws std::runtime_error if any of it could not be written; what
  // there is of a regular file then gets the name NAME.PID.partial, if `keep_part`.
  void finish(std::string_view next_step = "Make room or name another file, and run again.", bool keep_part = false);
  // Bytes so far, the buffer's included.
  [[nodiscard]] std::uint64_t bytes() const { return written_ + buffer_.size(); }
  // Both would replace the same file.
  [[nodiscard]] bool same_file(const ResultFile& other) const;

private:
  static constexpr std::size_t large = 256 << 10;
  void open_in_place(const std::string& path);
  void open_followed(const std::string& path, bool exists);
  bool open_beside();
  [[noreturn]] void refuse(int error) const;
  void flush();
  // Gives the new file the name that it is to have. Returns an errno.
  int commit();
  [[nodiscard]] int give_name(const std::string& name) const;

  std::string option_;
  std::string path_; // as given, for messages
  std::string
      final_; // of the file to be replaced, absolute: ranks change the working directory. Empty: written in place
  std::string partial_;   // NAME.PID.partial
  bool named_ = false;    // the new file has that name
  bool truncate_ = false; // before the first write
  std::string made_;      // followed: was not there, and has not begun
  int fd_ = -1;
  int error_ = 0; // of the first write that failed; nothing is written after it
  std::uint64_t written_ = 0;
  std::string buffer_;
};

} // namespace umwelt::observe
