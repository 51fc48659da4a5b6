// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/standard_output.h"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/usage_error.h"
#include "runtime/job/output_relay.h"

namespace umwelt::job
{

namespace fs = std::filesystem;

namespace
{

constexpr off_t page = 4096;
constexpr off_t worth_giving_back = 1 << 20; // bytes

void write_all(int fd, const std::string& text)
{
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EAGAIN) { // somebody else has made it so
      pollfd room{fd, POLLOUT, 0};
      poll(&room, 1, -1);
    } else if (n < 0 && errno != EINTR) {
      return; // a closed pipe has raised SIGPIPE by now
    }
    done += n > 0 ? static_cast<std::size_t>(n) : 0;
  }
}

// DIR/JOB/rank.03/stdout, as Open MPI names them: the rank padded to the width of the highest.
int open_file(const plan::OutputFiles& output, unsigned job, int rank, int ranks, const std::string& label)
{
  const auto width = fmt::format("{}", ranks - 1).size();
  fs::path folder = output.directory;
  if (output.job_folder)
    folder /= fmt::format("{}", job);
  folder /= fmt::format("rank.{:0{}}", rank, width);
  std::error_code error;
  fs::create_directories(folder, error);
  const fs::path path = folder / label;
  const int fd = error ? -1 : open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0)
    throw UsageError("--output-filename " + output.directory, "a folder where files can be made",
                          error ? error.message() : path.string() + ": " + std::strerror(errno), "name another folder");
  return fd;
}

} // namespace

StandardOutput::StandardOutput(const plan::RunOptions& options, OutputRelay& relay, unsigned job, int rank, int ranks)
    : relay_(relay), tag_(options.tag_output), timestamp_(options.timestamp_output), job_(job), rank_(rank)
{
  const bool files = !options.output.directory.empty();
  const bool pass = !files || options.output.copy;
  collects_ = pass && (tag_ || timestamp_ || files);
  for (int number = 1; number <= 2; ++number) {
    Stream& stream = streams_[static_cast<std::size_t>(number - 1)];
    stream.label = number == 1 ? "stdout" : "stderr";
    if (number == 2 && options.merge_stderr) {
      stream.fd = streams_[0].fd;
      continue;
    }
    if (files)
      stream.file = open_file(options.output, job, rank, ranks, stream.label);
    if (collects_) {
      stream.fd = memfd_create("umwelt-output", MFD_CLOEXEC);
      fcntl(stream.fd, F_SETFL, O_APPEND);
      stream.target = number;
    } else {
      stream.fd = files ? stream.file : number;
    }
  }
}

StandardOutput::~StandardOutput()
{
  for (Stream& stream : streams_)
    for (const int fd : {stream.file, stream.target >= 0 ? stream.fd : -1})
      if (fd > 2)
        close(fd);
}

std::string StandardOutput::tag(const Stream& stream) const
{
  std::string text;
  if (timestamp_) {
    const std::time_t now = std::time(nullptr);
    std::array<char, 32> date{};
    text = ctime_r(&now, date.data());
    text.pop_back();
  }
  if (tag_)
    text += fmt::format("[{},{}]<{}>", job_, rank_, stream.label);
  else if (timestamp_)
    text += fmt::format("<{}>", stream.label);
  return text.empty() ? text : text + ":";
}

// Others may write to the end of the file at any moment, so it is never made shorter: what has been taken is given back as a hole.
void StandardOutput::take(Stream& stream)
{
  struct stat status {
  };
  if (fstat(stream.fd, &status) != 0 || status.st_size == stream.done)
    return;
  if (status.st_size < stream.done) // `echo ... >/dev/stderr` in a child
    stream.done = stream.given_back = 0;
  std::array<char, 65536> buffer; // NOLINT(*-member-init)
  for (ssize_t n = 0; (n = pread(stream.fd, buffer.data(), buffer.size(), stream.done)) > 0; stream.done += n)
    stream.partial.append(buffer.data(), static_cast<std::size_t>(n));
  const off_t whole_pages = stream.done & -page;
  if (whole_pages - stream.given_back >= worth_giving_back &&
      fallocate(stream.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, stream.given_back,
                whole_pages - stream.given_back) == 0)
    stream.given_back = whole_pages;
}

void StandardOutput::pass_on(Stream& stream, bool everything)
{
  if (stream.target < 0)
    return;
  take(stream);
  if (stream.partial.empty() || (!everything && stream.partial.find('\n') == std::string::npos))
    return;
  std::string out;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = stream.partial.find('\n', begin)) != std::string::npos; begin = end + 1)
    out += tag(stream) + stream.partial.substr(begin, end + 1 - begin);
  stream.partial.erase(0, begin);
  if (everything && !stream.partial.empty()) {
    out += tag(stream) + stream.partial;
    stream.partial.clear();
  }
  if (stream.file >= 0)
    write_all(stream.file, out);
  relay_.write(stream.target, out);
}

void StandardOutput::pass_on(bool everything)
{
  for (Stream& stream : streams_)
    pass_on(stream, everything);
}

} // namespace umwelt::job
