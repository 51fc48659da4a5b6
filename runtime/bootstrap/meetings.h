// SPDX-License-Identifier: LGPL-2.1-or-later
// Fences among any ranks of a run (PMIx_Fence, PMIx_Connect). Ranks meet if they name the same ranks; the same ones may
// meet again and again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace umwelt::bootstrap
{

struct Meeting {
  std::vector<std::size_t> members; // ranks of the run, ascending
  std::set<std::size_t> arrived;
  std::set<std::size_t> gone; // of those that have not arrived: they never will
  bool bereft = false;        // one is gone since the first has arrived
  bool over = false;          // they may go on
};

class Meetings
{
public:
  // `members`: ascending, each once, and `rank` among them. A rank that is there already waits for the next meeting of
  // them.
  std::shared_ptr<Meeting> arrive(std::size_t rank, const std::vector<std::size_t>& members)
  {
    auto& open = open_[members];
    auto meeting = open.begin();
    while (meeting != open.end() && (*meeting)->arrived.contains(rank))
      ++meeting;
    if (meeting == open.end()) {
      open.push_back(std::make_shared<Meeting>());
      meeting = open.end() - 1;
      (*meeting)->members = members;
      std::set_intersection(members.begin(), members.end(), gone_.begin(), gone_.end(),
                            std::inserter((*meeting)->gone, (*meeting)->gone.end()));
    }
    std::shared_ptr<Meeting> joined = *meeting;
    joined->arrived.insert(rank);
    if (complete(*joined)) {
      open.erase(meeting);
      if (open.empty())
        open_.erase(members);
    }
    return joined;
  }
  // The rank will not come any more, wherever it is waited for. Returns the meetings that are complete by that.
  std::vector<std::shared_ptr<Meeting>> leave(std::size_t rank)
  {
    std::vector<std::shared_ptr<Meeting>> completed;
    gone_.insert(rank);
    for (auto one = open_.begin(); one != open_.end();) {
      const auto& [members, open] = *one;
      if (std::binary_search(members.begin(), members.end(), rank))
        for (const std::shared_ptr<Meeting>& meeting : open) {
          meeting->bereft = true;
          if (!meeting->arrived.contains(rank))
            meeting->gone.insert(rank);
          if (complete(*meeting))
            completed.push_back(meeting);
        }
      std::erase_if(one->second, [](const std::shared_ptr<Meeting>& meeting) { return complete(*meeting); });
      one = one->second.empty() ? open_.erase(one) : std::next(one);
    }
    return completed;
  }
  // All have come who can.
  [[nodiscard]] static bool complete(const Meeting& meeting)
  {
    return meeting.arrived.size() + meeting.gone.size() == meeting.members.size();
  }

private:
  std::map<std::vector<std::size_t>, std::vector<std::shared_ptr<Meeting>>> open_;
  std::set<std::size_t> gone_;
};

} // namespace umwelt::bootstrap
