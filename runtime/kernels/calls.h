// SPDX-License-Identifier: LGPL-2.1-or-later
// Calls of kernels, in a process that carries ranks: what becomes of each, and what they come to. Knows where a thread
// entered and what it had in its registers, nothing of the thread itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/kernels/kernels_file.h"
#include "runtime/kernels/size_classes.h"

namespace umwelt::kernels
{

// What the calls of a kernel on a rank have come to. Simulated time, in ps.
struct Totals {
  std::uint64_t calls = 0;
  std::uint64_t skipped = 0; // of these: not run;
  std::uint64_t sampled = 0; // run to be measured
  sim::SimTime time = 0;
  bool exists = false; // some object had such a function; if none:
  std::string nearest; // the name that is most like the kernel's, or empty
  SizeClasses sizes;   // of `watch`

  Totals& operator+=(const Totals& other);
};

// Of a rank, one for each kernel, as texts and back: processes tell each other. Several, since a request between
// processes has room for 252 KiB (runtime/worker/board.h).
std::vector<std::string> totals_texts(const std::vector<Totals>& totals);
// Adds them. What is not such a text says nothing.
void add_totals(std::vector<Totals>& totals, std::string_view text);

class Calls
{
public:
  // A function to be stopped in.
  struct Function {
    std::string symbol;                   // empty: it has none
    std::string object;                   // empty: wherever the symbol is
    std::optional<std::uint64_t> address; // in place of a symbol
    bool optional = false;                // no harm if it cannot be stopped in
  };
  enum class Way : std::uint8_t {
    run,   // it takes what it takes
    model, // it runs, but takes `time`
    skip   // it does not run, takes `time` and returns `result`
  };
  struct Call {
    std::size_t kernel = 0;
    Way way = Way::run;
    sim::SimTime time = 0; // ps
    std::uint64_t result = 0;
    bool result_in_vector = false;
    bool counts = true;                // it is one of the kernel
    bool is_sample = false;            // it is to be measured,
    bool is_watched = false;           // or told by its sizes,
    std::vector<double> classes;       // as one of these
    std::optional<PlanSizes> plan;     // it makes one
    std::optional<std::uint32_t> mark; // of the kernel
  };

  explicit Calls(std::shared_ptr<const Kernels> kernels);

  // Numbers of functions are their places in this list.
  [[nodiscard]] const std::vector<Function>& functions() const { return functions_; }
  // Which kernel the function is one of; none: it makes or destroys plans.
  [[nodiscard]] std::optional<std::size_t> kernel_of(std::size_t function) const;
  [[nodiscard]] const std::vector<Kernel>& kernels() const { return kernels_->list; }
  [[nodiscard]] bool wants_profile() const { return kernels_->profile; }
  // The function is one whose calls count by its number (Kernel::mark), whatever kernels the thread is in.
  [[nodiscard]] bool is_mark(std::size_t function) const;
  [[nodiscard]] const Kernel& kernel_of(const Call& call) const { return kernels_->list[call.kernel]; }
  // A thread at that place has entered the function. Throws UsageError where a file says what cannot be.
  [[nodiscard]] Call begin(std::size_t function, const Place& place, const CallRegisters& frame);
  // A call that was not skipped has returned this and has taken so long, all told.
  void end(const Call& call, unsigned rank, sim::SimTime taken, std::uint64_t result);
  // Of a rank; null: it has called none.
  [[nodiscard]] const std::vector<Totals>* totals(unsigned rank) const;

private:
  struct Target {
    enum class What : std::uint8_t { kernel, maker, destroyer } what;
    std::size_t kernel; // or of makers(), destroyers()
    std::size_t entry;
  };

  void add_kernel(std::size_t kernel);
  void add_plans();
  [[nodiscard]] std::vector<Totals>& of(unsigned rank);
  void set_result(Call& call, const Kernel& kernel, const Entry& entry, const Place& place, std::uint64_t number) const;

  std::shared_ptr<const Kernels> kernels_;
  std::vector<Function> functions_;
  std::vector<Target> targets_;   // of functions_
  std::vector<Sampler> samplers_; // of kernels
  Plans plans_;
  std::unordered_map<unsigned, std::vector<Totals>> totals_; // by rank
  std::vector<double> values_;
};

} // namespace umwelt::kernels
