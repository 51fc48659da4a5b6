// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/output_relay.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <termios.h>
#include <unistd.h>

namespace umwelt::job
{

namespace
{

constexpr auto partial_line_timeout = std::chrono::milliseconds(100); // with a line that does not end
constexpr auto rest =
    std::chrono::milliseconds(5); // after little, so that a line does not cost a switch of threads each
constexpr auto rest_of_lines = std::chrono::milliseconds(10); // while lines are told apart
constexpr std::size_t much = 4UL << 10;                       // a pseudo-terminal holds some 20 KiB
constexpr int pipe_bytes = 1 << 20;

// What a rank has under mpirun: opal_openpty() and the flags of orte_iof_base_setup_child()
// (orte/mca/iof/base/iof_base_setup.c).
bool open_terminal(int& read_end, int& write_end)
{
  read_end = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (read_end < 0)
    return false;
  std::array<char, 64> name{};
  if (grantpt(read_end) == 0 && unlockpt(read_end) == 0 && ptsname_r(read_end, name.data(), name.size()) == 0)
    write_end = ::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  termios flags{};
  if (write_end >= 0 && tcgetattr(write_end, &flags) == 0) {
    flags.c_lflag &= ~static_cast<tcflag_t>(ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE | ECHONL);
    flags.c_iflag &= ~static_cast<tcflag_t>(ICRNL | INLCR | ISTRIP | INPCK | IXON);
    flags.c_oflag &= ~static_cast<tcflag_t>(OCRNL | ONLCR);
    if (tcsetattr(write_end, TCSANOW, &flags) == 0)
      return true;
  }
  for (int* end : {&read_end, &write_end})
    if (*end >= 0)
      close(std::exchange(*end, -1));
  return false;
}

void open_pipe(int& read_end, int& write_end)
{
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return;
  read_end = ends[0];
  write_end = ends[1];
  fcntl(write_end, F_SETPIPE_SZ, pipe_bytes); // or as large as it is
}

} // namespace

OutputRelay::OutputRelay(observe::Progress& progress, bool in_turns)
    : progress_(progress), in_turns_(in_turns), terminal_{false, isatty(1) == 1, isatty(2) == 1}
{
}

// Standard error comes by a pipe only if the progress line may be in its way.
void OutputRelay::open(Channel& channel)
{
  const bool opened = channel.stream == 1 && open_terminal(channel.read_end, channel.write_end);
  if (!opened && terminal_[static_cast<std::size_t>(channel.stream)])
    open_pipe(channel.read_end, channel.write_end);
  if (channel.read_end >= 0)
    fcntl(channel.read_end, F_SETFL, fcntl(channel.read_end, F_GETFL) | O_NONBLOCK);
}

OutputRelay::~OutputRelay()
{
  if (thread_.joinable()) {
    {
      const std::scoped_lock lock(mutex_);
      ending_ = true;
    }
    wake();
    thread_.join();
  }
  if (wake_ >= 0)
    close(wake_);
  pass_on();
  for (const Channel& channel : channels_)
    for (const int end : {channel.read_end, channel.write_end})
      if (end >= 0)
        close(end);
}

int OutputRelay::end(unsigned worker, int stream)
{
  const unsigned place = place_of(worker);
  if (place >= keeps_.size()) {
    const std::scoped_lock lock(mutex_);
    while (place >= keeps_.size()) {
      keeps_.emplace_back(false);
      for (const int each : {1, 2}) {
        channels_.emplace_back().stream = each;
        open(channels_.back());
      }
    }
    wake();
  }
  const int own = channels_[2 * place + static_cast<unsigned>(stream) - 1].write_end;
  return own >= 0 ? own : stream;
}

void OutputRelay::wake()
{
  if (wake_ >= 0)
    eventfd_write(wake_, 1);
}

void OutputRelay::start()
{
  owner_ = pthread_self();
  wake_ = eventfd(1, EFD_CLOEXEC); // the thread has channels to look at from the start
  if (wake_ < 0)
    throw std::system_error(errno, std::generic_category(), "eventfd");
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void OutputRelay::run()
{
  std::vector<pollfd> ends{{wake_, POLLIN, 0}};
  bool lines_wait = false;
  for (;;) {
    poll(ends.data(), ends.size(), lines_wait ? static_cast<int>(partial_line_timeout.count()) : -1);
    eventfd_t wakes = 0;
    if (ends.front().revents != 0)
      eventfd_read(wake_, &wakes);
    std::size_t bytes = 0;
    bool kept = false;
    {
      const std::scoped_lock lock(mutex_);
      if (ending_)
        return;
      for (std::size_t i = ends.size() - 1; i < channels_.size(); ++i)
        ends.push_back({channels_[i].read_end, POLLIN, 0});
      lines_wait = false;
      for (std::size_t i = 0; i < channels_.size(); ++i) {
        Channel& channel = channels_[i];
        if (keeps_[i / 2]) // only with the next call it is known whose it is
          kept = true;
        else
          bytes += take(channel, nobody);
        pass_on_parts(channel, false);
        lines_wait = lines_wait || !channel.lines.empty();
      }
      count_lines();
    }
    if (bytes < much) {
      pollfd wake{wake_, POLLIN, 0};
      poll(&wake, 1, static_cast<int>((kept ? rest_of_lines : rest).count()));
    }
  }
}

std::size_t OutputRelay::take(Channel& channel, int writer)
{
  if (channel.read_end < 0)
    return 0;
  std::array<char, 16UL << 10> buffer; // NOLINT(*-member-init)
  std::size_t all = 0;
  Line* line = nullptr;
  // What lies there now, not what a busy writer adds. Reading a pseudo-terminal brings what has been written to the
  // other end, n_tty_read().
  constexpr std::size_t most = 8UL << 20;
  for (ssize_t bytes = 0; all < most && (bytes = read(channel.read_end, buffer.data(), buffer.size())) > 0;) {
    if (line == nullptr)
      line = &channel.lines[writer];
    if (line->text.empty())
      line->since = Clock::now();
    line->text.append(buffer.data(), static_cast<std::size_t>(bytes));
    all += static_cast<std::size_t>(bytes);
    const std::size_t whole = line->text.rfind('\n') + 1; // 0: none
    put(channel.stream, std::string_view(line->text).substr(0, whole));
    line->text.erase(0, whole);
    if (whole > 0)
      line->since = Clock::now();
  }
  if (line != nullptr && line->text.empty())
    channel.lines.erase(writer);
  return all;
}

void OutputRelay::pass_on_parts(Channel& channel, bool everything)
{
  std::erase_if(channel.lines, [&](const auto& entry) {
    const Line& line = entry.second;
    if (!everything && Clock::now() - line.since < partial_line_timeout)
      return false;
    put(channel.stream, line.text);
    return true;
  });
}

void OutputRelay::count_lines()
{
  for (std::size_t i = 0; i < channels_.size(); i += 2) {
    bool any = false;
    for (const Channel* channel : {&channels_[i], &channels_[i + 1]})
      for (const auto& [rank, line] : channel->lines)
        any = any || rank != nobody;
    keeps_[i / 2] = any;
  }
}

void OutputRelay::burst_ended(unsigned worker, int rank)
{
  const std::scoped_lock lock(mutex_);
  const unsigned place = place_of(worker);
  for (const std::size_t i : {2UL * place, 2UL * place + 1}) {
    Channel& channel = channels_[i];
    // What the thread had taken before anybody knew that there was something to be told apart.
    if (auto part = channel.lines.extract(nobody)) {
      Line& line = channel.lines[rank];
      line.since = part.mapped().since;
      line.text += part.mapped().text;
    }
    take(channel, rank);
  }
  count_lines();
  if (keeps_[place])
    wake(); // the thread waits for what comes, and passes on what does not become a line
}

void OutputRelay::pass_on_everything()
{
  for (Channel& channel : channels_) {
    take(channel, nobody);
    pass_on_parts(channel, true);
  }
  count_lines();
}

// `mutex_` is held.
void OutputRelay::put(int stream, std::string_view text)
{
  if (text.empty() || closed_[static_cast<std::size_t>(stream)])
    return;
  if (terminal_[static_cast<std::size_t>(stream)]) {
    progress_.erase();
    line_is_open_ = text.back() != '\n';
  }
  while (!text.empty()) {
    const ssize_t bytes = ::write(stream, text.data(), text.size());
    if (bytes >= 0) {
      text.remove_prefix(static_cast<std::size_t>(bytes));
    } else if (errno == EAGAIN) { // somebody else has made it so
      pollfd room{stream, POLLOUT, 0};
      poll(&room, 1, -1);
    } else if (errno != EINTR) {
      closed_[static_cast<std::size_t>(stream)] = true;
      if (errno == EPIPE && thread_.joinable() && thread_.get_id() == std::this_thread::get_id())
        pthread_sigqueue(owner_, SIGPIPE, {}); // otherwise it has come by itself
      return;
    }
  }
}

void OutputRelay::pass_on()
{
  const std::scoped_lock lock(mutex_);
  pass_on_everything();
}

void OutputRelay::rescue()
{
  for (int attempts = 0; attempts < 100; ++attempts) {
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) {
      for (const Channel& channel : channels_) {
        const int target = channel.stream;
        for (const auto& [rank, line] : channel.lines)
          (void)!::write(target, line.text.data(), line.text.size());
        std::array<char, 4UL << 10> buffer; // NOLINT(*-member-init)
        for (ssize_t bytes = 0;
             channel.read_end >= 0 && (bytes = read(channel.read_end, buffer.data(), buffer.size())) > 0;)
          (void)!::write(target, buffer.data(), static_cast<std::size_t>(bytes));
      }
      return;
    }
    poll(nullptr, 0, 1);
  }
}

void OutputRelay::write(int stream, std::string_view text)
{
  const std::scoped_lock lock(mutex_);
  put(stream, text);
}

void OutputRelay::show_progress(sim::SimTime now, std::uint64_t events)
{
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock && !line_is_open_)
    progress_.update(now, events);
}

void OutputRelay::show_start(std::size_t begun, std::size_t all)
{
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock && !line_is_open_)
    progress_.starting(begun, all);
}

void OutputRelay::erase_progress()
{
  const std::scoped_lock lock(mutex_);
  progress_.erase();
}

} // namespace umwelt::job
