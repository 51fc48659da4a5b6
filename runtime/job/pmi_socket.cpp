// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/pmi_socket.h"

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/job/job.h"
#include "runtime/job/rank.h"

namespace umwelt::job
{

PmiSocket::PmiSocket(Rank& rank, bootstrap::PmiFacts facts, bootstrap::Spaces& spaces)
    : rank_(rank), session_(std::move(facts), spaces)
{
  std::array<int, 2> ends{};
  struct stat status {
  };
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0 ||
      fstat(ends[1], &status) != 0)
    throw std::system_error(errno, std::generic_category(), "socket for PMI");
  own_ = ends[0];
  rank.gate.pmi_fd = ends[1];
  rank.gate.pmi_inode = status.st_ino;
  rank.gate.pmi_device = status.st_dev;
}

PmiSocket::~PmiSocket()
{
  close();
}

void PmiSocket::close()
{
  if (own_ >= 0)
    ::close(own_);
  own_ = -1;
}

void PmiSocket::keep(End end)
{
  if (end != End::of_rank)
    ::close(rank_.gate.pmi_fd);
  if (end != End::of_runtime)
    close();
}

// Bytes that were sent and that no descriptor of the rank has read.
bool PmiSocket::unread() const
{
  int bytes = 0;
  return ioctl(own_, SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

void PmiSocket::send()
{
  while (!unsent_.empty()) {
    const ssize_t sent = ::send(own_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno != EAGAIN)
        unsent_.clear(); // the rank has closed its end
      break;
    }
    unsent_.erase(0, static_cast<std::size_t>(sent));
  }
  ++rank_.gate.wakes;
  rank_.notify_all();
}

void PmiSocket::serve()
{
  if (serving_) // another thread of the rank is at it, and will see this too
    return;
  serving_ = true;
  std::array<char, 4096> bytes; // NOLINT(*-member-init)
  // What a rank does not read it may not ask for without end.
  for (send(); own_ >= 0 && unsent_.empty();) {
    const ssize_t size = recv(own_, bytes.data(), bytes.size(), 0);
    if (size <= 0)
      break;
    const bootstrap::PmiSession::Reply reply = session_.receive({bytes.data(), static_cast<std::size_t>(size)});
    for (const std::string& complaint : reply.complaints)
      rank_.job.warn(rank_, complaint);
    if (reply.abort)
      rank_.job.aborted(rank_, *reply.abort, "PMI_Abort", nullptr);
    if (reply.broken)
      close();
    if (reply.request)
      rank_.job.scheduler().sleep(rank_.job.node_parameters().pmi_request);
    unsent_ += reply.answer;
    send();
    if (reply.barrier)
      rank_.job.arrive_at_fence(rank_);
  }
  serving_ = false;
}

void PmiSocket::wait(const std::function<bool()>& other)
{
  serve();
  while (own_ >= 0 && !unread() && !other())
    rank_.wait(sim::never);
}

void PmiSocket::fence_over()
{
  if (!session_.in_barrier())
    return;
  unsent_ += session_.barrier_out();
  send();
}

} // namespace umwelt::job
