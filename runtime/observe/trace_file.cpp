// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/trace_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace umwelt::observe
{

TraceFile::TraceFile(const std::string& path) : path_(path), final_(std::filesystem::absolute(path).string())
{
  struct stat status {
  };
  const bool exists = stat(final_.c_str(), &status) == 0;
  if (!exists || S_ISREG(status.st_mode))
    unfinished_ = final_ + ".partial";
  const std::string& name = unfinished_.empty() ? final_ : unfinished_;
  fd_ = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd_ < 0)
    throw std::invalid_argument(fmt::format("--trace {}: expected a file that can be written, got: {}\n  Check the "
                                            "folder and its permissions, or name another file.",
                                            path_, std::strerror(errno)));
  buffer_.reserve(large + (large >> 2));
}

TraceFile::~TraceFile()
{
  if (fd_ < 0)
    return;
  close(fd_);
  if (!unfinished_.empty())
    std::remove(unfinished_.c_str());
}

void TraceFile::flush()
{
  const char* next = buffer_.data();
  std::size_t left = error_ == 0 ? buffer_.size() : 0;
  while (left > 0) {
    const ssize_t done = write(fd_, next, left);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0) {
      error_ = done < 0 ? errno : EIO;
      break;
    }
    next += done;
    left -= static_cast<std::size_t>(done);
    written_ += static_cast<std::uint64_t>(done);
  }
  buffer_.clear();
}

void TraceFile::finish()
{
  flush();
  if (close(fd_) != 0 && error_ == 0)
    error_ = errno;
  fd_ = -1;
  if (error_ == 0 && !unfinished_.empty() && std::rename(unfinished_.c_str(), final_.c_str()) != 0)
    error_ = errno;
  if (error_ != 0)
    throw std::runtime_error(fmt::format("--trace {}: expected the whole trace to be written, got: {} after {} "
                                         "bytes{}\n  Make room or name another file, and run again; --trace-ranks "
                                         "makes a trace smaller.",
                                         path_, std::strerror(error_), written_,
                                         unfinished_.empty() ? "" : fmt::format("; they are in {}", unfinished_)));
}

} // namespace umwelt::observe
