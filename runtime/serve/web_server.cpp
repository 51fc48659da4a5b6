// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/serve/web_server.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <climits>
#include <fmt/format.h>
#include <microhttpd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/serve/request_checks.h"

namespace umwelt::serve
{

namespace
{

constexpr unsigned most_connections = 64;
constexpr std::size_t crowded = 48;                    // from then on whoever has waited longest goes
constexpr std::size_t memory_of_connection = 16 << 10; // headers must fit
constexpr unsigned idle_timeout = 15;                  // seconds
constexpr std::chrono::seconds request_time{10};       // until a request is whole, however busily it comes,
constexpr std::chrono::seconds answer_time{60};        // and until its answer has been taken
constexpr std::size_t most_upload = 4096;              // nothing is expected
constexpr int tick = 500;                              // milliseconds

std::string own_name()
{
  std::array<char, HOST_NAME_MAX + 1> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string();
}

std::string_view header_of(MHD_Connection& connection, const char* name)
{
  const char* const value = MHD_lookup_connection_value(&connection, MHD_HEADER_KIND, name);
  return value != nullptr ? std::string_view(value) : std::string_view();
}

} // namespace

struct WebServer::Request {
  std::size_t uploaded = 0;
  Connection* connection = nullptr;
};

struct WebServer::Callbacks {
  static MHD_Result access(void* self, MHD_Connection* connection, const char* path, const char* method,
                           const char* /*version*/, const char* /*upload*/, std::size_t* upload_size, void** state)
  {
    auto& server = *static_cast<WebServer*>(self);
    if (*state == nullptr) { // the header is whole
      auto* const request = new Request;
      const MHD_ConnectionInfo* const info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
      request->connection = info != nullptr ? static_cast<Connection*>(info->socket_context) : nullptr;
      *state = request;
      return MHD_YES;
    }
    auto& request = *static_cast<Request*>(*state);
    if (*upload_size > 0) {
      request.uploaded += std::exchange(*upload_size, 0);
      return request.uploaded > most_upload ? MHD_NO : MHD_YES;
    }
    return static_cast<MHD_Result>(server.answer(*connection, request, path, method));
  }

  static void completed(void* self, MHD_Connection* /*connection*/, void** state, MHD_RequestTerminationCode /*how*/)
  {
    const std::unique_ptr<Request> request(static_cast<Request*>(std::exchange(*state, nullptr)));
    if (!request || request->connection == nullptr || !std::exchange(request->connection->answered, false))
      return;
    request->connection->since = Clock::now();
    --static_cast<WebServer*>(self)->under_way_;
  }

  static void connection(void* self, MHD_Connection* connection, void** context, MHD_ConnectionNotificationCode what)
  {
    auto& server = *static_cast<WebServer*>(self);
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
      server.connections_.erase(static_cast<Connection*>(*context));
      return;
    }
    auto made = std::make_unique<Connection>();
    made->fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    made->since = Clock::now();
    *context = made.get();
    Connection& kept = *made;
    server.connections_.emplace(&kept, std::move(made));
    server.opened(kept);
  }
};

WebServer::WebServer(int listening, std::string token, Pictures& pictures, Actions actions)
    : token_(std::move(token)), own_name_(own_name()), pictures_(pictures), actions_(std::move(actions))
{
  daemon_ = MHD_start_daemon(
      MHD_USE_EPOLL, 0, nullptr, nullptr, &Callbacks::access, this, MHD_OPTION_LISTEN_SOCKET, listening,
      MHD_OPTION_CONNECTION_LIMIT, most_connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory_of_connection,
      MHD_OPTION_CONNECTION_TIMEOUT, idle_timeout, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_COMPLETED,
      &Callbacks::completed, this, MHD_OPTION_NOTIFY_CONNECTION, &Callbacks::connection, this, MHD_OPTION_END);
  if (daemon_ == nullptr)
    throw std::runtime_error("umwelt-serve: expected libmicrohttpd to serve the socket, but it does not");
  descriptor_ = MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

WebServer::~WebServer()
{
  MHD_stop_daemon(daemon_);
}

int WebServer::patience() const
{
  MHD_UNSIGNED_LONG_LONG wanted = 0;
  if (MHD_get_timeout(daemon_, &wanted) != MHD_YES)
    return tick;
  return static_cast<int>(std::min<MHD_UNSIGNED_LONG_LONG>(wanted, tick));
}

void WebServer::run()
{
  MHD_run(daemon_);
  close_overdue();
}

void WebServer::changed()
{
  page_.reset();
  state_.reset();
}

// One who says little and slowly must not keep others out.
void WebServer::opened(Connection& connection)
{
  if (connections_.size() <= crowded)
    return;
  Connection* longest = nullptr;
  for (const auto& [key, one] : connections_)
    if (one.get() != &connection && one->fd >= 0 && !one->answered &&
        (longest == nullptr || one->since < longest->since))
      longest = one.get();
  if (longest == nullptr)
    return;
  shutdown(longest->fd, SHUT_RDWR);
  longest->fd = -1; // on its way
}

void WebServer::close_overdue()
{
  const Clock::time_point now = Clock::now();
  for (const auto& [key, one] : connections_)
    if (one->fd >= 0 && now - one->since > (one->answered ? answer_time : request_time)) {
      shutdown(one->fd, SHUT_RDWR);
      one->fd = -1;
    }
}

void WebServer::add_headers(MHD_Response& response) const
{
  const std::string policy =
      fmt::format("default-src 'none'; script-src 'nonce-{}'; style-src 'unsafe-inline'; img-src data:; connect-src "
                  "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                  pictures_.nonce());
  for (const auto& [name, value] : {std::pair("Content-Security-Policy", policy.c_str()),
                                    {"X-Content-Type-Options", "nosniff"},
                                    {"X-Frame-Options", "DENY"},
                                    {"Referrer-Policy", "no-referrer"},
                                    {"Cross-Origin-Resource-Policy", "same-origin"},
                                    {"Cross-Origin-Opener-Policy", "same-origin"},
                                    {"Cache-Control", "no-store"}})
    MHD_add_response_header(&response, name, value);
}

int WebServer::reply(MHD_Connection& connection, unsigned status, const char* text)
{
  MHD_Response* const response =
      MHD_create_response_from_buffer(std::strlen(text), const_cast<char*>(text), MHD_RESPMEM_PERSISTENT);
  if (response == nullptr)
    return MHD_NO;
  add_headers(*response);
  MHD_add_response_header(response, "Content-Type", "text/plain; charset=utf-8");
  if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
    MHD_add_response_header(response, "Allow", "GET, HEAD, POST");
  const MHD_Result result = MHD_queue_response(&connection, status, response);
  MHD_destroy_response(response);
  return result;
}

// Who is slow keeps the one it has begun with; others have it in common.
int WebServer::reply(MHD_Connection& connection, std::shared_ptr<MHD_Response>& kept, const std::string& text,
                     const char* type)
{
  if (!kept) {
    MHD_Response* const made =
        MHD_create_response_from_buffer(text.size(), const_cast<char*>(text.data()), MHD_RESPMEM_MUST_COPY);
    if (made == nullptr)
      return MHD_NO;
    kept = std::shared_ptr<MHD_Response>(made, MHD_destroy_response);
    add_headers(*made);
    MHD_add_response_header(made, "Content-Type", type);
  }
  return MHD_queue_response(&connection, MHD_HTTP_OK, kept.get());
}

int WebServer::answer(MHD_Connection& connection, Request& request, const char* path, const char* method)
{
  if (request.connection != nullptr && !std::exchange(request.connection->answered, true)) {
    request.connection->since = Clock::now();
    ++under_way_;
  }
  const std::string_view host = header_of(connection, "Host");
  if (!is_trusted_host(host, own_name_))
    return reply(connection, MHD_HTTP_FORBIDDEN, "403: not by that name; by the address that the run has told\n");
  const Resource resource = resource_at(path, token_);
  if (resource == Resource::none)
    return reply(connection, MHD_HTTP_NOT_FOUND, "404: nothing here; the run has told the whole address\n");
  const std::string_view how = method;
  const bool reads = how == "GET" || how == "HEAD";
  if (resource == Resource::stop) {
    if (how != "POST")
      return reply(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "405: POST ends the run\n");
    if (!is_same_origin(header_of(connection, "Origin"), host))
      return reply(connection, MHD_HTTP_FORBIDDEN, "403: a page from elsewhere cannot end the run\n");
    actions_.stop();
    return reply(connection, MHD_HTTP_ACCEPTED, "202: the run is asked to end\n");
  }
  if (!reads)
    return reply(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "405: GET or HEAD\n");
  actions_.asked();
  if (resource == Resource::page)
    return reply(connection, page_, pictures_.page(), "text/html; charset=utf-8");
  return reply(connection, state_, pictures_.state(), "application/json");
}

} // namespace umwelt::serve
