// SPDX-License-Identifier: LGPL-2.1-or-later
// Ranks that die while the others of their job go on (--with-ft ulfm), as under mpirun of Open MPI 5: its daemons tell
// the others by events of PMIx, and fences no longer wait for who has died. What MPI makes of that is the library's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "runtime/base/timeline.h"

namespace umwelt::job
{

class Job;
class Rank;
struct JobFacts;

class Failures
{
public:
  explicit Failures(Job& job) : job_(job) {}

  // The rank has died, how is in Rank::end. The others know when word has gone to the first daemon and from there to
  // all, as long as a fence of the job takes.
  void add(const Rank& dead);
  // The service of that name.
  std::int64_t wait(Rank& rank, std::uint64_t seen);
  [[nodiscard]] std::size_t count() const { return words_.size(); }

private:
  struct Word final : sim::Event {
    Word(Failures& f, const Rank& d) : failures(f), dead(d) {}
    void fire() override { failures.tell(dead); }
    Failures& failures;
    const Rank& dead;
  };
  void tell(const Rank& dead);

  Job& job_;
  std::deque<Word> words_;
  std::map<const JobFacts*, std::vector<const Rank*>> told_; // by job, in the order in which word has come
};

} // namespace umwelt::job
