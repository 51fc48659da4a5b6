// SPDX-License-Identifier: LGPL-2.1-or-later
// umwelt-serve RUN: serves the page of that run (live_server.h starts it). It ends with the run. A process of its own,
// which others come before where the processors are short, so that nothing simulated depends on who looks.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/descriptor.h"
#include "runtime/serve/pictures.h"
#include "runtime/serve/protocol.h"
#include "runtime/serve/web_server.h"

namespace
{

using namespace umwelt;
using namespace umwelt::serve;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto shortest_gap = 250ms; // between two questions to the run,
constexpr int rest = 20;             // and so many times what the last one took
constexpr auto watched_for = 3s;     // after a request
constexpr auto patience = 5s;        // with an answer
constexpr auto farewell = 1500ms;    // pages ask every second

void step_back()
{
  // With SCHED_IDLE it would get nothing for seconds where others want all processors.
  constexpr int niceness = 10;
  setpriority(PRIO_PROCESS, 0, niceness);
  // The run's are its own affair, which tells by closing the channel.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE})
    ::signal(signal, SIG_IGN);
}

std::string random_nonce()
{
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    std::exit(EXIT_FAILURE);
  std::string nonce;
  for (const unsigned char byte : bytes)
    nonce += fmt::format("{:02x}", byte);
  return nonce;
}

struct Received {
  Message message;
  Descriptor file;
};

// Nothing: the run has gone.
std::optional<Received> receive(int channel)
{
  Received received;
  iovec part{&received.message, sizeof received.message};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> space{};
  msghdr whole{};
  whole.msg_iov = &part;
  whole.msg_iovlen = 1;
  whole.msg_control = space.data();
  whole.msg_controllen = space.size();
  if (recvmsg(channel, &whole, MSG_CMSG_CLOEXEC) != sizeof received.message)
    return std::nullopt;
  const cmsghdr* const header = CMSG_FIRSTHDR(&whole);
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    received.file = Descriptor(fd);
  }
  return received;
}

class Watch
{
public:
  Watch(pid_t run, Wishes& wishes, const std::string& token)
      : run_(run), wishes_(wishes), pictures_(random_nonce()), server_(listening_descriptor, token, pictures_,
                                                                       {[this] {
                                                                          wanted_ = true;
                                                                          watched_ = Clock::now();
                                                                        },
                                                                        [this] { stop_at_ = Clock::now(); }})
  {
  }

  // Until the run has gone.
  void serve()
  {
    std::array<pollfd, 2> wanted = {{{server_.descriptor(), POLLIN, 0}, {channel_descriptor, POLLIN, 0}}};
    for (;;) {
      if (poll(wanted.data(), wanted.size(), std::min(server_.patience(), ask())) < 0 && errno != EINTR)
        return;
      if (wanted[1].revents != 0 && !take())
        return;
      server_.run();
      const Clock::time_point now = Clock::now();
      if (stop_at_ && (server_.under_way() == 0 || now - *stop_at_ > farewell))
        stop(); // whoever asked for it has been answered
      if (ended_ && !said_ && (now - *ended_ > farewell || (!is_watched() && server_.under_way() == 0))) {
        const char byte = seen;
        send(channel_descriptor, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        said_ = true;
      }
    }
  }

private:
  [[nodiscard]] bool is_watched() const { return watched_ && Clock::now() - *watched_ < watched_for; }

  // Asks the run how it is, if somebody wants to know and it may be asked. Milliseconds until there may be more to ask.
  int ask()
  {
    constexpr int longest = 500;
    if (pending_ && wishes_.look.load(std::memory_order_relaxed) == 0 && Clock::now() - next_ > patience)
      pending_ = false; // it has answered, but its answer has not come
    if (!wanted_ || pending_ || ended_)
      return longest;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next_ - Clock::now()).count();
    if (left > 0)
      return static_cast<int>(std::min<long>(left, longest));
    wanted_ = false;
    pending_ = true;
    next_ = Clock::now();
    wishes_.look.store(1, std::memory_order_relaxed);
    return longest;
  }

  bool take()
  {
    const std::optional<Received> received = receive(channel_descriptor);
    if (!received)
      return false;
    pending_ = false;
    if (received->file.get() >= 0 && pictures_.take(contents(received->file.get())))
      server_.changed();
    if (received->message.kind == Message::Kind::last)
      ended_ = Clock::now();
    next_ = Clock::now() +
            std::max<Clock::duration>(shortest_gap, rest * std::chrono::microseconds(received->message.microseconds));
    return true;
  }

  // As Ctrl-C would.
  void stop()
  {
    stop_at_.reset();
    if (getppid() == run_ && !ended_)
      kill(run_, SIGINT);
  }

  const pid_t run_;
  Wishes& wishes_;
  Pictures pictures_;
  bool wanted_ = true;
  bool pending_ = false; // a question to the run
  bool said_ = false;
  Clock::time_point next_ = Clock::now();
  std::optional<Clock::time_point> watched_;
  std::optional<Clock::time_point> ended_;
  std::optional<Clock::time_point> stop_at_;
  WebServer server_;
};

} // namespace

int main(int argc, char** argv)
{
  if (argc != 2) {
    fmt::print(stderr, "umwelt-serve: expected to be started by `umwelt run --serve`\n");
    return EXIT_FAILURE;
  }
  const pid_t run = std::atoi(argv[1]);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != run)
    return EXIT_FAILURE;
  close_range(wishes_descriptor + 1, ~0U, 0);
  step_back();
  void* const page = mmap(nullptr, sizeof(Wishes), PROT_READ | PROT_WRITE, MAP_SHARED, wishes_descriptor, 0);
  const std::optional<Received> first = receive(channel_descriptor);
  if (page == MAP_FAILED || !first || first->message.kind != Message::Kind::token)
    return EXIT_FAILURE;
  try {
    Watch(run, *static_cast<Wishes*>(page), std::string(&first->message.token[0])).serve();
  } catch (const std::exception&) {
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
