// SPDX-License-Identifier: LGPL-2.1-or-later
// Pairs of texts that belong to the job as a whole rather than to a rank, in spaces with names: PMI's key-value spaces,
// attributes of nodes, published names. Functional only, as keys.h.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace umwelt::bootstrap
{

// Where ports published under a service's name are, for all versions of PMI.
inline constexpr std::string_view names_space = "names";

class Space
{
public:
  struct Pair {
    std::string key, value;
  };

  // False: there is such a key already; the first value stays.
  bool add(std::string key, std::string value)
  {
    if (!index_.try_emplace(key, pairs_.size()).second)
      return false;
    pairs_.push_back({std::move(key), std::move(value)});
    return true;
  }
  // A new value takes the place of the old.
  void set(std::string key, std::string value)
  {
    if (const auto found = index_.find(key); found != index_.end())
      pairs_[found->second].value = std::move(value);
    else
      add(std::move(key), std::move(value));
  }
  // False: there was none.
  bool remove(const std::string& key)
  {
    const auto found = index_.find(key);
    if (found == index_.end())
      return false;
    pairs_.erase(pairs_.begin() + static_cast<std::ptrdiff_t>(found->second));
    index_.clear();
    for (std::size_t i = 0; i < pairs_.size(); ++i)
      index_.emplace(pairs_[i].key, i);
    return true;
  }
  [[nodiscard]] const std::string* find(const std::string& key) const
  {
    const auto found = index_.find(key);
    return found == index_.end() ? nullptr : &pairs_[found->second].value;
  }
  // In the order in which they came; null beyond the last.
  [[nodiscard]] const Pair* at(int index) const
  {
    return index >= 0 && static_cast<std::size_t>(index) < pairs_.size() ? &pairs_[static_cast<std::size_t>(index)]
                                                                         : nullptr;
  }

private:
  std::vector<Pair> pairs_;
  std::unordered_map<std::string, std::size_t> index_;
};

class Spaces
{
public:
  explicit Spaces(std::size_t ranks) : pending_(ranks) {}

  // More ranks take part.
  void grow(std::size_t ranks) { pending_.resize(ranks); }
  // Null if there is none.
  [[nodiscard]] Space* find(const std::string& name)
  {
    const auto found = spaces_.find(name);
    return found == spaces_.end() ? nullptr : &found->second;
  }
  // Makes it if there is none.
  Space& operator[](const std::string& name) { return spaces_[name]; }
  bool remove(const std::string& name) { return spaces_.erase(name) > 0; }

  // A rank's pair that others are to see after its commit.
  void put(std::size_t rank, const std::string& space, std::string key, std::string value)
  {
    pending_[rank][space].set(std::move(key), std::move(value));
  }
  void commit(std::size_t rank, const std::string& name)
  {
    const auto pending = pending_[rank].find(name);
    if (pending == pending_[rank].end())
      return;
    if (Space* space = find(name))
      for (int i = 0; const Space::Pair* pair = pending->second.at(i); ++i)
        space->set(pair->key, pair->value);
    pending_[rank].erase(pending);
  }
  // As the asking rank sees it: its own pairs at once. Null: there is none.
  [[nodiscard]] const std::string* get(std::size_t asking, const std::string& space, const std::string& key)
  {
    if (const auto own = pending_[asking].find(space); own != pending_[asking].end())
      if (const std::string* value = own->second.find(key))
        return value;
    const Space* shared = find(space);
    return shared != nullptr ? shared->find(key) : nullptr;
  }

private:
  using Named = std::unordered_map<std::string, Space>;
  Named spaces_;
  std::vector<Named> pending_;
};

} // namespace umwelt::bootstrap
