// SPDX-License-Identifier: LGPL-2.1-or-later
// What the calls of MPI of a rank have come to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/base/time.h"

namespace umwelt::mpi
{

struct Count {
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0; // handed over to be sent or written
  sim::SimTime time = 0;   // in them, simulated;
  sim::SimTime waited = 0; // of that, blocked;
  sim::SimTime late = 0;   // of that, before others had begun what it waited for

  Count& operator+=(const Count& other);
};

struct Totals {
  using Function = std::uint32_t; // umw_mpi_function

  std::map<std::pair<Function, std::string>, Count> sites;         // by the place of the call
  std::map<std::pair<Function, std::uint32_t>, Count> sizes;       // by powers of two (observe::SizeHistogram)
  std::map<std::uint32_t, Count> peers;                            // messages, by rank of the job
  std::map<std::pair<std::string, Function>, Count> communicators; // collectives, by what the communicator is called
};

// As text and back: processes tell each other.
std::string totals_text(const Totals& totals);
// Adds them. What is not such a text says nothing.
void add_totals(Totals& totals, std::string_view text);

// Those of a rank that has ended, as told: text takes less memory, and thousands of ranks wait for the end of the job
// with theirs.
class ToldTotals
{
public:
  void add(std::string_view text);
  [[nodiscard]] Totals totals() const;

private:
  std::string text_;
  std::size_t room_ = 64 << 10; // of a rank that has called exec() again and again
};

} // namespace umwelt::mpi
