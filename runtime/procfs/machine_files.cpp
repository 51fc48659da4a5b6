// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/procfs/machine_files.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "runtime/procfs/file_writer.h"

namespace umwelt::procfs
{

namespace
{

Mask one(std::size_t bit, std::size_t size)
{
  Mask mask(size);
  mask[bit] = true;
  return mask;
}

std::string words(const Mask& mask, const char* prefix)
{
  std::string text;
  for (std::size_t word = (mask.size() + 31) / 32; word-- > 0;) {
    std::uint32_t value = 0;
    for (std::size_t bit = 0; bit < 32 && word * 32 + bit < mask.size(); ++bit)
      value |= static_cast<std::uint32_t>(mask[word * 32 + bit]) << bit;
    text += fmt::format("{}{}{:08x}", text.empty() ? "" : ",", prefix, value);
  }
  return text;
}

// The machine's first processor, with the fields that number it replaced.
std::string processors(unsigned cores, unsigned sockets)
{
  std::istringstream lines(read_file("/proc/cpuinfo"));
  std::vector<std::string> first;
  for (std::string line; std::getline(lines, line) && !line.empty();)
    first.push_back(line);
  std::vector<unsigned> size(sockets);
  for (unsigned core = 0; core < cores; ++core)
    ++size[socket_of(core, cores, sockets)];
  std::string text;
  unsigned number = 0;
  unsigned last = 0;
  for (unsigned core = 0; core < cores; ++core) {
    const unsigned socket = socket_of(core, cores, sockets);
    number = core == 0 || socket != last ? 0 : number + 1;
    last = socket;
    for (const std::string& line : first) {
      const std::string key = line.substr(0, line.find_first_of("\t:"));
      const auto set = [&](unsigned value) { text += fmt::format("{}: {}\n", line.substr(0, line.find(':')), value); };
      if (key == "processor" || key == "apicid" || key == "initial apicid")
        set(core);
      else if (key == "physical id")
        set(socket);
      else if (key == "core id")
        set(number);
      else if (key == "siblings" || key == "cpu cores")
        set(size[socket]);
      else
        text += line + '\n';
    }
    text += '\n';
  }
  return text;
}

// All of it is free: what the ranks use is part of this machine's.
std::string memory_text(std::uint64_t bytes, const std::string& prefix)
{
  const std::uint64_t total = bytes >> 10;
  std::string text;
  for (const char* name :
       {"MemTotal",        "MemFree",        "MemAvailable",   "Buffers",        "Cached",      "SwapCached",
        "Active",          "Inactive",       "SwapTotal",      "SwapFree",       "Dirty",       "Writeback",
        "AnonPages",       "Mapped",         "Shmem",          "Slab",           "CommitLimit", "Committed_AS",
        "HugePages_Total", "HugePages_Free", "HugePages_Rsvd", "HugePages_Surp", "Hugepagesize"}) {
    const std::string_view key = name;
    if (!prefix.empty() &&
        (key == "MemAvailable" || key == "Buffers" || key == "Cached" || key.starts_with("Commit") ||
         key == "SwapTotal" || key == "SwapFree" || key == "HugePages_Rsvd" || key == "Hugepagesize"))
      continue; // the kernel does not count these per node
    const std::uint64_t value = key.starts_with("Mem") || key == "CommitLimit" ? total
                                : key == "Hugepagesize"                        ? 2048
                                                                               : 0;
    text += fmt::format("{}{:<15} {:>8}{}\n", prefix, fmt::format("{}:", key), value,
                        key.starts_with("HugePages_") ? "" : " kB");
    if (!prefix.empty() && key == "MemFree")
      text += fmt::format("{}{:<15} {:>8} kB\n", prefix, "MemUsed:", 0);
  }
  return text;
}

// Files that name all processors, each by itself a tree of the shim's (preload/paths/paths.c).
constexpr std::string_view lists_of_all[] = {"/sys/devices/system/cpu/online", "/sys/devices/system/cpu/possible",
                                             "/sys/devices/system/cpu/present"};

} // namespace

std::string mask_words(const Mask& mask)
{
  return words(mask, "");
}

std::string mask_ranges(const Mask& mask)
{
  std::string text;
  for (std::size_t begin = 0; begin < mask.size(); ++begin) {
    if (!mask[begin])
      continue;
    std::size_t end = begin;
    while (end + 1 < mask.size() && mask[end + 1])
      ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ",", begin);
    if (end > begin)
      text += fmt::format("-{}", end);
    begin = end;
  }
  return text;
}

MachineFiles::MachineFiles(std::string directory, const platform::Node& node, const std::string& hosts)
    : directory_(std::move(directory)), cores_(node.cores), sockets_(node.sockets), memory_(node.memory), hosts_(hosts)
{
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology "
                     "version=\"2.0\">\n";
  const auto sets = [](const Mask& cpus, const Mask& nodes) {
    const std::string c = words(cpus, "0x");
    const std::string n = words(nodes, "0x");
    return fmt::format("cpuset=\"{0}\" complete_cpuset=\"{0}\" nodeset=\"{1}\" complete_nodeset=\"{1}\"", c, n);
  };
  const Mask all(cores_, true);
  const Mask all_nodes(sockets_, true);
  unsigned id = 0;
  text += fmt::format(
      "<object type=\"Machine\" os_index=\"0\" {} allowed_cpuset=\"{}\" allowed_nodeset=\"{}\" gp_index=\"{}\">\n"
      "<info name=\"Backend\" value=\"Linux\"/>\n<info name=\"OSName\" value=\"Linux\"/>\n"
      "<info name=\"Architecture\" value=\"x86_64\"/>\n",
      sets(all, all_nodes), words(all, "0x"), words(all_nodes, "0x"), ++id);
  for (unsigned socket = 0; socket < sockets_; ++socket) {
    const Mask cpus = cores_of(socket);
    const Mask node_set = one(socket, sockets_);
    const std::uint64_t bytes = memory_ / sockets_ & ~std::uint64_t{4095};
    text += fmt::format("<object type=\"Package\" os_index=\"{0}\" {1} gp_index=\"{2}\">\n"
                        "<object type=\"NUMANode\" os_index=\"{0}\" {1} gp_index=\"{3}\" local_memory=\"{4}\">"
                        "<page_type size=\"4096\" count=\"{5}\"/></object>\n",
                        socket, sets(cpus, node_set), id + 1, id + 2, bytes, bytes / 4096);
    id += 2;
    unsigned number = 0;
    for (unsigned core = 0; core < cores_; ++core)
      if (cpus[core]) {
        text += fmt::format("<object type=\"Core\" os_index=\"{0}\" {1} gp_index=\"{2}\">"
                            "<object type=\"PU\" os_index=\"{3}\" {1} gp_index=\"{4}\"/></object>\n",
                            number++, sets(one(core, cores_), node_set), id + 1, core, id + 2);
        id += 2;
      }
    if (socket == 0) // where the NIC is
      text += fmt::format(
          "<object type=\"Bridge\" gp_index=\"{}\" bridge_type=\"0-1\" depth=\"0\" bridge_pci=\"0000:[00-00]\">"
          "<object type=\"PCIDev\" gp_index=\"{}\" pci_busid=\"0000:00:01.0\" pci_type=\"0280 [119f:1121] [119f:1121] "
          "00\" "
          "pci_link_speed=\"0.000000\">"
          "<object type=\"OSDev\" gp_index=\"{}\" name=\"bxi0\" osdev_type=\"2\"/>"
          "<object type=\"OSDev\" gp_index=\"{}\" subtype=\"BXI\" name=\"bxi0\" osdev_type=\"3\"/>"
          "</object></object>\n",
          id + 1, id + 2, id + 3, id + 4);
    id += 4;
    text += "</object>\n";
  }
  text += "</object>\n";
  for (const char* support : {"discovery.pu", "discovery.numa", "discovery.numa_memory"})
    text += fmt::format("<support name=\"{}\"/>\n", support);
  write_file(topology(), text + "</topology>\n");
}

std::string MachineFiles::topology() const
{
  return directory_ + "/topology.xml";
}

bool MachineFiles::is_of(const platform::Node& node) const
{
  return node.cores == cores_ && node.sockets == sockets_ && node.memory == memory_;
}

Mask MachineFiles::cores_of(unsigned socket) const
{
  Mask mask(cores_);
  for (unsigned core = 0; core < cores_; ++core)
    mask[core] = socket_of(core, cores_, sockets_) == socket;
  return mask;
}

void MachineFiles::make(std::string_view path)
{
  // Most programs only ask how many processors there are; the directories of the processors are some thousand files.
  for (const std::string_view list : lists_of_all)
    if (path == list) {
      if (made_.emplace(path).second)
        write_file(directory_ + std::string(path), mask_ranges(Mask(cores_, true)) + "\n");
      return;
    }
  for (const std::string_view whole :
       {"/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu", "/sys/devices/system/node", "/etc/hosts"}) {
    if (!path.starts_with(whole) || !made_.emplace(whole).second)
      continue;
    if (whole == "/proc/cpuinfo")
      write_file(directory_ + std::string(whole), processors(cores_, sockets_));
    else if (whole == "/proc/meminfo")
      write_file(directory_ + std::string(whole), memory_text(memory_, ""));
    else if (whole == "/etc/hosts")
      write_file(directory_ + std::string(whole), hosts_);
    else if (whole == "/sys/devices/system/cpu")
      make_processors();
    else
      make_memory_nodes();
  }
}

// Documentation/ABI/stable/sysfs-devices-system-cpu of Linux.
void MachineFiles::make_processors()
{
  LinkedFiles files;
  const std::filesystem::path root = directory_ + "/sys/devices/system/cpu";
  for (const std::string_view list : lists_of_all)
    make(list);
  files.write(root / "offline", "\n");
  files.write(root / "isolated", "\n");
  files.write(root / "kernel_max", fmt::format("{}\n", cores_ - 1));
  files.write(root / "smt/active", "0\n");
  files.write(root / "smt/control", "notsupported\n");
  for (unsigned socket = 0; socket < sockets_; ++socket) {
    const Mask whole = cores_of(socket);
    unsigned number = 0;
    for (unsigned core = 0; core < cores_; ++core) {
      if (!whole[core])
        continue;
      const std::filesystem::path own = root / fmt::format("cpu{}", core);
      const Mask alone = one(core, cores_);
      const auto show = [&](const char* mask_name, const char* list_name, const Mask& mask) {
        files.write(own / "topology" / mask_name, mask_words(mask) + "\n");
        files.write(own / "topology" / list_name, mask_ranges(mask) + "\n");
      };
      show("thread_siblings", "thread_siblings_list", alone);
      show("core_cpus", "core_cpus_list", alone);
      show("core_siblings", "core_siblings_list", whole);
      show("package_cpus", "package_cpus_list", whole);
      show("die_cpus", "die_cpus_list", whole);
      files.write(own / "topology/core_id", fmt::format("{}\n", number++));
      files.write(own / "topology/physical_package_id", fmt::format("{}\n", socket));
      files.write(own / "topology/die_id", "0\n");
      if (core > 0)
        files.write(own / "online", "1\n");
      std::filesystem::create_symlink(fmt::format("../../node/node{}", socket), own / fmt::format("node{}", socket));
    }
  }
}

// Documentation/ABI/stable/sysfs-devices-node.
void MachineFiles::make_memory_nodes()
{
  make("/sys/devices/system/cpu"); // links lead there
  LinkedFiles files;
  const std::filesystem::path root = directory_ + "/sys/devices/system/node";
  const std::string all = mask_ranges(Mask(sockets_, true)) + "\n";
  for (const char* name : {"online", "possible", "has_cpu", "has_memory", "has_normal_memory"})
    files.write(root / name, all);
  for (unsigned socket = 0; socket < sockets_; ++socket) {
    const std::filesystem::path own = root / fmt::format("node{}", socket);
    const Mask cpus = cores_of(socket);
    files.write(own / "cpumap", mask_words(cpus) + "\n");
    files.write(own / "cpulist", mask_ranges(cpus) + "\n");
    files.write(own / "meminfo", memory_text(memory_ / sockets_, fmt::format("Node {} ", socket)));
    files.write(own / "numastat",
                "numa_hit 0\nnuma_miss 0\nnuma_foreign 0\ninterleave_hit 0\nlocal_node 0\nother_node 0\n");
    std::string distances;
    for (unsigned other = 0; other < sockets_; ++other) // as ACPI has them where the firmware says nothing
      distances += fmt::format("{}{}", other == 0 ? "" : " ", other == socket ? 10 : 20);
    files.write(own / "distance", distances + "\n");
    for (unsigned core = 0; core < cores_; ++core)
      if (cpus[core])
        std::filesystem::create_symlink(fmt::format("../../cpu/cpu{}", core), own / fmt::format("cpu{}", core));
  }
}

} // namespace umwelt::procfs
