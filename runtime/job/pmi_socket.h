// SPDX-License-Identifier: LGPL-2.1-or-later
// A rank's PMI_FD: a socket pair whose other end the runtime keeps. The rank's end is an ordinary descriptor of the
// process, so poll, dup and close mean what they always do. The shim says when the rank has written to it and when it
// wants to read and there is nothing (preload/pmi/pmi.c); both ends are non-blocking, so that no rank can stop the
// simulation.
#pragma once

#include <functional>
#include <string>

#include "preload/abi/gate.h"
#include "runtime/bootstrap/pmi.h"

namespace umwelt::job
{

class Rank;

class PmiSocket
{
public:
  // Throws std::system_error. `spaces` outlives it.
  PmiSocket(Rank& rank, bootstrap::PmiFacts facts, bootstrap::Spaces& spaces);
  ~PmiSocket();
  PmiSocket(const PmiSocket&) = delete;
  PmiSocket& operator=(const PmiSocket&) = delete;

  // Called by a thread of the rank: reads and answers what the rank has written. Takes simulated time if there was a
  // request; does not return if the request ends the job.
  void serve();
  // Called by a thread of the rank: returns when the rank can read something, be it the end of the conversation; or
  // when `other` holds.
  void wait(const std::function<bool()>& other);
  // The fence of the job is over.
  void fence_over();
  // The rank has begun a conversation and not ended it.
  [[nodiscard]] bool unfinished() const { return session_.open(); }
  // The rank has ended; the runtime's end is closed.
  void close();
  // Closes in this process what is not of its ends, once the rank is carried by another.
  enum class End { none, of_rank, of_runtime };
  void keep(End end);

private:
  [[nodiscard]] bool unread() const;
  void send();

  Rank& rank_;
  bootstrap::PmiSession session_;
  int own_ = -1;
  std::string unsent_; // the rank does not read what it asked for
  bool serving_ = false;
};

} // namespace umwelt::job
