// SPDX-License-Identifier: LGPL-2.1-or-later
// A mapping in a kernels file, read key by key. All errors are UsageErrors that begin with file:line:column and what
// the mapping belongs to; finish() refuses keys that nobody asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <yaml-cpp/yaml.h>

namespace umwelt::kernels
{

// A value, and how messages call it: "kernels.yaml:7:15, kernel dgemm, duration".
struct Item {
  YAML::Node node;
  std::string object;

  // The text of a scalar.
  [[nodiscard]] std::string text() const;
  // The items of a list.
  [[nodiscard]] std::vector<Item> list() const;
};

// The only document of a file. Throws UsageError if it cannot be read or is no YAML. `what`: "kernels file"; `begins`:
// what to do if there are several.
YAML::Node load_yaml(const std::string& path, std::string_view what, std::string_view begins);

class Section
{
public:
  // `what`: "kernel dgemm"; empty for the whole file.
  Section(const YAML::Node& node, std::string path, std::string what);
  // A list's item or a value that is a mapping itself; `part` is put behind what this section belongs to.
  [[nodiscard]] Section inner(const Item& item, std::string_view part) const;

  // The same mapping, belonging to something else; no key of it was asked for yet.
  [[nodiscard]] Section named(std::string what) const;

  std::optional<Item> find(std::string_view key);
  [[nodiscard]] Item require(std::string_view key, std::string_view next);
  // Keys nobody has asked for yet, with their values.
  [[nodiscard]] std::vector<std::pair<std::string, Item>> others() const;
  void finish() const;

  [[nodiscard]] const std::string& path() const { return path_; }
  // Of the whole mapping.
  [[nodiscard]] const std::string& object() const { return object_; }
  [[nodiscard]] const std::string& what() const { return what_; }

private:
  std::vector<std::pair<YAML::Node, YAML::Node>> entries_;
  std::string path_;
  std::string position_; // file:line:column
  std::string what_;
  std::string object_;
  std::vector<std::string> known_; // keys that were asked for
};

// One of `words`; its position.
std::size_t read_choice(const Item& item, std::span<const std::string_view> words);
// A number greater than 0, or a percentage with %.
double read_fraction(const Item& item);
std::uint64_t read_whole(const Item& item, std::uint64_t least, std::uint64_t most);

} // namespace umwelt::kernels
