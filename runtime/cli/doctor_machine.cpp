// SPDX-License-Identifier: LGPL-2.1-or-later
// Processor, C library, kernel and file system.
#include "runtime/cli/doctor.h"

#include <algorithm>
#include <array>
#include <asm/prctl.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fmt/format.h>
#include <memory>
#include <sstream>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/usage_error.h"

#include "loader/known_linker.h"
#include "runtime/engine/syscalls.h"

namespace umwelt::cli
{
namespace
{

constexpr unsigned long hwcap2_fsgsbase = 1ul << 1; // Linux, Documentation/arch/x86/x86_64/fsgs.rst

unsigned long thread_pointer_by_instruction()
{
  unsigned long value = 0;
  asm volatile("rdfsbase %0" : "=r"(value));
  return value;
}

unsigned long thread_pointer_by_kernel()
{
  unsigned long value = 0;
  return syscall(SYS_arch_prctl, ARCH_GET_FS, &value) == 0 ? value : 0;
}

// The value behind "key:" in a file like /proc/self/status; -1 if it is not there.
int status_field(const std::string& status, const std::string& key)
{
  std::istringstream lines(status);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(key + ":"))
      return std::atoi(line.c_str() + key.size() + 1);
  }
  return -1;
}

// A file that is gone when the object is.
class ScratchFile
{
public:
  explicit ScratchFile(const std::filesystem::path& directory)
      : path_((directory / "umwelt-doctor-XXXXXX").string()), descriptor_(mkstemp(path_.data()))
  {
  }
  ~ScratchFile()
  {
    if (descriptor_ < 0)
      return;
    unlink(path_.c_str());
    close(descriptor_);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }

private:
  std::string path_;
  int descriptor_;
};

} // namespace

Finding check_fsgsbase()
{
  Finding finding{"FSGSBASE", Health::ok, "the processor switches thread pointers by itself", ""};
  if ((getauxval(AT_HWCAP2) & hwcap2_fsgsbase) == 0) {
    finding.health = Health::warn;
    finding.detail =
        "not available (AT_HWCAP2 bit 1): each crossing between a rank and the simulation costs two system calls";
    finding.advice = "Use Linux 5.9 or later without 'nofsgsbase', on a processor (or virtual machine) that has it.";
  } else if (thread_pointer_by_instruction() != thread_pointer_by_kernel()) {
    finding.health = Health::fail;
    finding.detail = "rdfsbase and arch_prctl disagree on the thread pointer";
    finding.advice = "The emulator or tracer that runs this process does not support FSGSBASE: run without it.";
  }
  return finding;
}

Finding check_syscall_dispatch()
{
  Finding finding{"system call dispatch", Health::ok, "waits of threads that go past the C library are simulated", ""};
  if (!engine::have_syscall_dispatch()) {
    finding.health = Health::warn;
    finding.detail =
        "not available: a thread that waits in the kernel by itself (libgomp) would stop all ranks, so OpenMP "
        "threads spin instead";
    finding.advice = "Use Linux 5.11 or later (prctl PR_SET_SYSCALL_USER_DISPATCH).";
  }
  return finding;
}

Finding check_memory_of_children()
{
  Finding finding{"memory of child processes", Health::ok,
                  "ranks in worker processes (-j, or linked with -no-pie) can run", ""};
  std::uint32_t here = 0;
  std::uint32_t there = 1;
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const iovec to{&here, sizeof here};
  const iovec from{&there, sizeof there};
  const bool reached = child > 0 && process_vm_readv(child, &to, 1, &from, 1, 0) == sizeof here && here == there;
  if (!reached) {
    finding.health = Health::warn;
    finding.detail = fmt::format("not to be reached ({}): ranks cannot run in worker processes", std::strerror(errno));
    finding.advice = "Allow process_vm_readv(2): docker run --cap-add SYS_PTRACE; else --workers 0 and no programs "
                     "linked with -no-pie.";
  }
  if (child > 0) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  return finding;
}

namespace
{

constexpr const char* tested_with = "Umwelt is tested with glibc 2.36 (Debian 12) and 2.41 (Debian 13): check a small "
                                    "program first.";

} // namespace

Finding check_glibc(const std::string& version)
{
  Finding finding{"C library", Health::ok, fmt::format("glibc {}", version), ""};
  int major = 0;
  int minor = 0;
  if (std::sscanf(version.c_str(), "%d.%d", &major, &minor) != 2 || major < 2 || (major == 2 && minor < 34)) {
    finding.health = Health::fail;
    finding.advice = "Use glibc 2.34 or later: the loader relies on how its start-up code calls main.";
    return finding;
  }
  // Since 2.35 it has both; what they are for: runtime/diagnose/symbols.h.
  finding.detail += major > 2 || minor > 34
                        ? ": has _dl_find_object (backtraces) and r_debug 2 (gdb)"
                        : ": lacks _dl_find_object (no backtraces) and r_debug 2 (gdb sees no rank)";
  if (major != 2 || (minor != 36 && minor != 41)) {
    finding.health = Health::warn;
    finding.advice = tested_with;
  }
  return finding;
}

Finding check_dynamic_linker()
{
  Finding finding{"dynamic linker", Health::ok, "one for each rank (--loader linker)", ""};
  if (const std::string unknown = loader::why_unknown("/lib64/ld-linux-x86-64.so.2"); !unknown.empty()) {
    finding.health = Health::warn;
    finding.detail = unknown + ": ranks are loaded with dlmopen, 15 to a process (--loader)";
    finding.advice = tested_with;
  }
  return finding;
}

Finding check_clock()
{
  timespec resolution{};
  Finding finding{"CPU clock", Health::ok, "", ""};
  if (clock_getres(CLOCK_THREAD_CPUTIME_ID, &resolution) != 0) {
    finding.health = Health::warn;
    finding.detail = fmt::format("CLOCK_THREAD_CPUTIME_ID: {}", std::strerror(errno));
  } else {
    finding.detail = fmt::format("resolution {} ns", resolution.tv_sec * 1'000'000'000 + resolution.tv_nsec);
    if (resolution.tv_sec != 0 || resolution.tv_nsec > 1000)
      finding.health = Health::warn;
  }
  if (finding.health != Health::ok)
    finding.advice = "Computation cannot be measured finely here: use --cpu none or --cpu fixed=NS.";
  return finding;
}

Finding check_directory(const std::filesystem::path& directory)
{
  Finding finding{"temporary directory", Health::ok, directory.string(), ""};
  const auto fail = [&](const std::string& why, std::string advice) {
    finding.health = Health::fail;
    finding.detail = fmt::format("{}: {}", directory.string(), why);
    finding.advice = std::move(advice);
    return finding;
  };
  const ScratchFile file(directory);
  if (file.descriptor() < 0)
    return fail(fmt::format("no file can be made ({})", std::strerror(errno)),
                "Set TMPDIR to a directory you may write to.");
  constexpr std::size_t page = 4096;
  if (ftruncate(file.descriptor(), page) != 0)
    return fail(fmt::format("no file can be written ({})", std::strerror(errno)),
                "Free space, or set TMPDIR to another directory.");
  struct statvfs space {
  };
  constexpr std::uint64_t wanted = 256ull << 20;
  if (statvfs(directory.c_str(), &space) == 0) {
    const std::uint64_t free = static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize;
    finding.detail += fmt::format(", {} MiB free", free >> 20);
    if (free < wanted) {
      finding.health = Health::warn;
      finding.advice = "Free space, or set TMPDIR to another directory: the files of the simulated nodes are there.";
    }
  }
  return finding;
}

Finding check_confinement(const std::string& process_status, const std::string& ptrace_scope)
{
  Finding finding{"confinement", Health::ok, "no seccomp filter", ""};
  const int seccomp = status_field(process_status, "Seccomp");
  if (seccomp < 0) {
    finding.health = Health::warn;
    finding.detail = "unknown: /proc/self/status has no Seccomp line";
    finding.advice = "Mount /proc.";
  } else if (seccomp == 1) {
    finding.health = Health::fail;
    finding.detail = "seccomp in strict mode: only read, write and exit are allowed";
    finding.advice = "Run outside this sandbox.";
  } else if (seccomp == 2)
    finding.detail =
        "a seccomp filter is in force (a container's, usually); if a run is killed by SIGSYS or told EPERM, "
        "try without it (docker: --security-opt seccomp=unconfined)";
  if (!ptrace_scope.empty() && std::atoi(ptrace_scope.c_str()) > 0)
    finding.detail += fmt::format("; ptrace_scope {}: a debugger must start umwelt itself, or run as root",
                                  std::atoi(ptrace_scope.c_str()));
  return finding;
}

Finding check_system_calls(const std::vector<std::string>& refused)
{
  if (refused.empty())
    return {"system calls", Health::ok, "those that every run needs are allowed", ""};
  return {"system calls", Health::fail, fmt::format("refused: {}", fmt::join(refused, "; ")),
          "Allow them in the seccomp profile of the container (docker: --security-opt seccomp=FILE)."};
}

} // namespace umwelt::cli
