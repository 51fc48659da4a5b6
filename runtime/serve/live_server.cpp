// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/serve/live_server.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/serve/protocol.h"

namespace umwelt::serve
{

namespace
{

constexpr int lowest = 10; // descriptors that do not stand where the program's are to be

[[noreturn]] void cannot(std::string_view what, int error)
{
  throw std::runtime_error(
      fmt::format("--serve: expected {}, got: {}. Next step: run without --serve", what, std::strerror(error)));
}

Descriptor lifted(const Descriptor& descriptor)
{
  Descriptor made(fcntl(descriptor.get(), F_DUPFD_CLOEXEC, lowest));
  if (made.get() < 0)
    cannot("a descriptor", errno);
  return made;
}

// 128 bits that nobody can guess.
std::string random_token()
{
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    cannot("random bytes", errno);
  std::string token;
  for (const unsigned char byte : bytes)
    token += fmt::format("{:02x}", byte);
  return token;
}

// With nothing of the run's environment, which is meant for its ranks.
pid_t start(const std::string& program, const Descriptor& listening, const Descriptor& channel,
            const Descriptor& wishes)
{
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, listening.get(), listening_descriptor);
  posix_spawn_file_actions_adddup2(&actions, channel.get(), channel_descriptor);
  posix_spawn_file_actions_adddup2(&actions, wishes.get(), wishes_descriptor);
  std::string name = "umwelt-serve";
  std::string run = fmt::format("{}", getpid());
  std::array<char*, 3> argv = {name.data(), run.data(), nullptr};
  std::array<char*, 1> environment = {nullptr};
  pid_t process = -1;
  const int error = posix_spawn(&process, program.c_str(), &actions, nullptr, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    cannot(program + " to start", error);
  return process;
}

} // namespace

LiveServer::LiveServer(Address address, const std::string& program)
{
  const Descriptor listening = lifted(listen_at(address));
  const Descriptor memory(memfd_create("umwelt-wishes", MFD_CLOEXEC));
  std::array<int, 2> ends{};
  if (memory.get() < 0 || ftruncate(memory.get(), sizeof(Wishes)) != 0 ||
      socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    cannot("a channel to the page's server", errno);
  channel_ = Descriptor(ends[0]);
  const Descriptor theirs(ends[1]);
  void* const page = mmap(nullptr, sizeof(Wishes), PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (page == MAP_FAILED)
    cannot("memory to share with the page's server", errno);
  wishes_ = new (page) Wishes;
  process_ = start(program, listening, lifted(theirs), lifted(memory));
  const std::string token = random_token();
  Message message;
  token.copy(&message.token[0], sizeof message.token - 1);
  if (::send(channel_.get(), &message, sizeof message, MSG_NOSIGNAL) != sizeof message)
    cannot("the page's server to listen", errno);
  url_ = url_of(address, token);
}

LiveServer::~LiveServer()
{
  channel_ = Descriptor();
  kill(process_, SIGKILL);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

const std::atomic<std::uint32_t>& LiveServer::asked() const
{
  return wishes_->look;
}

void LiveServer::answered()
{
  wishes_->look.store(0, std::memory_order_relaxed);
}

void LiveServer::send(const std::string& state, bool last, std::chrono::microseconds took)
{
  const Descriptor file(memfd_create("umwelt-state", MFD_CLOEXEC));
  if (file.get() < 0)
    return;
  for (std::size_t at = 0; at < state.size();) {
    const ssize_t written = write(file.get(), state.data() + at, state.size() - at);
    if (written <= 0)
      return;
    at += static_cast<std::size_t>(written);
  }
  Message message;
  message.kind = last ? Message::Kind::last : Message::Kind::state;
  message.microseconds =
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(took.count(), 0, std::numeric_limits<std::uint32_t>::max()));
  iovec part{&message, sizeof message};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> space{};
  msghdr whole{};
  whole.msg_iov = &part;
  whole.msg_iovlen = 1;
  whole.msg_control = space.data();
  whole.msg_controllen = space.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&whole);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int fd = file.get();
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  sendmsg(channel_.get(), &whole, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void LiveServer::show(const std::string& state, std::chrono::microseconds took)
{
  send(state, false, took);
}

void LiveServer::finish(const std::string& state)
{
  send(state, true, {});
  pollfd wanted{channel_.get(), POLLIN, 0};
  poll(&wanted, 1, longest);
}

} // namespace umwelt::serve
