// SPDX-License-Identifier: LGPL-2.1-or-later
// Answers browsers. What they can make it use is bounded: connections, memory of each, the time each may take.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "runtime/serve/pictures.h"

struct MHD_Connection;
struct MHD_Daemon;
struct MHD_Response;

namespace umwelt::serve
{

class WebServer
{
public:
  using Clock = std::chrono::steady_clock;

  struct Actions {
    std::function<void()> asked; // somebody has looked
    std::function<void()> stop;  // somebody wants the run to end
  };

  // Takes the socket over. `pictures` outlives it. Throws std::runtime_error.
  WebServer(int listening, std::string token, Pictures& pictures, Actions actions);
  ~WebServer();
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  // Readable when there is something to do; and what there may be to do in any case after so many milliseconds.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] int patience() const;
  // Does it.
  void run();
  // The pictures have changed.
  void changed();
  // Answers that nobody has all of yet.
  [[nodiscard]] std::size_t under_way() const { return under_way_; }

private:
  struct Connection {
    int fd = -1;
    Clock::time_point since; // it was opened, its last answer was complete, or the present one began
    bool answered = false;   // being
  };
  struct Request;
  struct Callbacks;

  int answer(MHD_Connection& connection, Request& request, const char* path, const char* method);
  int reply(MHD_Connection& connection, unsigned status, const char* text);
  int reply(MHD_Connection& connection, std::shared_ptr<MHD_Response>& kept, const std::string& text, const char* type);
  void add_headers(MHD_Response& response) const;
  void opened(Connection& connection);
  void close_overdue();

  const std::string token_;
  const std::string own_name_;
  Pictures& pictures_;
  Actions actions_;
  MHD_Daemon* daemon_ = nullptr;
  int descriptor_ = -1;
  std::size_t under_way_ = 0;
  std::unordered_map<const Connection*, std::unique_ptr<Connection>> connections_;
  std::shared_ptr<MHD_Response> page_;
  std::shared_ptr<MHD_Response> state_;
};

} // namespace umwelt::serve
