// SPDX-License-Identifier: LGPL-2.1-or-later
// How `umwelt ctl` reaches a run that was started with --ctl or --break: a local socket with an abstract name, which
// leaves nothing behind. One request per connection, one message each way, of at most `longest` bytes; the kernel says
// whose process the other end is.
//
//   request   status, continue, model=[NODES=]MODEL or cpu=[NODES=]POLICY
//   answer    "ok TEXT" or "error TEXT"
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include <sys/types.h>

#include "runtime/base/descriptor.h"

namespace umwelt
{

class ControlServer
{
public:
  static constexpr std::size_t longest = 4096;

  // Of this process. Throws std::system_error.
  ControlServer();

  // Answers all requests that have come; does not wait. Those of other users are refused (root's are not).
  void serve(const std::function<std::string(const std::string& request)>& answer);
  // Returns when a request has come, or after so many milliseconds, or a signal.
  void wait(int milliseconds);

private:
  Descriptor socket_;
};

// Sends a request to the run of that process and waits for the answer, for at most `seconds`. Throws
// std::runtime_error: there is none, it belongs to somebody else, or it does not answer.
std::string ask_run(pid_t process, const std::string& request, unsigned seconds);

} // namespace umwelt
