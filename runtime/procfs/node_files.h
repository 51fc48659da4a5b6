// SPDX-License-Identifier: LGPL-2.1-or-later
// Files below /proc, /sys and /etc of which a simulated node has its own version. The shim leads there
// (preload/paths/paths.c) and says when a rank names one, by the name the program uses: it is made then, or made anew
// if it shows something that changes. Those that nodes of a kind have in common are in machine_files.h. In the session
// directory of the node they are in `files`, in the same order.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/procfs/machine_files.h"
#include "runtime/procfs/node_now.h"

namespace umwelt::procfs
{

class NodeFiles
{
public:
  // `directory`: of the run. Neither node has any file yet. `hostnames`: of all nodes of the platform; both outlive it.
  NodeFiles(const platform::Platform& platform, std::span<const std::string> hostnames, std::string directory);

  // The session directory of a node, which is made.
  std::string session(std::uint32_t node);
  // What its kind has in common.
  MachineFiles& machine(std::uint32_t node);
  // `path` is absolute, without "." and "..". Throws std::exception.
  void make(const NodeNow& now, std::string_view path);
  // A process of the node with that session directory is there no more.
  static void ended(const std::string& session, int pid);

private:
  void make_devices(const NodeNow& now);
  void list_processes(const NodeNow& now);
  void make_process(const NodeNow& now, int pid, std::string_view path);

  const platform::Platform& platform_;
  std::span<const std::string> hostnames_;
  std::string directory_;
  std::string hosts_;
  std::vector<std::unique_ptr<MachineFiles>> kinds_;
  std::map<std::uint32_t, std::set<std::string, std::less<>>> made_; // of each node
};

} // namespace umwelt::procfs
