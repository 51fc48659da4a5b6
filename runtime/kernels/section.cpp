// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/kernels/section.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/eventhandler.h>

#include "runtime/base/nearest.h"
#include "runtime/base/parameters.h"
#include "runtime/base/usage_error.h"
#include "runtime/base/values.h"

namespace umwelt::kernels
{
namespace
{

std::string place(const std::string& path, const YAML::Mark& mark)
{
  if (mark.is_null())
    return path;
  return fmt::format("{}:{}:{}", path, mark.line + 1, mark.column + 1);
}

std::string described(const std::string& path, const YAML::Mark& mark, std::string_view what)
{
  return fmt::format("{}{}{}", place(path, mark), what.empty() ? "" : ", ", what);
}

// Reads without keeping anything.
class Ignorer final : public YAML::EventHandler
{
public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

std::string_view kind_of(const YAML::Node& node)
{
  switch (node.Type()) {
  case YAML::NodeType::Scalar:
    return "a single value";
  case YAML::NodeType::Sequence:
    return "a list";
  case YAML::NodeType::Map:
    return "a mapping";
  default:
    return "nothing";
  }
}

} // namespace

std::string Item::text() const
{
  if (!node.IsScalar())
    throw UsageError(object, "a value", kind_of(node), "Write it behind the colon.");
  return node.Scalar();
}

std::vector<Item> Item::list() const
{
  if (!node.IsSequence())
    throw UsageError(object, "a list", kind_of(node), "Begin each item with '- '.");
  std::vector<Item> items;
  for (const YAML::Node& inner : node)
    items.push_back({inner, object});
  return items;
}

YAML::Node load_yaml(const std::string& path, std::string_view what, std::string_view begins)
{
  std::ifstream file(path);
  std::error_code error;
  if (!file || std::filesystem::is_directory(path, error))
    throw UsageError(path, fmt::format("a readable {}", what), file ? "a directory" : std::strerror(errno),
                     "Check the path.");
  std::stringstream text;
  text << file.rdbuf();
  YAML::Node node;
  bool more = false;
  try {
    node = YAML::Load(text.str());
    // LoadAll() would not end where a document is left unfinished.
    Ignorer ignorer;
    YAML::Parser parser(text);
    more = parser.HandleNextDocument(ignorer) && parser.HandleNextDocument(ignorer);
  } catch (const YAML::Exception& wrong) {
    throw UsageError(place(path, wrong.mark), "YAML", wrong.msg,
                     "Indent with blanks, and put values that contain ': ' or begin with a special character between "
                     "double quotes.");
  }
  if (more)
    throw UsageError(path, "one YAML document", "several", begins);
  return node;
}

Section::Section(const YAML::Node& node, std::string path, std::string what)
    : path_(std::move(path)), position_(place(path_, node.Mark())), what_(std::move(what)),
      object_(described(path_, node.Mark(), what_))
{
  if (!node.IsMap())
    throw UsageError(object_, "a mapping of keys and values", kind_of(node), "Write lines 'key: value'.");
  std::vector<std::string> keys;
  for (const auto& entry : node) {
    const YAML::Node& key = entry.first;
    if (!key.IsScalar())
      throw UsageError(described(path_, key.Mark(), what_), "a word as key", kind_of(key), "Write lines 'key: value'.");
    if (std::find(keys.begin(), keys.end(), key.Scalar()) != keys.end())
      throw UsageError(described(path_, key.Mark(), what_), "each key once",
                       fmt::format("{} twice", in_quotes(key.Scalar())), "Remove one of them.");
    keys.push_back(key.Scalar());
    entries_.emplace_back(key, entry.second);
  }
}

Section Section::inner(const Item& item, std::string_view part) const
{
  return {item.node, path_, what_.empty() ? std::string(part) : fmt::format("{}, {}", what_, part)};
}

Section Section::named(std::string what) const
{
  Section other = *this;
  other.what_ = std::move(what);
  other.object_ = fmt::format("{}, {}", position_, other.what_);
  other.known_.clear();
  return other;
}

std::optional<Item> Section::find(std::string_view key)
{
  if (std::find(known_.begin(), known_.end(), key) == known_.end())
    known_.emplace_back(key);
  for (const auto& [name, value] : entries_) {
    if (name.Scalar() != key)
      continue;
    // A value that is not there has no mark of its own.
    const YAML::Mark mark = value.IsNull() ? name.Mark() : value.Mark();
    return Item{value, described(path_, mark, what_.empty() ? std::string(key) : fmt::format("{}, {}", what_, key))};
  }
  return std::nullopt;
}

Item Section::require(std::string_view key, std::string_view next)
{
  if (auto item = find(key))
    return *item;
  throw UsageError(object_, fmt::format("a line '{}: ...'", key), "none", next);
}

std::vector<std::pair<std::string, Item>> Section::others() const
{
  std::vector<std::pair<std::string, Item>> result;
  for (const auto& [name, value] : entries_) {
    const std::string& key = name.Scalar();
    if (std::find(known_.begin(), known_.end(), key) == known_.end())
      result.emplace_back(
          key, Item{value, described(path_, name.Mark(), what_.empty() ? key : fmt::format("{}, {}", what_, key))});
  }
  return result;
}

void Section::finish() const
{
  const auto unknown = others();
  if (unknown.empty())
    return;
  const auto& [key, item] = unknown.front();
  const std::string_view guess = plausible(key, known_);
  throw UsageError(item.object, "a key of a kernels file", in_quotes(key),
                   guess.empty() ? fmt::format("Here can be {}.", fmt::join(known_, " "))
                                 : fmt::format("Did you mean '{}'?", guess));
}

std::size_t read_choice(const Item& item, std::span<const std::string_view> words)
{
  const std::string text = item.text();
  const auto found = std::find(words.begin(), words.end(), text);
  if (found == words.end())
    throw UsageError(item.object, fmt::format("one of {}", fmt::join(words, " ")), in_quotes(text),
                     fmt::format("Did you mean '{}'?", nearest(text, words)));
  return static_cast<std::size_t>(found - words.begin());
}

double read_fraction(const Item& item)
{
  double value = 0;
  if (const std::string text = item.text(); !parse_fraction(text, value) || value == 0)
    throw UsageError(item.object, "a fraction of 1 or a percentage", in_quotes(text), "For example: 5%");
  return value;
}

std::uint64_t read_whole(const Item& item, std::uint64_t least, std::uint64_t most)
{
  return read_count(item.object, item.text(), "a whole number", least, most);
}

} // namespace umwelt::kernels
