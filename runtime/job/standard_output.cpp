// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/standard_output.h"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
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

constexpr const char* option = "--output-filename";

void refuse(const plan::OutputFiles& output, const std::string& got)
{
  throw UsageError(fmt::format("{} {}", option, output.directory), "a directory where files can be made", got,
                   "name another directory");
}

// DIR/JOB/rank.03/stdout, as Open MPI names them: the rank padded to the width of the highest.
std::unique_ptr<observe::ResultFile> open_file(const plan::OutputFiles& output, unsigned job, int rank, int ranks,
                                               const std::string& label)
{
  const auto width = fmt::format("{}", ranks - 1).size();
  fs::path directory = output.directory;
  if (output.job_directory)
    directory /= fmt::format("{}", job);
  directory /= fmt::format("rank.{:0{}}", rank, width);
  std::error_code error;
  fs::create_directories(directory, error);
  if (error)
    refuse(output, error.message());
  return std::make_unique<observe::ResultFile>(option, (directory / label).string(),
                                               observe::ResultFile::Growth::followed);
}

int make_collector()
{
  const int fd = memfd_create("umwelt-output", MFD_CLOEXEC);
  if (fd < 0)
    throw std::system_error(errno, std::generic_category(), "memfd_create, to collect what a rank prints");
  fcntl(fd, F_SETFL, O_APPEND);
  return fd;
}

} // namespace

void StandardOutput::check(const plan::OutputFiles& output)
{
  if (output.directory.empty())
    return;
  fs::path directory = fs::absolute(output.directory);
  std::error_code error;
  while (!fs::exists(directory, error) && !error && directory.has_relative_path())
    directory = directory.parent_path();
  if (error)
    refuse(output, error.message());
  if (!fs::is_directory(directory, error))
    refuse(output, fmt::format("{}: {}", directory.string(), std::strerror(ENOTDIR)));
  const bool there = directory == fs::absolute(output.directory); // with all that is needed, perhaps
  if (!there && access(directory.c_str(), W_OK | X_OK) != 0)
    refuse(output, fmt::format("{}: {}", directory.string(), std::strerror(errno)));
}

StandardOutput::StandardOutput(const plan::RunOptions& options, OutputRelay& relay, unsigned job, int rank, int ranks)
    : relay_(relay), tag_(options.tag_output), timestamp_(options.timestamp_output), job_(job), rank_(rank)
{
  const bool files = !options.output.directory.empty();
  collects_ = tag_ || timestamp_ || files;
  for (int number = 1; number <= 2; ++number) {
    Stream& stream = streams_[static_cast<std::size_t>(number - 1)];
    stream.label = number == 1 ? "stdout" : "stderr";
    if (number == 2 && options.merge_stderr) {
      stream.fd = streams_[0].fd;
      continue;
    }
    if (files)
      stream.file = open_file(options.output, job, rank, ranks, stream.label);
    stream.collector = collects_;
    stream.fd = collects_ ? make_collector() : number;
    if (collects_ && (!files || options.output.copy))
      stream.target = number;
  }
}

StandardOutput::~StandardOutput()
{
  for (const Stream& stream : streams_)
    if (stream.collector && stream.fd >= 0)
      close(stream.fd);
}

void StandardOutput::begin()
{
  for (const Stream& stream : streams_)
    if (stream.file)
      stream.file->begin();
}

void StandardOutput::finish()
{
  pass_on(true);
  std::string wrong;
  for (Stream& stream : streams_) {
    try {
      if (const std::unique_ptr<observe::ResultFile> file = std::move(stream.file))
        file->finish("Make room or name another directory, and run again.");
    } catch (const std::runtime_error& error) {
      wrong += fmt::format("{}{}", wrong.empty() ? "" : "\n", error.what());
    }
  }
  if (!wrong.empty())
    throw std::runtime_error(wrong);
}

std::string StandardOutput::tag(const Stream& stream) const
{
  std::string text;
  if (timestamp_) {
    const std::time_t now = std::time(nullptr);
    std::array<char, 32> time{};
    text = ctime_r(&now, time.data());
    text.pop_back();
  }
  if (tag_)
    text += fmt::format("[{},{}]<{}>", job_, rank_, stream.label);
  else if (timestamp_)
    text += fmt::format("<{}>", stream.label);
  return text.empty() ? text : text + ":";
}

// Others may write to the end of the file at any moment, so it is never made shorter: what has been taken is given back
// as a hole.
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
  if (!stream.collector)
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
  if (stream.file)
    stream.file->add(out);
  if (stream.target >= 0)
    relay_.write(stream.target, out);
}

void StandardOutput::pass_on(bool everything)
{
  for (Stream& stream : streams_)
    pass_on(stream, everything);
}

} // namespace umwelt::job
