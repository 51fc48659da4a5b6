// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/launch/wrapper_questions.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <sys/personality.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "preload/abi/wrapper_protocol.h"
#include "runtime/job/environment.h"

namespace umwelt::launch
{

namespace
{

using Clock = std::chrono::steady_clock;

bool receive_head(int connection, umw_wrapper_head& head, std::array<Descriptor, 3>& streams)
{
  alignas(cmsghdr) std::array<char, CMSG_SPACE(3 * sizeof(int))> control{};
  iovec data{&head, sizeof head};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  if (recvmsg(connection, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL) != static_cast<ssize_t>(sizeof head))
    return false;
  std::vector<int> fds;
  if (const cmsghdr* rights = CMSG_FIRSTHDR(&message); rights != nullptr && rights->cmsg_type == SCM_RIGHTS) {
    fds.resize((rights->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    std::memcpy(fds.data(), CMSG_DATA(rights), fds.size() * sizeof(int));
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < streams.size(); ++i)
    if (head.open[i] != 0 && next < fds.size())
      streams[i] = Descriptor(fds[next++]);
  return true;
}

} // namespace

QuestionListener::QuestionListener() : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0))
{
  std::uint64_t salt = 0;
  if (getentropy(&salt, sizeof salt) != 0)
    salt = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
  name_ = fmt::format("umwelt-{}-{:x}", getpid(), salt);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name_.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name_.size());
  if (socket_.get() < 0 || bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
      listen(socket_.get(), SOMAXCONN) != 0)
    throw std::system_error(errno, std::generic_category(), "socket for the wrappers' questions");
}

std::optional<Question> receive_question(int listener)
{
  Question question;
  question.connection = Descriptor(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  const int connection = question.connection.get();
  ucred asker{};
  socklen_t length = sizeof asker;
  const timeval timeout{10, 0};
  umw_wrapper_head head{};
  if (connection < 0 || getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &asker, &length) != 0 ||
      asker.uid != getuid() || setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) != 0 ||
      !receive_head(connection, head, question.streams))
    return std::nullopt;
  question.asker = asker.pid;
  question.rank = head.rank;
  question.same_addresses = (head.persona & ADDR_NO_RANDOMIZE) != 0;
  question.searched = head.searched != 0;
  std::string text(head.bytes, '\0');
  for (std::size_t got = 0; got < text.size();) {
    const ssize_t n = recv(connection, text.data() + got, text.size() - got, 0);
    if (n <= 0)
      return std::nullopt;
    got += static_cast<std::size_t>(n);
  }
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (words.size() < 3 + static_cast<std::size_t>(head.arguments) || head.arguments == 0)
    return std::nullopt;
  question.file = words[0];
  question.path_variable = words[1];
  question.directory = words[2];
  const auto arguments = words.begin() + 3;
  question.argv.assign(arguments, arguments + head.arguments);
  question.environment.assign(arguments + head.arguments, words.end());
  return question;
}

void remove_traces(std::vector<std::string>& environment, const std::string& library)
{
  job::unset_variable(environment, UMW_WRAPPER_VARIABLE);
  const char* preload = job::variable(environment, "LD_PRELOAD");
  std::string others;
  for (std::string_view rest = preload != nullptr ? preload : ""; !rest.empty();) {
    const std::size_t end = std::min(rest.find_first_of(": "), rest.size());
    if (const std::string_view word = rest.substr(0, end); !word.empty() && word != library)
      others += fmt::format("{}{}", others.empty() ? "" : ":", word);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (others.empty())
    job::unset_variable(environment, "LD_PRELOAD");
  else
    job::set_variable(environment, "LD_PRELOAD", others);
}

} // namespace umwelt::launch
