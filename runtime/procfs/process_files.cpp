// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/procfs/process_files.h"

#include <charconv>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

#include "runtime/procfs/file_writer.h"
#include "runtime/procfs/machine_files.h"

namespace umwelt::procfs
{

namespace fs = std::filesystem;

namespace
{

constexpr std::size_t name_max = 15; // TASK_COMM_LEN without the end

std::string name_of(const ProcessFacts& facts)
{
  return fs::path(facts.program).filename().string().substr(0, name_max);
}

// proc_pid_stat(5); fields are counted from 1.
std::string stat_line(const ProcessFacts& facts, const ProcessFacts::Thread& thread)
{
  const std::string host = read_file(fmt::format("/proc/{}/stat", facts.host_pid));
  const std::size_t name_end = host.rfind(')');
  std::istringstream rest(name_end == std::string::npos ? "" : host.substr(name_end + 1));
  std::vector<std::string> fields{std::to_string(thread.tid), "(" + name_of(facts) + ")"};
  for (std::string field; rest >> field;)
    fields.push_back(field);
  fields.resize(52, "0");
  const auto set = [&fields](std::size_t field, auto value) { fields[field - 1] = std::to_string(value); };
  fields[2] = thread.state;
  set(4, facts.parent);
  set(5, facts.pid);
  set(6, facts.session);
  set(7, 0);
  set(8, -1);
  set(14, facts.cpu_ticks);
  for (const std::size_t field : {15, 16, 17})
    set(field, 0);
  set(20, facts.threads.size());
  set(22, facts.started_ticks);
  set(39, thread.core);
  return fmt::format("{}\n", fmt::join(fields, " "));
}

std::string status_text(const ProcessFacts& facts, const ProcessFacts::Thread& thread)
{
  const std::map<std::string, std::string, std::less<>> own = {
      {"Name", name_of(facts)},
      {"State", thread.state == 'R' ? "R (running)" : "S (sleeping)"},
      {"Tgid", std::to_string(facts.pid)},
      {"Pid", std::to_string(thread.tid)},
      {"PPid", std::to_string(facts.parent)},
      {"TracerPid", "0"},
      {"NStgid", std::to_string(facts.pid)},
      {"NSpid", std::to_string(thread.tid)},
      {"NSpgid", std::to_string(facts.pid)},
      {"NSsid", std::to_string(facts.session)},
      {"Threads", std::to_string(facts.threads.size())},
      {"Cpus_allowed", mask_words(thread.allowed)},
      {"Cpus_allowed_list", mask_ranges(thread.allowed)},
      {"Mems_allowed", mask_words(Mask(facts.sockets, true))},
      {"Mems_allowed_list", mask_ranges(Mask(facts.sockets, true))},
  };
  std::istringstream lines(read_file(fmt::format("/proc/{}/status", facts.host_pid)));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    const auto found = own.find(line.substr(0, line.find(':')));
    text += found == own.end() ? line + "\n" : fmt::format("{}:\t{}\n", found->first, found->second);
  }
  return text;
}

std::string joined(const std::vector<std::string>& words)
{
  std::string text;
  for (const std::string& word : words) {
    text += word;
    text += '\0';
  }
  return text;
}

void replace_link(const fs::path& path, const std::string& target)
{
  const fs::path draft = path.string() + ".new";
  std::error_code ignored;
  fs::remove(draft, ignored);
  fs::create_symlink(target, draft);
  fs::rename(draft, path);
}

// False: there is none of that name, or it is the machine's.
bool make_file(const fs::path& own, const ProcessFacts& facts, std::string_view name)
{
  if (name == "stat")
    replace_file(own / name, stat_line(facts, facts.threads.front()));
  else if (name == "status")
    replace_file(own / name, status_text(facts, facts.threads.front()));
  else if (name == "statm")
    replace_file(own / name, read_file(fmt::format("/proc/{}/statm", facts.host_pid)));
  else if (name == "comm")
    replace_file(own / name, name_of(facts) + "\n");
  else if (name == "environ")
    replace_file(own / name, joined(facts.environment));
  else if (name == "cgroup")
    replace_file(own / name, "0::/\n");
  else if (name == "cmdline")
    replace_file(own / name, joined(facts.argv));
  else
    return false;
  return true;
}

// Their directories, and what is in those of which `named` is true.
template <class Named> void make_threads(const fs::path& task, const ProcessFacts& facts, const Named& named)
{
  std::set<std::string> tids;
  for (const ProcessFacts::Thread& thread : facts.threads) {
    const std::string tid = std::to_string(thread.tid);
    fs::create_directories(task / tid);
    if (named(tid)) {
      replace_file(task / tid / "stat", stat_line(facts, thread));
      replace_file(task / tid / "status", status_text(facts, thread));
      replace_file(task / tid / "comm", name_of(facts) + "\n");
    }
    tids.insert(tid);
  }
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(task))
    if (!tids.contains(entry.path().filename()))
      fs::remove_all(entry.path(), ignored);
}

void make_all(const fs::path& own, const ProcessFacts& facts)
{
  make_threads(own / "task", facts, [](const std::string&) { return true; });
  for (const char* name : {"stat", "status", "statm"})
    make_file(own, facts, name);
  replace_link(own / "cwd", facts.directory);
  if (fs::is_symlink(own / "maps")) // the machine's: all has been made before
    return;
  for (const char* name : {"comm", "environ", "cgroup", "cmdline"})
    make_file(own, facts, name);
  if (facts.program.starts_with('/'))
    fs::create_symlink(facts.program, own / "exe");
  std::error_code ignored;
  for (const auto& entry :
       fs::directory_iterator(fmt::format("/proc/{}", facts.host_pid), ignored)) { // the rest: fd, maps ...
    const fs::path link = own / entry.path().filename();
    if (!fs::exists(fs::symlink_status(link)) && link.filename() != "exe")
      fs::create_symlink(entry.path(), link, ignored);
  }
}

} // namespace

int process_of(std::string_view path)
{
  constexpr std::string_view directory = "/proc/";
  int pid = 0;
  if (!path.starts_with(directory))
    return 0;
  const char* end = path.data() + path.size();
  const auto [rest, error] = std::from_chars(path.data() + directory.size(), end, pid);
  return error == std::errc() && (rest == end || *rest == '/') ? pid : 0;
}

void make_process_files(const std::string& directory, const ProcessFacts& facts, std::string_view path)
{
  const fs::path own = fs::path(directory) / std::to_string(facts.pid);
  const std::size_t behind_pid = path.find('/', std::string_view("/proc/").size());
  const std::string_view rest = behind_pid == std::string_view::npos ? "" : path.substr(behind_pid + 1);
  if (rest == "task" || rest.starts_with("task/"))
    make_threads(own / "task", facts, [rest](const std::string& tid) {
      const std::string thread = "task/" + tid;
      return rest == thread || rest.starts_with(thread + "/");
    });
  else if (!make_file(own, facts, rest))
    make_all(own, facts);
}

} // namespace umwelt::procfs
