// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory that ranks of a node share: who has what mapped, when one sees what another has written, how long copies take.
//
// A rank that waits looks at such memory without any call, or between calls that find nothing, and is parked
// (job/polling.h). It looks again at a time after somebody it shares memory with has written: after a copy into shared
// memory, which the shim tells of (preload/memory/node_memory.c), the copy's end; otherwise, since plain stores are not
// seen, the end of a burst that did something. Both plus what the node's memory takes (net_models/node). Plain stores
// of a rank that seems to do nothing but poll are found at steps that grow with the time waited (Polling::empty).
//
// A burst runs as a whole before others do, so they could see what it writes before its time. Copies into shared memory
// therefore begin and end at their own time: what was computed before has passed by then.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "net_models/node/memory.h"
#include "platforms/platform.h"

namespace umwelt::engine
{
class Actor;
}

namespace umwelt::job
{

class Job;
class Rank;
struct Thread;

class SharedMemory
{
public:
  SharedMemory(Job& job, const net::NodeParameters& parameters) : job_(job), parameters_(parameters) {}
  ~SharedMemory();

  using File = std::pair<std::uint64_t, std::uint64_t>; // device, inode
  // The rank has mapped the file once more, or once less.
  void mapped(Rank& rank, const File& file, bool more);
  // The rank is gone, with its mappings.
  void forget(Rank& rank);
  // The thread will not go on, whatever it copied.
  void forget(const engine::Actor& actor);

  // The running thread copies; returns when it is done.
  void copy(Rank& rank, std::uint64_t bytes, net::SimTime start, bool writes);
  // The running thread may have written since it last called; its calls have got to now, and what it computed to
  // `ahead` after that.
  void may_have_written(Rank& rank, net::SimTime ahead);

  [[nodiscard]] net::NodeMemory& of(std::uint32_t node);
  [[nodiscard]] const net::NodeParameters& parameters() const { return parameters_; }

private:
  struct Using {
    Rank* rank;
    unsigned mappings;
  };
  class UnderWay;

  void find_peers(std::uint32_t node);
  void tell_peers(Rank& rank, net::SimTime ahead, bool written);

  Job& job_;
  const net::NodeParameters parameters_;
  std::map<std::uint32_t, std::map<File, std::vector<Using>>> files_; // by node
  std::map<std::uint32_t, std::unique_ptr<net::NodeMemory>> nodes_;
  std::vector<UnderWay*> copies_;
};

} // namespace umwelt::job
