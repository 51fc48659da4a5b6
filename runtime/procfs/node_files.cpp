// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/procfs/node_files.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "runtime/procfs/file_writer.h"
#include "runtime/sockets/address.h"

namespace umwelt::procfs
{

namespace fs = std::filesystem;

namespace
{

constexpr const char* nic_slot = "0000:00:01.0"; // in PCI's terms

struct Interface {
  int index;
  int mtu;
  int type;          // ARPHRD_
  int flags;         // IFF_
  const char* speed; // Mbit/s; lo has none
  std::string hardware_address;
};

void make_interface(const fs::path& own, const Interface& interface)
{
  write_file(own / "address", interface.hardware_address + "\n");
  write_file(own / "ifindex", fmt::format("{}\n", interface.index));
  write_file(own / "mtu", fmt::format("{}\n", interface.mtu));
  write_file(own / "type", fmt::format("{}\n", interface.type));
  write_file(own / "flags", fmt::format("{:#x}\n", interface.flags));
  write_file(own / "operstate", "up\n");
  write_file(own / "carrier", "1\n");
  if (*interface.speed != '\0') {
    write_file(own / "speed", interface.speed);
    write_file(own / "duplex", "full\n");
  }
}

std::string hardware_address(std::uint32_t address)
{
  const auto byte = [address](int n) { return address >> 8 * (3 - n) & 0xff; };
  return fmt::format("02:00:{:02x}:{:02x}:{:02x}:{:02x}", byte(0), byte(1), byte(2), byte(3));
}

void link(const fs::path& path, const std::string& target)
{
  fs::create_directories(path.parent_path());
  fs::create_symlink(target, path);
}

std::string network_devices()
{
  constexpr const char* counters = "       0       0    0    0    0     0          0         0        0       0    0   "
                                   " 0    0     0       0          0\n";
  return fmt::format("Inter-|   Receive                                                |  Transmit\n"
                     " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop "
                     "fifo colls carrier compressed\n"
                     "    lo:{0}  bxi0:{0}",
                     counters);
}

constexpr const char* routes = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
                               "bxi0\t0000000A\t00000000\t0001\t0\t0\t0\t000000FF\t0\t0\t0\n";

// Address, index of the interface, length of the prefix, scope, flags (permanent), name: addrconf.c of Linux.
std::string ipv6_addresses(net::NodeIndex node)
{
  const auto line = [](sockets::IpAddress address, int index, int prefix, int scope, const char* name) {
    return fmt::format("{:016x}{:016x} {:02x} {:02x} {:02x} 80 {:>8}\n", address.high(), address.low(), index, prefix,
                       scope, name);
  };
  return line(sockets::loopback_v6, UMW_LOOPBACK_INDEX, 128, 0x10, "lo") +
         line(sockets::unique_local_of(node), UMW_NETWORK_INDEX, 64, 0, "bxi0") +
         line(sockets::link_local_of(node), UMW_NETWORK_INDEX, 64, 0x20, "bxi0");
}

// Seconds since the node has started.
double uptime(const NodeNow& node)
{
  return static_cast<double>(node.uptime_origin_ns) / 1e9 + sim::to_seconds(node.now);
}

// The average of the kernel for processes that have all run since the simulation began
// (Documentation/scheduler/loadavg).
std::string load(const NodeNow& node)
{
  const double seconds = sim::to_seconds(node.now);
  const unsigned count = node.running();
  const auto over = [&](double minutes) { return count * (1 - std::exp(-seconds / (60 * minutes))); };
  return fmt::format("{:.2f} {:.2f} {:.2f} {}/{} {}\n", over(1), over(5), over(15), count, count + 1, node.looking);
}

// CPU time of the node's cores in 1/100 s: what a rank has computed counts for the core of its main thread.
std::vector<std::uint64_t> busy(const NodeNow& node)
{
  std::vector<std::uint64_t> ticks(node.cores);
  for (const NodeNow::Process& process : node.processes)
    ticks[process.core] += static_cast<std::uint64_t>(process.cpu_ticks);
  return ticks;
}

std::string uptime_text(const NodeNow& node)
{
  double idle = uptime(node) * node.cores;
  for (const std::uint64_t ticks : busy(node))
    idle -= static_cast<double>(ticks) / 100;
  return fmt::format("{:.2f} {:.2f}\n", uptime(node), idle);
}

std::string statistics(const NodeNow& node)
{
  const auto whole = static_cast<std::uint64_t>(uptime(node) * 100);
  const std::vector<std::uint64_t> each = busy(node);
  const auto line = [](const std::string& name, std::uint64_t user, std::uint64_t idle) {
    return fmt::format("{} {} 0 0 {} 0 0 0 0 0 0\n", name, user, idle);
  };
  std::uint64_t sum = 0;
  std::string cores;
  for (std::size_t core = 0; core < each.size(); ++core) {
    sum += each[core];
    cores += line(fmt::format("cpu{}", core), each[core], whole - std::min(each[core], whole));
  }
  return line("cpu ", sum, whole * each.size() - std::min(sum, whole * each.size())) + cores +
         fmt::format("intr 0\nctxt 0\nbtime {}\nprocesses {}\nprocs_running {}\nprocs_blocked 0\nsoftirq 0\n",
                     (node.realtime_origin_ns - node.uptime_origin_ns) / 1'000'000'000, node.looking, node.running());
}

ProcessFacts launcher_of(const NodeNow& node)
{
  return {.pid = node.launcher,
          .parent = 1,
          .session = node.launcher,
          .host_pid = getpid(),
          .program = "umwelt",
          .argv = {"umwelt"},
          .environment = {},
          .directory = "/",
          .started_ticks = node.uptime_origin_ns / 10'000'000,
          .cpu_ticks = 0,
          .sockets = node.sockets,
          .threads = {{node.launcher, 'S', Mask(node.cores, true), 0}}};
}

} // namespace

unsigned NodeNow::running() const
{
  return static_cast<unsigned>(std::ranges::count(processes, false, &Process::ended));
}

NodeFiles::NodeFiles(const platform::Platform& platform, std::span<const std::string> hostnames, std::string directory)
    : platform_(platform), hostnames_(hostnames), directory_(std::move(directory))
{
}

std::string NodeFiles::session(std::uint32_t node)
{
  std::string path = fmt::format("{}/session/{}", directory_, node);
  if (fs::create_directories(path + "/shm"))
    fs::permissions(path + "/shm", fs::perms::all | fs::perms::sticky_bit); // as of every /dev/shm
  return path;
}

MachineFiles& NodeFiles::machine(std::uint32_t node)
{
  if (hosts_.empty()) {
    hosts_ = "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n";
    for (std::uint32_t other = 0; other < platform_.node_count(); ++other)
      for (const sockets::IpAddress address :
           {sockets::IpAddress{sockets::host_of(other)}, sockets::unique_local_of(other)})
        hosts_ += fmt::format("{}\t{}\n", address.text(), hostnames_[other]);
  }
  const platform::Node& wanted = platform_.node(node);
  for (const auto& kind : kinds_)
    if (kind->is_of(wanted))
      return *kind;
  kinds_.push_back(
      std::make_unique<MachineFiles>(fmt::format("{}/machine/{}", directory_, kinds_.size()), wanted, hosts_));
  return *kinds_.back();
}

void NodeFiles::make(const NodeNow& now, std::string_view path)
{
  const fs::path root = now.session + "/files";
  const auto below = [path](std::string_view tree) {
    return path.starts_with(tree) && (path.size() == tree.size() || path[tree.size()] == '/');
  };
  const auto first = [&](std::string_view tree) { return below(tree) && made_[now.node].emplace(tree).second; };
  if (path == "/proc")
    list_processes(now);
  else if (path == "/proc/stat")
    replace_file(root / "proc/stat", statistics(now));
  else if (path == "/proc/loadavg")
    replace_file(root / "proc/loadavg", load(now));
  else if (path == "/proc/uptime")
    replace_file(root / "proc/uptime", uptime_text(now));
  else if (const int pid = process_of(path); pid > 0)
    make_process(now, pid, path);
  else if (below("/sys/devices/system/cpu") || below("/sys/devices/system/node") || below("/proc/cpuinfo") ||
           below("/proc/meminfo") || below("/etc/hosts"))
    machine(now.node).make(path);
  else if (below("/sys/devices") || below("/sys/class") || below("/sys/bus")) {
    if (made_[now.node].emplace("devices").second)
      make_devices(now);
  } else if (first("/proc/net")) {
    write_file(root / "proc/net/dev", network_devices());
    write_file(root / "proc/net/route", routes);
    write_file(root / "proc/net/if_inet6", ipv6_addresses(now.node));
  } else if (first("/proc/sys/kernel/hostname"))
    write_file(root / "proc/sys/kernel/hostname", fmt::format("{}\n", now.host_name));
  else if (first("/proc/sys/kernel/random/boot_id")) // by which UCX tells whether two processes run on one machine
    write_file(root / "proc/sys/kernel/random/boot_id",
               fmt::format("{:08x}-0000-4000-8000-000000000000\n", sockets::host_of(now.node)));
  else if (first("/etc/hostname"))
    write_file(root / "etc/hostname", fmt::format("{}\n", now.host_name));
  else if (first("/sys/block")) // no disk, and no limit of a control group
    fs::create_directories(root / "sys/block");
  else if (first("/sys/fs/cgroup"))
    fs::create_directories(root / "sys/fs/cgroup");
}

// The NIC as a PCI device (119f is Bull's number, 1121 a BXI host channel adapter in the PCI ID database), with an
// interface for IP and one of class bxi, of which hwloc reads `uuid`. `nid` is the node's in Portals.
void NodeFiles::make_devices(const NodeNow& now)
{
  const fs::path root = now.session + "/files/sys";
  const std::uint32_t address = sockets::host_of(now.node);
  const std::string slot = fmt::format("devices/pci0000:00/{}", nic_slot);
  const fs::path nic = root / slot;
  for (const auto& [name, text] : std::map<std::string, std::string>{{"vendor", "0x119f"},
                                                                     {"device", "0x1121"},
                                                                     {"subsystem_vendor", "0x119f"},
                                                                     {"subsystem_device", "0x1121"},
                                                                     {"class", "0x028000"},
                                                                     {"revision", "0x00"},
                                                                     {"irq", "0"},
                                                                     {"enable", "1"},
                                                                     {"numa_node", "0"}})
    write_file(nic / name, text + "\n");
  std::string configuration(256, '\0'); // PCI Local Bus Specification 3.0, 6.1
  configuration.replace(0, 4, "\x9f\x11\x21\x11");
  configuration.replace(9, 3, std::string("\0\x80\x02", 3));
  configuration.replace(0x2c, 4, "\x9f\x11\x21\x11");
  write_file(nic / "config", configuration);
  std::string resources;
  for (int i = 0; i < 13; ++i)
    resources += "0x0000000000000000 0x0000000000000000 0x0000000000000000\n";
  write_file(nic / "resource", resources);
  machine(now.node).make("/sys/devices/system/node");
  for (const auto& [name, of_node] : {std::pair{"local_cpus", "cpumap"}, {"local_cpulist", "cpulist"}})
    write_file(nic / name,
               read_file(fmt::format("{}/sys/devices/system/node/node0/{}", machine(now.node).directory(), of_node)));
  write_file(nic / "uevent",
             fmt::format("PCI_CLASS=28000\nPCI_ID=119F:1121\nPCI_SUBSYS_ID=119F:1121\nPCI_SLOT_NAME={}\n", nic_slot));
  link(nic / "subsystem", "../../../bus/pci");
  link(root / "bus/pci/devices" / nic_slot, "../../../" + slot);

  make_interface(root / "devices/virtual/net/lo", {1, 65536, 772, 0x49, "", "00:00:00:00:00:00"});
  make_interface(nic / "net/bxi0", {2, 65520, 1, 0x1043, "100000\n", hardware_address(address)});
  write_file(nic / "bxi/bxi0/nid", fmt::format("{}\n", now.node));
  write_file(nic / "bxi/bxi0/uuid", fmt::format("00000000-0000-0000-0000-0200{:08x}\n", address));
  for (const char* class_name : {"net", "bxi"}) {
    link(nic / class_name / "bxi0/device", fmt::format("../../../{}", nic_slot));
    link(nic / class_name / "bxi0/subsystem", fmt::format("../../../../../class/{}", class_name));
    link(root / "class" / class_name / "bxi0", fmt::format("../../{}/{}/bxi0", slot, class_name));
  }
  link(root / "class/net/lo", "../../devices/virtual/net/lo");
  fs::create_directories(root / "devices/system/cpu"); // their files are of the node's kind
  fs::create_directories(root / "devices/system/node");
}

// --- processes -------------------------------------------------------------------------------------------------------

// The names alone: what is behind them is made when it is named, or is the machine's.
void NodeFiles::list_processes(const NodeNow& now)
{
  const fs::path root = now.session + "/files/proc";
  for (const NodeNow::Process& process : now.processes)
    if (!process.ended)
      fs::create_directories(root / std::to_string(process.pid));
  fs::create_directories(root / std::to_string(now.launcher));
  if (!made_[now.node].emplace("/proc").second)
    return;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    const fs::path here = root / name;
    if (name.find_first_not_of("0123456789") == std::string::npos || fs::exists(fs::symlink_status(here)))
      continue;
    if (entry.is_symlink(ignored))
      fs::create_symlink(name, here, ignored);
    else if (entry.is_directory(ignored))
      fs::create_directory(here);
    else
      write_file(here, "");
  }
}

void NodeFiles::make_process(const NodeNow& now, int pid, std::string_view path)
{
  if (pid == now.launcher) {
    make_process_files(now.session + "/files/proc", launcher_of(now), path);
    return;
  }
  for (const NodeNow::Process& process : now.processes)
    if (process.pid == pid && !process.ended)
      make_process_files(now.session + "/files/proc", process.facts(), path);
  const fs::path self = fmt::format("{}/self/{}", now.session, pid); // where that process is led to by /proc/self
  if (!fs::is_symlink(self))
    link(self, fmt::format("../files/proc/{}", pid));
}

void NodeFiles::ended(const std::string& session, int pid)
{
  std::error_code ignored;
  fs::remove_all(fmt::format("{}/files/proc/{}", session, pid), ignored);
}

} // namespace umwelt::procfs
