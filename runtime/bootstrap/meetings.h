// SPDX-License-Identifier: LGPL-2.1-or-later
// Fences among any ranks of a run (PMIx_Fence, PMIx_Connect). Ranks meet if they name the same ranks; the same ones may
// meet again and again.
#pragma once

#include <cstddef>
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
  bool over = false; // they may go on
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
    }
    std::shared_ptr<Meeting> joined = *meeting;
    joined->arrived.insert(rank);
    if (joined->arrived.size() == members.size()) {
      open.erase(meeting);
      if (open.empty())
        open_.erase(members);
    }
    return joined;
  }
  // All have come.
  [[nodiscard]] static bool complete(const Meeting& meeting)
  {
    return meeting.arrived.size() == meeting.members.size();
  }

private:
  std::map<std::vector<std::size_t>, std::vector<std::shared_ptr<Meeting>>> open_;
};

} // namespace umwelt::bootstrap
