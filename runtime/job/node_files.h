// SPDX-License-Identifier: LGPL-2.1-or-later
// Files below /proc, /sys and /etc of which a simulated node has its own version. The shim leads there (preload/paths.c) and says when a
// rank names one, by the name the program uses: it is made then, or made anew if it shows something that changes. Those that nodes
// of a kind have in common are in machine_files.h. In the session folder of the node they are in `files`, in the same order.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/job/machine_files.h"

namespace umwelt::job
{

class Job;
class Rank;

class NodeFiles
{
public:
  // `folder`: of the run. Neither node has any file yet.
  NodeFiles(Job& job, std::string folder);

  // The session folder of a node, which is made.
  std::string session(std::uint32_t node);
  // What its kind has in common.
  MachineFiles& machine(std::uint32_t node);
  // `path` is absolute, without "." and "..". Throws std::exception.
  void make(const Rank& rank, std::string_view path);
  // The process is there no more.
  void ended(const Rank& rank);

private:
  void make_devices(const Rank& rank);
  void list_processes(const Rank& rank);
  void make_process(const Rank& rank, int pid, std::string_view path);
  void make_launcher(const Rank& rank);

  Job& job_;
  std::string folder_;
  std::string hosts_;
  std::vector<std::unique_ptr<MachineFiles>> kinds_;
  std::map<std::uint32_t, std::set<std::string, std::less<>>> made_; // of each node
};

} // namespace umwelt::job
