// SPDX-License-Identifier: LGPL-2.1-or-later
// What counts as a wrapper, and what as the program of a rank; see wrappers.h.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "loader/program.h"
#include "runtime/launch/wrapper_questions.h"

namespace umwelt::launch
{

// A shell, or a tool with something to execute.
[[nodiscard]] bool is_wrapper(const loader::Program& program);
[[nodiscard]] bool is_tool(const loader::Program& program);

// What an execution is.
struct ExecutionKind {
  std::string file; // what is executed: a script rather than its interpreter
  bool wrapper = false;
  bool tool = false;    // a wrapper that is no shell
  bool in_jobs = false; // takes part in them
  bool refused = false; // cannot be simulated
  bool absent = false;
  std::string why;
};

// Looks at each program once, however many ranks are to execute it.
class Judge
{
public:
  Judge(const std::string& library, const std::string& own_programs) : library_(library), own_programs_(own_programs) {}

  const ExecutionKind& operator()(const Question& question);

private:
  const std::string& library_;
  const std::string& own_programs_;
  std::map<std::tuple<std::string, bool, std::string, std::string, std::string>, ExecutionKind> known_;
};

} // namespace umwelt::launch
