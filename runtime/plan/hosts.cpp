// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/hosts.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>

#include "runtime/base/nearest.h"
#include "runtime/base/usage_error.h"
#include "runtime/base/values.h"

namespace umwelt::plan
{
namespace
{

constexpr std::uint64_t most_slots = 1'000'000;

enum class Key { slots, max_slots, ignored };

struct Keyword {
  std::string_view name;
  Key meaning;
};

constexpr std::array<Keyword, 20> keywords{{{"slots", Key::slots},
                                            {"cpu", Key::slots},
                                            {"count", Key::slots},
                                            {"max_slots", Key::max_slots},
                                            {"max-slots", Key::max_slots},
                                            {"slots_max", Key::max_slots},
                                            {"slots-max", Key::max_slots},
                                            {"max_cpu", Key::max_slots},
                                            {"max-cpu", Key::max_slots},
                                            {"cpu_max", Key::max_slots},
                                            {"cpu-max", Key::max_slots},
                                            {"max_count", Key::max_slots},
                                            {"max-count", Key::max_slots},
                                            {"count_max", Key::max_slots},
                                            {"count-max", Key::max_slots},
                                            // How to log in and what the real node looks like: means nothing here.
                                            {"username", Key::ignored},
                                            {"port", Key::ignored},
                                            {"boards", Key::ignored},
                                            {"sockets", Key::ignored},
                                            {"cores", Key::ignored}}};

bool is_blank(char c)
{
  return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

bool is_name(std::string_view text)
{
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  };
  return !text.empty() && text.front() != '-' && text.front() != '.' && std::all_of(text.begin(), text.end(), allowed);
}

// user@node: who logs in makes no difference here.
std::string_view without_user(std::string_view text)
{
  const auto at = text.find('@');
  return at == std::string_view::npos ? text : text.substr(at + 1);
}

// Blanks out comments, keeping the line breaks, so that everything behind still has its line number.
std::string without_comments(std::string_view text)
{
  std::string result;
  result.reserve(text.size());
  enum { code, line_comment, block_comment } state = code;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view here = text.substr(i, 2);
    if (state == code && (text[i] == '#' || here == "//"))
      state = line_comment;
    else if (state == code && here == "/*") {
      state = block_comment;
      result += "  ";
      ++i;
      continue;
    }
    if (state == block_comment && here == "*/") {
      state = code;
      result += "  ";
      ++i;
      continue;
    }
    if (state == line_comment && text[i] == '\n')
      state = code;
    result += state == code || text[i] == '\n' ? text[i] : ' ';
  }
  return result;
}

// Words of a line; '=' is a word of its own.
std::vector<std::string_view> words_of(std::string_view line)
{
  std::vector<std::string_view> words;
  std::size_t i = 0;
  while (i < line.size()) {
    if (is_blank(line[i])) {
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    if (line[i] != '=') {
      while (end < line.size() && !is_blank(line[end]) && line[end] != '=')
        ++end;
    }
    words.push_back(line.substr(i, end - i));
    i = end;
  }
  return words;
}

class HostfileParser
{
public:
  explicit HostfileParser(std::string_view file) : file_(file) {}

  void line(unsigned number, std::string_view text)
  {
    where_ = fmt::format("{}:{}", file_, number);
    words_ = words_of(text);
    if (words_.empty())
      return;
    Host host = named_host();
    bool slots_given = false;
    for (std::size_t i = 1; i < words_.size(); i += 3) {
      const Keyword& keyword = key(words_[i]);
      if (i + 2 >= words_.size() || words_[i + 1] != "=")
        throw UsageError(where_, fmt::format("'{}=VALUE'", keyword.name),
                         in_quotes(i + 1 < words_.size() ? words_[i + 1] : words_[i]),
                         fmt::format("For example: {} slots=2", host.name));
      const std::string_view value = words_[i + 2];
      const std::string object = fmt::format("{}: {}", where_, keyword.name);
      if (keyword.meaning == Key::slots) {
        host.slots = count(object, value);
        slots_given = true;
      } else if (keyword.meaning == Key::max_slots)
        host.max_slots = count(object, value);
    }
    if (host.max_slots != 0 && host.slots > host.max_slots)
      throw UsageError(where_, fmt::format("max_slots of at least the {} slots of the line", host.slots),
                       fmt::format("max_slots={}", host.max_slots), "Raise max_slots or lower slots.");
    add(std::move(host), slots_given);
  }

  std::vector<Host> finish()
  {
    std::vector<Host> hosts;
    for (Entry& entry : entries_) {
      if (!entry.slots_given)
        entry.host.slots = entry.lines > 1 ? entry.lines : 0;
      hosts.push_back(std::move(entry.host));
    }
    return hosts;
  }

private:
  struct Entry {
    Host host;
    bool slots_given = false;
    unsigned lines = 1;
  };

  [[nodiscard]] Host named_host() const
  {
    const std::string_view word = words_.front();
    const std::string_view name = without_user(word);
    if (word.front() == '+' || word.front() == '^')
      throw UsageError(where_, "the name of a host", in_quotes(word),
                       "Relative (+n0) and excluded (^name) hosts are not supported: name the hosts to use.");
    if (const auto colon = name.find(':'); colon != std::string_view::npos && is_name(name.substr(0, colon)))
      throw UsageError(where_, "'NAME slots=N'", in_quotes(word),
                       fmt::format("NAME:N belongs to --host; here write: {} slots={}", name.substr(0, colon),
                                   is_name(name.substr(colon + 1)) ? name.substr(colon + 1) : "1"));
    if (word == "rank" && words_.size() > 1)
      throw UsageError(where_, "the name of a host", "a line of a rank file",
                       "Rank files are not supported: list hosts with slots, and use --map-by and --rank-by.");
    if (!is_name(name))
      throw UsageError(where_, "the name of a host (letters, digits, '.', '-', '_')", in_quotes(word),
                       "A line is: NAME [slots=N] [max_slots=N]");
    return Host{std::string(name), 0, 0, where_};
  }

  [[nodiscard]] const Keyword& key(std::string_view word) const
  {
    for (const Keyword& keyword : keywords) {
      if (keyword.name == word)
        return keyword;
    }
    std::array<std::string_view, keywords.size()> names;
    std::transform(keywords.begin(), keywords.end(), names.begin(), [](const Keyword& k) { return k.name; });
    throw UsageError(where_, "slots=N or max_slots=N after the host's name", in_quotes(word),
                     fmt::format("The nearest known keyword is '{}'.", nearest(word, names)));
  }

  static unsigned count(std::string_view object, std::string_view value)
  {
    return static_cast<unsigned>(read_count(object, value, "a number of slots", 1, most_slots));
  }

  void add(Host host, bool slots_given)
  {
    const auto known = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& entry) { return entry.host.name == host.name; });
    if (known == entries_.end()) {
      entries_.push_back({std::move(host), slots_given, 1});
      return;
    }
    if (slots_given || known->slots_given)
      throw UsageError(where_, fmt::format("host '{}' once when slots are given", host.name),
                       fmt::format("it again (first in {})", known->host.where),
                       "List a host once with slots=N, or once per slot without slots.");
    ++known->lines;
    known->host.max_slots = std::max(known->host.max_slots, host.max_slots);
  }

  std::string_view file_;
  std::string where_;
  std::vector<std::string_view> words_;
  std::vector<Entry> entries_;
};

std::string names_of(const std::vector<Host>& hosts)
{
  constexpr std::size_t shown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, hosts.size()); ++i)
    text += (i == 0 ? "" : ", ") + hosts[i].name;
  return hosts.size() > shown ? text + ", ..." : text;
}

} // namespace

std::vector<Host> parse_host_list(std::string_view option, std::string_view text)
{
  std::vector<Host> hosts;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const auto comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    more = comma != std::string_view::npos;
    rest.remove_prefix(more ? comma + 1 : rest.size());

    const auto colon = item.find(':');
    const std::string_view name = without_user(item.substr(0, colon));
    if (!is_name(name))
      throw UsageError(option, "host names separated by commas (a:2,b)",
                       item.empty() ? "an empty name" : in_quotes(item),
                       "A host is NAME or NAME:SLOTS; letters, digits, '.', '-' and '_' make a name.");
    unsigned slots = 1;
    if (colon != std::string_view::npos) {
      const std::string_view count = item.substr(colon + 1);
      slots = count == "*" ? 0
                           : static_cast<unsigned>(read_count(fmt::format("{}: slots of {}", option, name), count,
                                                              "'*' or a number", 1, most_slots));
    }
    const auto known = std::find_if(hosts.begin(), hosts.end(), [&](const Host& host) { return host.name == name; });
    if (known == hosts.end())
      hosts.push_back({std::string(name), slots, 0, std::string(option)});
    else
      known->slots = known->slots == 0 || slots == 0 ? 0 : known->slots + slots;
  }
  return hosts;
}

std::vector<Host> parse_hostfile(std::string_view file, std::string_view text)
{
  const std::string code = without_comments(text);
  HostfileParser parser(file);
  unsigned number = 0;
  std::string_view rest = code;
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    parser.line(++number, rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  std::vector<Host> hosts = parser.finish();
  if (hosts.empty())
    throw UsageError(file, "at least one host", "none", "One host per line: NAME [slots=N] [max_slots=N]");
  return hosts;
}

std::vector<Host> read_hostfile(std::string_view option, const std::string& path)
{
  const auto fail = [&](std::string_view reason) {
    return UsageError(fmt::format("{} {}", option, path), "a file that can be read", reason,
                      "Check the path and the permissions.");
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw fail("a directory");
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in)
    throw fail(in_quotes(std::strerror(errno)));
  std::ostringstream text;
  if (in.peek() != std::ifstream::traits_type::eof())
    text << in.rdbuf();
  if (in.bad())
    throw fail(in_quotes(std::strerror(errno)));
  return parse_hostfile(path, text.str());
}

std::vector<Host> select_hosts(const std::vector<Host>& file, const std::vector<Host>& list)
{
  std::vector<Host> selected;
  for (const Host& wanted : list) {
    const auto known =
        std::find_if(file.begin(), file.end(), [&](const Host& host) { return host.name == wanted.name; });
    if (known == file.end())
      throw UsageError(wanted.where, fmt::format("hosts of the host file ({})", names_of(file)), in_quotes(wanted.name),
                       "With both options --host selects among the file's hosts: add the host to the file, or leave "
                       "one of the options out.");
    Host host = *known;
    host.slots = wanted.slots;
    selected.push_back(std::move(host));
  }
  return selected;
}

} // namespace umwelt::plan
