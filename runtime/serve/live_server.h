// SPDX-License-Identifier: LGPL-2.1-or-later
// The run's side of --serve: starts the program that serves its page, and tells it how the run is when it asks.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include <sys/types.h>

#include "runtime/base/descriptor.h"
#include "runtime/serve/address.h"

namespace umwelt::serve
{

struct Wishes;

class LiveServer
{
public:
  // `program`: umwelt-serve. Throws UsageError: it cannot listen there; std::runtime_error: it cannot be started.
  LiveServer(Address address, const std::string& program);
  // Ends it.
  ~LiveServer();
  LiveServer(const LiveServer&) = delete;
  LiveServer& operator=(const LiveServer&) = delete;

  [[nodiscard]] const std::string& url() const { return url_; }
  // Not 0: somebody wants to know how the run is. Asked for a few times a second at most.
  [[nodiscard]] const std::atomic<std::uint32_t>& asked() const;
  // Nobody does any more, until somebody asks again.
  void answered();
  // `state`: observe::now_json(), which took so long to make. Does not wait; of a state that cannot be sent nothing is
  // said: the next one may be.
  void show(const std::string& state, std::chrono::microseconds took);
  // The same when the run has ended: those who watch see it before this returns, after `longest` at most.
  void finish(const std::string& state);

private:
  static constexpr int longest = 3000; // milliseconds

  void send(const std::string& state, bool last, std::chrono::microseconds took);

  Wishes* wishes_ = nullptr;
  Descriptor channel_;
  pid_t process_ = -1;
  std::string url_;
};

} // namespace umwelt::serve
