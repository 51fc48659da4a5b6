// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/launch/run_facts.h"

#include <ctime>
#include <filesystem>
#include <fstream>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/version.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace umwelt::launch
{

namespace
{

std::string processor()
{
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name") && line.find(": ") != std::string::npos)
      return line.substr(line.find(": ") + 2);
  return {};
}

} // namespace

observe::RunFacts run_facts(const std::vector<std::string>& arguments, const std::string& platform)
{
  observe::RunFacts facts;
  facts.command = {"umwelt"};
  facts.command.insert(facts.command.end(), arguments.begin(), arguments.end());
  std::error_code nowhere;
  facts.directory = std::filesystem::current_path(nowhere).string();
  facts.started = fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)));
  int major = 0;
  int minor = 0;
  int patch = 0;
  sg_version_get(&major, &minor, &patch);
  facts.simgrid = fmt::format("{}.{}.{}", major, minor, patch);
  facts.platform = platform;
  utsname name{};
  if (uname(&name) == 0) {
    facts.host = name.nodename;
    facts.system = fmt::format("{} {} {}", name.sysname, name.release, name.machine);
  }
  facts.processor = processor();
  facts.cores = static_cast<unsigned>(sysconf(_SC_NPROCESSORS_ONLN));
  struct sysinfo memory = {};
  if (sysinfo(&memory) == 0)
    facts.memory_bytes = static_cast<std::uint64_t>(memory.totalram) * memory.mem_unit;
  return facts;
}

} // namespace umwelt::launch
