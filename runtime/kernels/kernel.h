// SPDX-License-Identifier: LGPL-2.1-or-later
// A kernel of a kernels file, with all that is needed at its calls. A call goes like this:
//
//   std::vector<double> values(kernel.variables.size());
//   if (!kernel.read(entry, frame, plans, values))
//     run it: it only asks for the size of its workspace
//   time = kernel.model->duration(place, values, calls)                    (model, skip)
//   kernel.set(entry, frame, place, values, calls)                         (model, skip)
//   result = kernel.returns->evaluate(place, values, calls, integer)       (skip)
//   classes = kernel.classes(values)                                       (sample, watch)
//   Sampler::measure(classes) ...                                          (sample)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/kernels/builtin.h"
#include "runtime/kernels/call_registers.h"
#include "runtime/kernels/fftw_plans.h"
#include "runtime/kernels/model.h"
#include "runtime/kernels/returns.h"
#include "runtime/kernels/sampling.h"

namespace umwelt::kernels
{

enum class Action : std::uint8_t {
  run,    // as it is: measured like the rest of the program
  model,  // run it, but its time is the model's
  skip,   // do not run it; its time is the model's
  sample, // measure calls, then take what was measured
  watch   // as `run`; its calls are told by their sizes
};

// In the order of Action, as files have them.
inline constexpr std::array<std::string_view, 5> action_names{"run", "model", "skip", "sample", "watch"};

// A function in whose entry calls of the kernel are stopped.
struct Entry {
  static constexpr std::size_t unread = std::numeric_limits<std::size_t>::max();

  std::string symbol;               // empty: Kernel::at instead
  std::optional<Spelling> spelling; // nullopt: its arguments are unknown
  // For each of the kernel's variables which parameter of the signature it is; `unread`: none.
  std::vector<std::size_t> positions;
};

// A function without a symbol.
struct Address {
  std::string object; // file name, with or without its directory
  std::uint64_t offset = 0;
};

struct Kernel {
  std::string name;
  std::string where; // "kernels.yaml:3:5, kernel dgemm"
  std::vector<Entry> entries;
  std::optional<Address> at;
  std::string object; // in which the symbols are; empty: wherever they are
  Action action = Action::run;
  bool is_expected = true; // somebody named it: it is an error if it cannot be, and told if it is not called

  std::vector<std::string> variables;     // of expressions: arguments, and of a built-in kernel `flops` and `bytes`
  bool of_plan = false;                   // its sizes are those of an FFTW plan
  std::optional<Expression> flops, bytes; // of its sizes, the first variables
  std::vector<std::size_t> extents;       // variables: of a built-in kernel the sizes of what it works on (M, N, NRHS)

  std::optional<Model> model;     // of `model` and `skip`
  std::optional<Returns> returns; // nullopt: nothing

  // What a parameter that is passed by reference is set to, before the function runs or instead of it.
  struct Setting {
    std::string parameter;
    Returns value;
  };
  std::vector<Setting> settings; // of `model` and `skip`

  SamplingLimits limits;                     // of `sample`
  std::vector<Expression> class_expressions; // and of `watch`
  Action afterwards = Action::run;           // `run` or `skip`, once enough is measured

  // Of `run`: calls of it have this number, and count even within calls of other kernels. The beginning and the end of
  // each is told to the simulation, or to the trace, or to both.
  std::optional<std::uint32_t> mark;
  bool told = false;
  bool traced = false;

  int power = -1; // its number among those with a power of their own (runtime/energy/power.h); -1: it draws what
                  // computing draws

  // The values of the variables, from the registers at the entry. Follows pointers, so the frame has to be one of this
  // process. False: the call only asks how much workspace another one would need; it has to run and is not counted.
  // Throws UsageError for an FFTW plan that `plans` does not know; that is watched has sizes that are no numbers then.
  bool read(const Entry& entry, const CallRegisters& frame, const Plans& plans, std::span<double> values) const;

  // Follows its settings, for the `call`-th call on that rank.
  void set(const Entry& entry, const CallRegisters& frame, const Place& place, std::span<const double> values,
           std::uint64_t call) const;

  // A matrix without rows or columns: BLAS and LAPACK return at once, so it takes no time, whatever a model that was
  // fitted to others says.
  [[nodiscard]] bool does_nothing(std::span<const double> values) const;

  // What the class of a call is known by (Sampler).
  [[nodiscard]] std::vector<double> classes(std::span<const double> values) const;
};

} // namespace umwelt::kernels
