// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/bootstrap/spawn_request.h"

#include <charconv>
#include <stdexcept>

namespace umwelt::bootstrap
{

namespace
{

std::pair<std::string, std::string> attribute(std::string_view text)
{
  const auto equals = text.find('=');
  if (equals == std::string_view::npos)
    throw std::invalid_argument("an attribute without a value");
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

int number(std::string_view text)
{
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw std::invalid_argument("a number of ranks that is none");
  return value;
}

void read_text(char what, std::string_view text, SpawnRequest& request)
{
  if (what == 'J') {
    request.attributes.push_back(attribute(text));
    return;
  }
  if (what == 'N') {
    request.programs.emplace_back().ranks = number(text);
    return;
  }
  if (request.programs.empty())
    throw std::invalid_argument("words before the first program");
  SpawnProgram& program = request.programs.back();
  switch (what) {
  case 'C':
    program.name = text;
    break;
  case 'A':
    program.argv.emplace_back(text);
    break;
  case 'E':
    program.environment.emplace_back(text);
    break;
  case 'D':
    program.directory = text;
    break;
  case 'I':
    program.attributes.push_back(attribute(text));
    break;
  default:
    throw std::invalid_argument("a word of no known kind");
  }
}

} // namespace

SpawnRequest read_spawn_request(std::string_view bytes)
{
  SpawnRequest request;
  while (!bytes.empty()) {
    const auto end = bytes.find('\0');
    if (end == std::string_view::npos || end == 0)
      throw std::invalid_argument("a text without an end, or an empty one");
    read_text(bytes.front(), bytes.substr(1, end - 1), request);
    bytes.remove_prefix(end + 1);
  }
  if (request.programs.empty())
    throw std::invalid_argument("no program");
  return request;
}

const std::string* find_attribute(const Attributes& attributes, std::string_view key)
{
  for (const auto& [name, value] : attributes)
    if (name == key)
      return &value;
  return nullptr;
}

} // namespace umwelt::bootstrap
