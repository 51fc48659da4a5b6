// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/bootstrap/pmi.h"

#include <charconv>

#include <fmt/format.h>

namespace umwelt::bootstrap
{

namespace
{

constexpr std::string_view blanks = " \t\r";
constexpr std::size_t shown_max = 60; // of a bad line, in the log

std::optional<int> number(std::string_view text)
{
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

std::string printable(std::string_view text)
{
  std::string shown;
  for (const char c : text.substr(0, shown_max))
    shown += c >= ' ' && c <= '~' ? c : '?';
  return text.size() > shown_max ? shown + "..." : shown;
}

} // namespace

std::string process_mapping(const std::vector<std::uint32_t>& node_of_rank)
{
  std::string mapping = "(vector";
  for (std::size_t i = 0; i < node_of_rank.size();) {
    const std::uint32_t first = node_of_rank[i];
    const auto ranks_of = [&](std::size_t begin, std::uint32_t node) {
      std::size_t end = begin;
      while (end < node_of_rank.size() && node_of_rank[end] == node)
        ++end;
      return end - begin;
    };
    const std::size_t each = ranks_of(i, first);
    std::uint32_t nodes = 0;
    for (; ranks_of(i, first + nodes) == each; ++nodes)
      i += each;
    mapping += fmt::format(",({},{},{})", first, nodes, each);
  }
  return mapping + ")";
}

// The pairs of one line. As in Hydra a value ends at the first blank.
class PmiSession::Request
{
public:
  explicit Request(std::string_view line)
  {
    while (!line.empty()) {
      const std::size_t begin = line.find_first_not_of(blanks);
      if (begin == std::string_view::npos)
        return;
      line.remove_prefix(begin);
      const std::string_view word = line.substr(0, line.find_first_of(blanks));
      line.remove_prefix(word.size());
      const std::size_t equals = word.find('=');
      if (equals != std::string_view::npos)
        pairs_.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    }
  }

  // Empty if there is no such pair.
  [[nodiscard]] std::string_view operator[](std::string_view name) const
  {
    for (const auto& [key, value] : pairs_)
      if (key == name)
        return value;
    return {};
  }

private:
  std::vector<std::pair<std::string_view, std::string_view>> pairs_;
};

// Null: there is none of that name.
Space* PmiSession::space_of(const Request& request) const
{
  const std::string_view name = request["kvsname"];
  return name.starts_with(kvs_prefix) ? spaces_.find(std::string(name)) : nullptr;
}

std::string PmiSession::put(const Request& request)
{
  Space* space = space_of(request);
  const std::string_view key = request["key"];
  const std::string_view value = request["value"];
  if (space == nullptr)
    return "cmd=put_result rc=-1 msg=unknown_kvsname\n";
  if (key.empty() || key.size() > key_max)
    return fmt::format("cmd=put_result rc=-1 msg=key_of_{}_bytes_expected_1_to_{}\n", key.size(), key_max);
  if (value.size() > value_max)
    return fmt::format("cmd=put_result rc=-1 msg=value_of_{}_bytes_expected_at_most_{}\n", value.size(), value_max);
  if (!space->add(std::string(key), std::string(value)))
    return "cmd=put_result rc=-1 msg=duplicate_key\n";
  return "cmd=put_result rc=0 msg=success\n";
}

std::string PmiSession::get(const Request& request) const
{
  const std::string_view key = request["key"];
  if (const Space* space = space_of(request))
    if (const std::string* value = space->find(std::string(key)))
      return fmt::format("cmd=get_result rc=0 msg=success value={}\n", *value);
  return fmt::format("cmd=get_result rc=-1 msg=key_{}_not_found value=unknown\n", key.substr(0, key_max));
}

std::string PmiSession::get_by_index(const Request& request) const
{
  const int index = number(request["idx"]).value_or(-1);
  const Space* space = space_of(request);
  const Space::Pair* entry = space != nullptr ? space->at(index) : nullptr;
  if (entry == nullptr)
    return "cmd=getbyidx_results rc=-2 reason=no_more_keyvals\n";
  return fmt::format("cmd=getbyidx_results rc=0 nextidx={} key={} val={}\n", index + 1, entry->key, entry->value);
}

std::string PmiSession::publish(const Request& request)
{
  const std::string_view service = request["service"];
  const std::string_view port = request["port"];
  if (service.empty() || port.empty() || service.size() > value_max || port.size() > value_max)
    return "cmd=publish_result info=ok rc=1 msg=service_and_port_expected\n";
  if (!spaces_[std::string(names_space)].add(std::string(service), std::string(port)))
    return "cmd=publish_result info=ok rc=1 msg=key_already_present\n";
  return "cmd=publish_result info=ok rc=0 msg=success\n";
}

std::string PmiSession::unpublish(const Request& request)
{
  if (!spaces_[std::string(names_space)].remove(std::string(request["service"])))
    return "cmd=unpublish_result info=ok rc=1 msg=service_not_found\n";
  return "cmd=unpublish_result info=ok rc=0 msg=success\n";
}

std::string PmiSession::look_up(const Request& request) const
{
  const std::string* port = spaces_[std::string(names_space)].find(std::string(request["service"]));
  if (port == nullptr)
    return "cmd=lookup_result rc=1 msg=service_not_found\n";
  return fmt::format("cmd=lookup_result port={} info=ok rc=0 msg=success\n", *port);
}

void PmiSession::serve(std::string_view line, Reply& reply)
{
  if (in_spawn_) {
    in_spawn_ = line.substr(0, line.find_first_of(blanks)) != "endcmd";
    if (!in_spawn_)
      reply.answer += "cmd=spawn_result rc=-1 msg=spawn_is_not_supported\n";
    return;
  }
  const Request request(line);
  const std::string_view command = request["cmd"];
  reply.request = true;
  if (command == "init") {
    const bool known = request["pmi_version"] == "1" && number(request["pmi_subversion"]).value_or(2) <= 1;
    reply.answer += fmt::format("cmd=response_to_init pmi_version=1 pmi_subversion=1 rc={}\n", known ? 0 : -1);
  } else if (command == "get_maxes") {
    reply.answer +=
        fmt::format("cmd=maxes kvsname_max={} keylen_max={} vallen_max={}\n", kvs_name_max, key_max, value_max);
  } else if (command == "get_appnum") {
    reply.answer += fmt::format("cmd=appnum appnum={}\n", facts_.app);
  } else if (command == "get_my_kvsname") {
    reply.answer += fmt::format("cmd=my_kvsname kvsname={}\n", facts_.kvs_name);
  } else if (command == "get_universe_size") {
    reply.answer += fmt::format("cmd=universe_size size={}\n", facts_.ranks);
  } else if (command == "put") {
    reply.answer += put(request);
  } else if (command == "get") {
    reply.answer += get(request);
  } else if (command == "getbyidx") {
    reply.answer += get_by_index(request);
  } else if (command == "barrier_in" && !in_barrier_) {
    in_barrier_ = reply.barrier = true;
  } else if (command == "finalize") {
    reply.answer += "cmd=finalize_ack rc=0\n";
  } else if (command == "abort") {
    reply.abort = number(request["exitcode"]).value_or(1);
  } else if (command == "publish_name") {
    reply.answer += publish(request);
  } else if (command == "unpublish_name") {
    reply.answer += unpublish(request);
  } else if (command == "lookup_name") {
    reply.answer += look_up(request);
  } else if (request["mcmd"] == "spawn") {
    in_spawn_ = true;
  } else {
    reply.complaint = fmt::format("PMI request \"{}\" is not one of PMI version 1", printable(line));
    reply.answer += "cmd=unknown rc=-1 msg=unknown_command\n";
  }
}

PmiSession::Reply PmiSession::receive(std::string_view bytes)
{
  Reply reply;
  while (!bytes.empty() && !reply.abort) {
    const std::size_t end = bytes.find('\n');
    line_ += bytes.substr(0, end);
    if (line_.size() > longest_line) {
      reply.complaint =
          fmt::format("PMI request of more than {} bytes, it begins \"{}\"", longest_line, printable(line_));
      reply.broken = true;
      line_.clear();
      return reply;
    }
    if (end == std::string_view::npos)
      return reply;
    bytes.remove_prefix(end + 1);
    serve(std::exchange(line_, {}), reply);
  }
  return reply;
}

std::string PmiSession::barrier_out()
{
  in_barrier_ = false;
  return "cmd=barrier_out rc=0\n";
}

} // namespace umwelt::bootstrap
