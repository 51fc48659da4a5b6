// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/bootstrap/pmi.h"

#include <algorithm>
#include <array>
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

// What answers a request, also one that is refused. abort is not answered.
struct Word {
  std::string_view command;
  std::string_view answer;
};
constexpr std::array words = {Word{"init", "response_to_init pmi_version=1 pmi_subversion=1"},
                              Word{"get_maxes", "maxes"},
                              Word{"get_appnum", "appnum"},
                              Word{"get_my_kvsname", "my_kvsname"},
                              Word{"get_universe_size", "universe_size"},
                              Word{"put", "put_result"},
                              Word{"get", "get_result"},
                              Word{"getbyidx", "getbyidx_results"},
                              Word{"barrier_in", "barrier_out"},
                              Word{"finalize", "finalize_ack"},
                              Word{"publish_name", "publish_result"},
                              Word{"unpublish_name", "unpublish_result"},
                              Word{"lookup_name", "lookup_result"},
                              Word{"abort", ""}};

std::string refusal(std::string_view answer, const std::string& message)
{
  // MPICH's clients take the value before they look at rc.
  return fmt::format("cmd={} rc=-1 msg={}{}\n", answer, message, answer == "get_result" ? " value=unknown" : "");
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
  [[nodiscard]] std::string_view operator[](std::string_view name) const { return find(name).value_or(""); }
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const
  {
    for (const auto& [key, value] : pairs_)
      if (key == name)
        return value;
    return std::nullopt;
  }

private:
  std::vector<std::pair<std::string_view, std::string_view>> pairs_;
};

std::optional<PmiSession::Mistake> PmiSession::out_of_order(std::string_view command) const
{
  if (state_ == State::before_init && command != "init")
    return Mistake{"not_initialised", "cmd=init first", std::string(command),
                   "begin with cmd=init pmi_version=1 pmi_subversion=1"};
  if (state_ == State::finalized)
    return Mistake{"finalized", "nothing after cmd=finalize", std::string(command), "finalize last, and once"};
  if (state_ == State::open && command == "init")
    return Mistake{"already_initialised", "one cmd=init", "another", "initialise PMI once in a process"};
  if (in_barrier_ && (command == "barrier_in" || command == "finalize"))
    return Mistake{"in_a_barrier", "to read cmd=barrier_out first", std::string(command),
                   "wait for the answer to cmd=barrier_in"};
  return std::nullopt;
}

// Null: there is none of that name.
Space* PmiSession::space_of(const Request& request) const
{
  const std::string_view name = request["kvsname"];
  return name.starts_with(kvs_prefix) ? spaces_.find(std::string(name)) : nullptr;
}

std::optional<PmiSession::Mistake> PmiSession::misnamed(const Request& request) const
{
  const std::string usage = request["cmd"] == "get" ? "a get is cmd=get kvsname=NAME key=KEY"
                                                    : "a put is cmd=put kvsname=NAME key=KEY value=VALUE";
  const std::string_view space = request["kvsname"];
  if (space_of(request) == nullptr)
    return Mistake{"unknown_kvsname", "kvsname=" + facts_.kvs_name,
                   space.empty() ? "none"
                   : space.size() > kvs_name_max
                       ? fmt::format("one of {} bytes, the longest has {}", space.size(), kvs_name_max)
                       : printable(space),
                   "take the name that answers cmd=get_my_kvsname"};
  const std::string_view key = request["key"];
  if (key.empty() || key.size() > key_max)
    return Mistake{fmt::format("key_of_{}_bytes_expected_1_to_{}", key.size(), key_max),
                   fmt::format("a key of 1 to {} bytes", key_max),
                   key.empty() ? "none" : fmt::format("one of {} bytes", key.size()),
                   key.empty() ? usage : "keep to keylen_max of cmd=get_maxes"};
  if (request["cmd"] == "get")
    return std::nullopt;
  const std::optional<std::string_view> value = request.find("value");
  if (!value)
    return Mistake{"no_value", "value=, be it empty", "none", usage};
  if (value->size() > value_max)
    return Mistake{fmt::format("value_of_{}_bytes_expected_at_most_{}", value->size(), value_max),
                   fmt::format("a value of at most {} bytes", value_max), fmt::format("one of {} bytes", value->size()),
                   "keep to vallen_max of cmd=get_maxes"};
  return std::nullopt;
}

std::string PmiSession::put(const Request& request)
{
  if (!space_of(request)->add(std::string(request["key"]), std::string(request["value"])))
    return "cmd=put_result rc=-1 msg=duplicate_key\n";
  return "cmd=put_result rc=0 msg=success\n";
}

std::string PmiSession::get(const Request& request) const
{
  const std::string key(request["key"]);
  if (const std::string* value = space_of(request)->find(key))
    return fmt::format("cmd=get_result rc=0 msg=success value={}\n", *value);
  return fmt::format("cmd=get_result rc=-1 msg=key_{}_not_found value=unknown\n", key);
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

void PmiSession::complain(std::string_view line, const Mistake& mistake, Reply& reply)
{
  if (++complaints_ <= most_complaints)
    reply.complaints.push_back(fmt::format("PMI request \"{}\": expected {}, got {}. Next step: {}{}", printable(line),
                                           mistake.expected, mistake.got, mistake.next_step,
                                           complaints_ == most_complaints ? ". More of this rank are not shown" : ""));
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
  if (request["mcmd"] == "spawn") {
    in_spawn_ = true;
    return;
  }
  const Word* word =
      std::find_if(words.begin(), words.end(), [command](const Word& w) { return w.command == command; });
  if (word == words.end()) {
    complain(line,
             {"", "cmd= and a command of PMI version 1", command.empty() ? "none" : printable(command),
              "see what the program was built for: Umwelt speaks PMI-1 and PMIx"},
             reply);
    reply.answer += "cmd=unknown rc=-1 msg=unknown_command\n";
    return;
  }
  if (command == "abort") {
    reply.abort = number(request["exitcode"]).value_or(1);
    return;
  }
  std::optional<Mistake> mistake = out_of_order(command);
  if (!mistake && (command == "put" || command == "get"))
    mistake = misnamed(request);
  if (mistake) {
    complain(line, *mistake, reply);
    reply.answer += refusal(word->answer, mistake->message);
    return;
  }
  if (command == "init") {
    const bool known = request["pmi_version"] == "1" && number(request["pmi_subversion"]).value_or(2) <= 1;
    if (known)
      state_ = State::open;
    else
      complain(
          line,
          {"", "pmi_version=1 and pmi_subversion 0 or 1", "another version", "build the program for PMI-1 or PMIx"},
          reply);
    reply.answer += fmt::format("cmd={} rc={}\n", word->answer, known ? 0 : -1);
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
  } else if (command == "barrier_in") {
    in_barrier_ = reply.barrier = true;
  } else if (command == "finalize") {
    state_ = State::finalized;
    reply.answer += "cmd=finalize_ack rc=0\n";
  } else if (command == "publish_name") {
    reply.answer += publish(request);
  } else if (command == "unpublish_name") {
    reply.answer += unpublish(request);
  } else { // lookup_name
    reply.answer += look_up(request);
  }
}

PmiSession::Reply PmiSession::receive(std::string_view bytes)
{
  Reply reply;
  while (!bytes.empty() && !reply.abort) {
    const std::size_t end = bytes.find('\n');
    line_ += bytes.substr(0, end);
    if (line_.size() > longest_line) {
      complain(line_,
               {"", fmt::format("lines of at most {} bytes", longest_line), "more without an end",
                "end requests with a newline; PMI_FD is closed"},
               reply);
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
