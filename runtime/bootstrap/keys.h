// SPDX-License-Identifier: LGPL-2.1-or-later
// The job's key-value space, as PMIx and PMI know it: a rank puts values, commits them, and from then on every rank can get
// them. Functional only; what an exchange costs is decided by the job's fence.
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

  // --- keys of the job as a whole: PMI's, which belong to no rank and are there for everybody at once ---
  struct Published {
    std::string key, value;
  };
  // False: there is such a key already; the first stays.
  bool publish(std::string key, std::string value)
  {
    if (!published_index_.try_emplace(key, published_.size()).second)
      return false;
    published_.push_back({std::move(key), std::move(value)});
    return true;
  }
  [[nodiscard]] const std::string* find(const std::string& key) const
  {
    const auto found = published_index_.find(key);
    return found == published_index_.end() ? nullptr : &published_[found->second].value;
  }
  // In the order of publication; null beyond the last.
  [[nodiscard]] const Published* published(int index) const
  {
    return index >= 0 && static_cast<std::size_t>(index) < published_.size()
               ? &published_[static_cast<std::size_t>(index)]
               : nullptr;
  }

private:
  using Space = std::unordered_map<std::string, std::string>;
  std::vector<Space> committed_;
  std::vector<Space> pending_;
  std::vector<bool> has_committed_;
  std::vector<Published> published_;
  std::unordered_map<std::string, std::size_t> published_index_;
};

} // namespace umwelt::bootstrap
