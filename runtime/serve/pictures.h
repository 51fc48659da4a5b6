// SPDX-License-Identifier: LGPL-2.1-or-later
// How the run was when it last told, as what a browser asks for.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace umwelt::serve
{

class Pictures
{
public:
  // `nonce`: of scripts, for the page's content security policy.
  explicit Pictures(std::string nonce);

  [[nodiscard]] const std::string& nonce() const { return nonce_; }
  // observe::now_json(). False: it is none, and nothing changes.
  bool take(const std::string& state);
  // Both are made when they are first asked for.
  const std::string& page();  // HTML
  const std::string& state(); // what its scripts ask for again and again: JSON, as in the page

private:
  std::string nonce_;
  nlohmann::ordered_json data_;
  std::optional<std::string> page_;
  std::optional<std::string> state_;
};

} // namespace umwelt::serve
