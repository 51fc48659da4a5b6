// SPDX-License-Identifier: LGPL-2.1-or-later
// What ranks tell of their calls for a trace (preload/abi/mpi_events.h), on its way from the processes that carry them
// to whoever writes the trace: a file without a name, to which all of them append blocks of one rank each. No
// simulated time and no request is spent on it, whoever carries the rank, memory stays as small as it is, and the trace
// is written rank by rank at the end, so that it does not depend on the order in which they were heard of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "preload/abi/mpi_events.h"

namespace umwelt::mpi
{

class EventSpool
{
public:
  // The file is made in `directory`, before other processes are forked that are to append to it. Throws
  // std::runtime_error if it cannot be.
  explicit EventSpool(const std::string& directory);
  ~EventSpool();
  EventSpool(const EventSpool&) = delete;
  EventSpool& operator=(const EventSpool&) = delete;

  // From any process. An error is remembered, for all of them.
  void append(std::uint32_t rank, const void* events, std::size_t bytes);
  // What has gone wrong first, as an errno; 0: nothing.
  [[nodiscard]] int error() const;

  // All records of a rank, in the order in which it has told them. Nothing is appended any more.
  void read(std::uint32_t rank, const std::function<void(const umw_event&)>& take);
  // Ranks that have told anything, one more than the last.
  [[nodiscard]] std::uint32_t ranks();

private:
  struct Block {
    std::uint64_t at, bytes;
  };
  void find_blocks();

  int fd_ = -1;
  int* error_ = nullptr; // in memory that all processes share
  bool found_ = false;
  std::vector<std::vector<Block>> blocks_; // by rank
};

} // namespace umwelt::mpi
