// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/observe/result_file.h"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace umwelt::observe
{

namespace fs = std::filesystem;

namespace
{

constexpr mode_t new_file_mode = 0666; // less what the umask takes away
constexpr mode_t permission_bits = 07777;
constexpr int most_links = 40; // as the kernel follows them, path_resolution(7)

// Where a path leads.
struct Target {
  std::string path;              // absolute; no link
  std::optional<int> descriptor; // or one of this process: /dev/stdout, /dev/fd/N
  bool exists = false;
  struct stat status {
  };
};

// N of /proc/self/fd/N and /proc/PID/fd/N. To open that again would be another open file with an offset of its own.
std::optional<int> own_descriptor(const std::string& path)
{
  for (const std::string& directory : {fmt::format("/proc/{}/fd/", getpid()), std::string("/proc/self/fd/")})
    if (path.starts_with(directory)) {
      int number = -1;
      const char* const end = path.data() + path.size();
      if (const auto [last, error] = std::from_chars(path.data() + directory.size(), end, number);
          error == std::errc() && last == end)
        return number;
    }
  return std::nullopt;
}

// Follows links one by one: the last of them may lead to a file that is yet to be made. Returns an errno.
int follow(const std::string& path, Target& target)
{
  if (path.empty())
    return ENOENT;
  fs::path now = fs::absolute(path);
  for (int links = 0;; ++links) {
    std::error_code error;
    const fs::path directory = fs::canonical(now.parent_path(), error); // /dev/fd is a link itself
    if (error)
      return error.value();
    target.path = (directory / now.filename()).string();
    target.descriptor = own_descriptor(target.path);
    if (target.descriptor)
      return fstat(*target.descriptor, &target.status) == 0 ? 0 : errno;
    target.exists = lstat(target.path.c_str(), &target.status) == 0;
    if (!target.exists)
      return errno == ENOENT && now.has_filename() ? 0 : errno == ENOENT ? EISDIR : errno;
    if (!S_ISLNK(target.status.st_mode))
      return S_ISDIR(target.status.st_mode) ? EISDIR : 0;
    if (links == most_links)
      return ELOOP;
    const fs::path leads_to = fs::read_symlink(target.path, error);
    if (error)
      return error.value();
    now = directory / leads_to;
  }
}

// A regular file, or none yet, that can be replaced by another. One that is mounted cannot.
bool replaceable(const Target& target)
{
  if (target.descriptor)
    return false;
  struct stat directory {
  };
  return !target.exists ||
         (S_ISREG(target.status.st_mode) && stat(fs::path(target.path).parent_path().c_str(), &directory) == 0 &&
          directory.st_dev == target.status.st_dev);
}

// A pipe without a reader is an error to be told, like any other, instead of the end of this process.
class NoSigpipe
{
public:
  NoSigpipe()
  {
    sigemptyset(&set_);
    sigaddset(&set_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~NoSigpipe()
  {
    const int error = errno;
    constexpr timespec now{};
    if (broken && sigismember(&before_, SIGPIPE) == 0)
      sigtimedwait(&set_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

  bool broken = false;

private:
  sigset_t set_{};
  sigset_t before_{};
};

} // namespace

ResultFile::ResultFile(std::string option, const std::string& path, Growth growth)
    : option_(std::move(option)), path_(path)
{
  Target target;
  if (const int error = follow(path, target); error != 0)
    refuse(error);
  if (target.descriptor) {
    const int flags = fcntl(*target.descriptor, F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY)
      refuse(EBADF);
    fd_ = fcntl(*target.descriptor, F_DUPFD_CLOEXEC, 3);
    if (fd_ < 0)
      refuse(errno);
  } else if (growth == Growth::followed && (!target.exists || S_ISREG(target.status.st_mode))) {
    open_followed(target.path, target.exists);
  } else if (!replaceable(target)) {
    open_in_place(target.path);
  } else {
    final_ = target.path;
    partial_ = fmt::format("{}.{}.partial", final_, getpid());
    if (target.exists && access(final_.c_str(), W_OK) != 0) // rename(2) would not ask
      refuse(errno);
    if (!open_beside()) {
      const int error = errno;
      if (!target.exists || (error != EACCES && error != EPERM && error != EROFS))
        refuse(error);
      open_in_place(std::exchange(final_, ""));
    } else if (target.exists) {
      // Of the owner as far as that is allowed; then the permissions, which a change of the owner may reduce.
      const bool same_owner = fchown(fd_, target.status.st_uid, target.status.st_gid) == 0;
      const mode_t special = same_owner ? 0 : S_ISUID | S_ISGID;
      fchmod(fd_, target.status.st_mode & permission_bits & ~special);
    }
  }
  if (growth == Growth::hidden)
    buffer_.reserve(large + (large >> 2));
}

ResultFile::~ResultFile()
{
  if (fd_ < 0)
    return;
  close(fd_);
  if (named_)
    unlink(partial_.c_str());
  if (!made_.empty())
    unlink(made_.c_str());
}

void ResultFile::check(const std::string& option, const std::string& path)
{
  Target target;
  const int error = follow(path, target);
  if (error == 0 && !target.descriptor && target.exists && !S_ISREG(target.status.st_mode)) {
    if (access(target.path.c_str(), W_OK) == 0)
      return; // a FIFO's reader is not to see it opened and closed
  } else {
    const ResultFile file(option, path);
  }
}

void ResultFile::open_in_place(const std::string& path)
{
  constexpr int how = O_WRONLY | O_CLOEXEC | O_NOCTTY;
  fd_ = open(path.c_str(), how | O_NONBLOCK);
  if (fd_ < 0 && errno == ENXIO) { // open(2): a FIFO that nobody has open for reading
    struct stat status {
    };
    if (stat(path.c_str(), &status) != 0 || !S_ISFIFO(status.st_mode))
      refuse(ENXIO);
    fmt::print(stderr, "umwelt: {} {}: a FIFO; waiting for somebody to read it\n", option_, path_);
    while ((fd_ = open(path.c_str(), how)) < 0 && errno == EINTR) {
    }
  }
  if (fd_ < 0)
    refuse(errno);
  fcntl(fd_, F_SETFL, fcntl(fd_, F_GETFL) & ~O_NONBLOCK);
  truncate_ = true;
}

// Appended to: another of these may lead to the same file.
void ResultFile::open_followed(const std::string& path, bool exists)
{
  fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, new_file_mode);
  if (fd_ < 0)
    refuse(errno);
  truncate_ = true;
  if (!exists)
    made_ = path;
}

bool ResultFile::open_beside()
{
  fd_ = open(fs::path(final_).parent_path().c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, new_file_mode);
  // What an old kernel or a file system without it answers, open(2); and linkat(2) needs /proc.
  if (fd_ >= 0 && access(fmt::format("/proc/self/fd/{}", fd_).c_str(), F_OK) == 0)
    return true;
  const int error = errno;
  if (fd_ >= 0)
    close(fd_);
  else if (error != EOPNOTSUPP && error != EISDIR && error != EINVAL && error != ENOENT)
    return false;
  const std::string name = partial_;
  for (unsigned other = 2;
       (fd_ = open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, new_file_mode)) < 0 && errno == EEXIST;
       ++other)
    partial_ = fmt::format("{}{}", name, other);
  named_ = fd_ >= 0;
  return named_;
}

void ResultFile::refuse(int error) const
{
  throw std::invalid_argument(
      fmt::format("{} {}: expected a file that can be written, got: {}\n  Check the directory and its "
                  "permissions, or name another file.",
                  option_, path_, std::strerror(error)));
}

void ResultFile::flush()
{
  made_.clear();
  if (std::exchange(truncate_, false) && ftruncate(fd_, 0) != 0 && errno != EINVAL) // no regular file: EINVAL
    error_ = errno;
  const char* next = buffer_.data();
  std::size_t left = error_ == 0 ? buffer_.size() : 0;
  NoSigpipe guard;
  while (left > 0) {
    const ssize_t done = write(fd_, next, left);
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0 && errno == EAGAIN) { // a pipe that somebody else has made so
      pollfd room{fd_, POLLOUT, 0};
      poll(&room, 1, -1);
      continue;
    }
    if (done <= 0) {
      error_ = done < 0 ? errno : EIO;
      guard.broken = error_ == EPIPE;
      break;
    }
    next += done;
    left -= static_cast<std::size_t>(done);
    written_ += static_cast<std::uint64_t>(done);
  }
  buffer_.clear();
}

int ResultFile::give_name(const std::string& name) const
{
  if (named_)
    return std::rename(partial_.c_str(), name.c_str()) == 0 ? 0 : errno;
  const std::string unnamed = fmt::format("/proc/self/fd/{}", fd_); // open(2), O_TMPFILE
  return linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

int ResultFile::commit()
{
  int error = give_name(final_);
  if (error != EEXIST) // linkat(2) does not replace, rename(2) does
    return error;
  unlink(partial_.c_str()); // of a process that had our number
  error = give_name(partial_);
  if (error == 0) {
    named_ = true;
    error = give_name(final_);
  }
  return error;
}

void ResultFile::finish(std::string_view next_step, bool keep_part)
{
  flush();
  // close(2) may be the first to tell that the data cannot be stored; a copy of the descriptor keeps the file until it
  // has a name.
  const int copy = final_.empty() ? -1 : fcntl(fd_, F_DUPFD_CLOEXEC, 3);
  if (!final_.empty() && copy < 0 && error_ == 0)
    error_ = errno;
  if (close(fd_) != 0 && error_ == 0)
    error_ = errno;
  fd_ = copy;
  if (error_ == 0 && !final_.empty())
    error_ = commit();
  std::string kept;
  if (error_ != 0 && fd_ >= 0) {
    if (keep_part && (named_ || give_name(partial_) == 0))
      kept = fmt::format("; they are in {}", partial_);
    else if (named_)
      unlink(partial_.c_str());
  }
  if (fd_ >= 0)
    close(std::exchange(fd_, -1));
  if (error_ != 0)
    throw std::runtime_error(fmt::format("{} {}: expected all of it to be written, got: {} after {} bytes{}\n  {}",
                                         option_, path_, std::strerror(error_), written_, kept, next_step));
}

bool ResultFile::same_file(const ResultFile& other) const
{
  return !final_.empty() && final_ == other.final_;
}

} // namespace umwelt::observe
