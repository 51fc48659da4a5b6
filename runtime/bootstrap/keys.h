// SPDX-License-Identifier: LGPL-2.1-or-later
// The ranks' keys, as PMIx knows them: a rank puts values, commits them, and from then on every rank can get them.
// Functional only; what an exchange costs is decided by the job's fence. Keys that belong to no rank: spaces.h.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

namespace umwelt::bootstrap
{

class Keys
{
public:
  explicit Keys(std::size_t ranks) : committed_(ranks), pending_(ranks), has_committed_(ranks) {}

  // More ranks take part.
  void grow(std::size_t ranks)
  {
    committed_.resize(ranks);
    pending_.resize(ranks);
    has_committed_.resize(ranks);
  }
  void put(std::size_t rank, std::string key, std::string value) { pending_[rank][std::move(key)] = std::move(value); }
  void commit(std::size_t rank)
  {
    for (auto& [key, value] : pending_[rank])
      committed_[rank][key] = std::move(value);
    has_committed_[rank] = has_committed_[rank] || !pending_[rank].empty();
    pending_[rank].clear();
  }
  // The rank has published something of its own: what is missing now will not come by itself.
  [[nodiscard]] bool committed(std::size_t rank) const { return has_committed_[rank]; }
  // What the runtime says of a rank.
  void tell(std::size_t rank, const std::string& key, std::string value) { committed_[rank][key] = std::move(value); }
  // Null if the rank has not committed such a key. A rank sees its own puts at once.
  [[nodiscard]] const std::string* get(std::size_t asking, std::size_t rank, const std::string& key) const
  {
    if (rank >= committed_.size())
      return nullptr;
    if (asking == rank)
      if (const auto own = pending_[rank].find(key); own != pending_[rank].end())
        return &own->second;
    const auto found = committed_[rank].find(key);
    return found == committed_[rank].end() ? nullptr : &found->second;
  }
  // The same, of whichever of these ranks has it; the lowest if there are several.
  [[nodiscard]] const std::string* get_of_any(std::size_t asking, std::size_t first, std::size_t ranks,
                                              const std::string& key) const
  {
    for (std::size_t rank = first; rank < first + ranks; ++rank)
      if (const std::string* value = get(asking, rank, key))
        return value;
    return nullptr;
  }

private:
  using Texts = std::unordered_map<std::string, std::string>;
  std::vector<Texts> committed_;
  std::vector<Texts> pending_;
  std::vector<bool> has_committed_;
};

} // namespace umwelt::bootstrap
