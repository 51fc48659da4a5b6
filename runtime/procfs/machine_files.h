// SPDX-License-Identifier: LGPL-2.1-or-later
// What nodes of a kind show of themselves in the same way: their processors and memory below /proc and /sys, and the
// hosts of the cluster. Without caches and hardware threads, of which the platform says nothing.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "platforms/platform.h"

namespace umwelt::procfs
{

// The socket (NUMA node) of a core.
constexpr unsigned socket_of(unsigned core, unsigned cores, unsigned sockets)
{
  return static_cast<unsigned>(static_cast<std::uint64_t>(core) * sockets / cores);
}

using Mask = std::vector<bool>; // of cores, or of NUMA nodes

std::string mask_words(const Mask& mask);  // "00000000,0000000f" as the kernel writes it
std::string mask_ranges(const Mask& mask); // "0-3,8"

class MachineFiles
{
public:
  // `directory`: where they are made. `hosts`: the text of /etc/hosts.
  MachineFiles(std::string directory, const platform::Node& node, const std::string& hosts);

  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] unsigned cores() const { return cores_; }
  [[nodiscard]] unsigned sockets() const { return sockets_; }
  [[nodiscard]] std::uint64_t memory() const { return memory_; }
  [[nodiscard]] bool is_of(const platform::Node& node) const;
  // Makes what is at or above `path` if it is not there yet. Throws std::exception.
  void make(std::string_view path);
  // For hwloc (HWLOC_XMLFILE), made with the object; its path.
  [[nodiscard]] std::string topology() const;

private:
  [[nodiscard]] Mask cores_of(unsigned socket) const;
  void make_processors();
  void make_memory_nodes();

  std::string directory_;
  unsigned cores_;
  unsigned sockets_;
  std::uint64_t memory_;
  const std::string& hosts_;
  std::set<std::string, std::less<>> made_;
};

} // namespace umwelt::procfs
