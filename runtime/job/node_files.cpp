// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/node_files.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

namespace umwelt::job
{

namespace fs = std::filesystem;

namespace
{

void write(const fs::path& path, const std::string& text)
{
  fs::create_directories(path.parent_path());
  std::ofstream file(path);
  file << text;
  if (!file.flush())
    throw std::system_error(errno, std::generic_category(), path.string());
}

struct Interface {
  const char* name;
  int index;
  int mtu;
  int type;          // ARPHRD_
  int flags;         // IFF_
  const char* speed; // Mbit/s; lo has none
  std::string hardware_address;
};

void make_interface(const fs::path& folder, const Interface& interface)
{
  const fs::path own = folder / interface.name;
  write(own / "address", interface.hardware_address + "\n");
  write(own / "ifindex", fmt::format("{}\n", interface.index));
  write(own / "mtu", fmt::format("{}\n", interface.mtu));
  write(own / "type", fmt::format("{}\n", interface.type));
  write(own / "flags", fmt::format("{:#x}\n", interface.flags));
  write(own / "operstate", "up\n");
  write(own / "carrier", "1\n");
  if (*interface.speed != '\0') {
    write(own / "speed", interface.speed);
    write(own / "duplex", "full\n");
  }
}

} // namespace

void make_node_files(const std::string& folder, std::uint32_t address)
{
  const fs::path root = fs::path(folder) / "files";
  const auto byte = [address](int n) { return address >> 8 * (3 - n) & 0xff; };
  make_interface(root / "sys/class/net", {"lo", 1, 65536, 772, 0x49, "", "00:00:00:00:00:00"});
  make_interface(root / "sys/class/net",
                 {"bxi0", 2, 65520, 1, 0x1043, "100000\n",
                  fmt::format("02:00:{:02x}:{:02x}:{:02x}:{:02x}", byte(0), byte(1), byte(2), byte(3))});
  constexpr const char* counters = "       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0\n";
  write(root / "proc/net/dev",
        fmt::format("Inter-|   Receive                                                |  Transmit\n"
                    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n"
                    "    lo:{0}  bxi0:{0}",
                    counters));
  write(root / "proc/net/route", "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
                                 "bxi0\t0000000A\t00000000\t0001\t0\t0\t0\t000000FF\t0\t0\t0\n");
}

} // namespace umwelt::job
