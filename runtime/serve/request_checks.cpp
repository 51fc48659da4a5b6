// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/serve/request_checks.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace umwelt::serve
{

namespace
{

bool is_port(std::string_view text)
{
  constexpr std::size_t most = 5; // digits
  return !text.empty() && text.size() <= most && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Empty: it is none.
std::string name_of(std::string_view host)
{
  const std::size_t behind = host.starts_with('[') ? host.find(']') : std::string_view::npos;
  const std::size_t colon = host.find(':', behind == std::string_view::npos ? 0 : behind);
  if (host.starts_with('[') && (behind == std::string_view::npos || (behind + 1 != host.size() && colon != behind + 1)))
    return {};
  if (colon != std::string_view::npos && !is_port(host.substr(colon + 1)))
    return {};
  std::string name(host.substr(0, colon));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

} // namespace

bool same_text(std::string_view a, std::string_view b)
{
  std::size_t difference = a.size() ^ b.size();
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b.empty() ? '\0' : b[i % b.size()]);
  return difference == 0;
}

bool is_trusted_host(std::string_view host, std::string_view own_name)
{
  const std::string name = name_of(host);
  if (name.empty())
    return false;
  in6_addr ignored{};
  if (name.front() == '[')
    return inet_pton(AF_INET6, name.substr(1, name.size() - 2).c_str(), &ignored) == 1;
  std::string own(own_name);
  std::transform(own.begin(), own.end(), own.begin(), [](unsigned char c) { return std::tolower(c); });
  return name == "localhost" || (!own.empty() && name == own) || inet_pton(AF_INET, name.c_str(), &ignored) == 1;
}

bool is_same_origin(std::string_view origin, std::string_view host)
{
  constexpr std::string_view scheme = "http://";
  return origin.empty() || (origin.starts_with(scheme) && origin.substr(scheme.size()) == host);
}

Resource resource_at(std::string_view path, std::string_view token)
{
  if (path.size() < token.size() + 2 || path.front() != '/' || token.empty())
    return Resource::none;
  const bool known = same_text(path.substr(1, token.size()), token);
  const std::string_view rest = path.substr(1 + token.size());
  if (!known)
    return Resource::none;
  return rest == "/"             ? Resource::page
         : rest == "/state.json" ? Resource::state
         : rest == "/stop"       ? Resource::stop
                                 : Resource::none;
}

} // namespace umwelt::serve
