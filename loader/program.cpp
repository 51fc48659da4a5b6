// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loader/program.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loader/elf_file.h"

namespace umwelt::loader
{

namespace fs = std::filesystem;

namespace
{

[[noreturn]] void refuse(const std::string& text)
{
  throw Refusal(Refusal::Kind::not_runnable, text);
}

std::string variable(const std::vector<std::string>& environment, std::string_view name)
{
  for (const std::string& entry : environment)
    if (entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name))
      return entry.substr(name.size() + 1);
  return {};
}

// What to do about a script that has no #! line.
std::string without_execution(const std::string& path)
{
  const std::string command = by_interpreter(path);
  return command.empty() ? fmt::format("chmod +x {}", path)
                         : fmt::format("umwelt run {}, or with a #! line chmod +x {}", command, path);
}

std::string search_path(const std::string& name, const std::string& path, const std::string& directory,
                        const std::string& own_programs)
{
  std::istringstream elements((path.empty() ? "/usr/local/bin:/bin:/usr/bin" : path) +
                              (own_programs.empty() ? "" : ":" + own_programs));
  std::string blocked;
  for (std::string element; std::getline(elements, element, ':');) {
    const fs::path candidate = fs::path(directory) / (element.empty() ? "." : element) / name;
    struct stat status {
    };
    if (stat(candidate.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
      continue;
    if (access(candidate.c_str(), X_OK) == 0)
      return candidate.lexically_normal();
    blocked = candidate;
  }
  if (!blocked.empty())
    refuse(fmt::format("{}: expected an executable file, found one without execute permission. Next step: {}", blocked,
                       without_execution(blocked)));
  const fs::path here = fs::path(directory) / name;
  const bool script = access(here.c_str(), F_OK) == 0 && access(here.c_str(), X_OK) != 0;
  const std::string command = script ? by_interpreter(name) : "";
  throw Refusal(Refusal::Kind::not_found,
                fmt::format("{}: no such program in PATH ({}). Next step: {}", name, path,
                            command.empty() ? fmt::format("give its path, for example ./{}", name)
                                            : fmt::format("name its interpreter: umwelt run {}", command)));
}

struct Shebang {
  std::string interpreter;
  std::optional<std::string> argument;
};

// First line of a script as execve(2) reads it.
std::optional<Shebang> read_shebang(const std::string& path)
{
  std::ifstream file(path, std::ios::binary);
  std::array<char, 256> head{}; // BINPRM_BUF_SIZE of Linux
  file.read(head.data(), head.size());
  std::string line(head.data(), static_cast<std::size_t>(file.gcount()));
  if (!line.starts_with("#!"))
    return std::nullopt;
  line = line.substr(2, line.find('\n') == std::string::npos ? std::string::npos : line.find('\n') - 2);
  const auto begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos)
    return std::nullopt;
  line = line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
  const auto gap = line.find_first_of(" \t");
  Shebang result{line.substr(0, gap), std::nullopt};
  if (gap != std::string::npos)
    result.argument = line.substr(line.find_first_not_of(" \t", gap));
  return result;
}

void check_kind(const std::string& path, const ElfFile& file)
{
  if (file.kind == ElfFile::Kind::not_elf) {
    const std::string command = by_interpreter(path);
    refuse(fmt::format("{}: expected an ELF executable or a script with a #! line, found neither. Next step: {}", path,
                       command.empty() ? fmt::format("check with `file {}`", path)
                                       : fmt::format("name its interpreter: umwelt run {}", command)));
  }
  if (!file.native)
    refuse(
        fmt::format("{}: expected a program for x86-64, 64-bit, found one for {}. Next step: build it for this machine",
                    path, file.machine));
  if (file.kind != ElfFile::Kind::executable && file.kind != ElfFile::Kind::shared)
    refuse(fmt::format("{}: expected an executable, found an object file or core dump", path));
  if (file.interpreter.empty())
    refuse(fmt::format("{}: expected a dynamically linked program, found a statically linked one (or a library). "
                       "Umwelt stands between a program and its shared libraries. Next step: link it without -static",
                       path));
  if (file.interpreter.find("ld-linux-x86-64") == std::string::npos)
    refuse(fmt::format("{}: expected a program for glibc (ld-linux-x86-64.so.2), found one for {}. Next step: build it "
                       "with the distribution's compiler",
                       path, file.interpreter));
  struct stat status {
  };
  if (stat(path.c_str(), &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID)) != 0)
    refuse(fmt::format("{}: expected an ordinary program, found a set-user-ID or set-group-ID one, which the dynamic "
                       "linker keeps apart from preloaded code. Next step: run a copy without the bit (cp, chmod u-s)",
                       path));
}

// What the dynamic linker itself says of the program (LD_TRACE_LOADED_OBJECTS, as ldd does): its own search, with all
// its rules, and missing libraries are named rather than fatal.
std::string list_libraries(const std::string& path, const ElfFile& file, const std::vector<std::string>& environment,
                           const std::string& directory)
{
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw std::runtime_error(fmt::format("pipe: {}", std::strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  std::array<std::string, 2> words = {file.interpreter, path};
  std::array<char*, 3> argv = {words[0].data(), words[1].data(), nullptr};
  std::string trace = "LD_TRACE_LOADED_OBJECTS=1";
  std::vector<char*> envp;
  envp.reserve(environment.size() + 2);
  for (const std::string& entry : environment)
    envp.push_back(const_cast<char*>(entry.c_str()));
  envp.push_back(trace.data());
  envp.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawn(&child, file.interpreter.c_str(), &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string output;
  std::array<char, 4096> buffer;
  for (ssize_t n = 0; error == 0 && (n = read(ends[0], buffer.data(), buffer.size())) > 0;)
    output.append(buffer.data(), static_cast<std::size_t>(n));
  close(ends[0]);
  if (error != 0)
    refuse(
        fmt::format("{}: its dynamic linker {} cannot be started: {}", path, file.interpreter, std::strerror(error)));
  int status = 0;
  waitpid(child, &status, 0);
  if (output.find("=>") == std::string::npos && status != 0)
    refuse(fmt::format("{}: the dynamic linker refuses it: {}", path, output.substr(0, output.find('\n'))));
  return output;
}

std::vector<Library> parse_list(const std::string& path, const std::string& output)
{
  std::vector<Library> result;
  std::string missing;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const auto arrow = line.find(" => ");
    if (line.find("version `") != std::string::npos && line.find("not found") != std::string::npos)
      refuse(fmt::format("{}: the libraries of this machine are too old for it: {}", path, line));
    if (arrow == std::string::npos)
      continue; // the vDSO and ld.so itself
    const auto begin = line.find_first_not_of(" \t");
    const std::string name = line.substr(begin, arrow - begin);
    std::string target = line.substr(arrow + 4);
    if (target.starts_with("not found")) {
      if (missing.find(name) == std::string::npos)
        missing += (missing.empty() ? "" : ", ") + name;
      continue;
    }
    target.resize(target.rfind(" (") == std::string::npos ? target.size() : target.rfind(" ("));
    if (name.find("ld-linux-x86-64") == std::string::npos)
      result.push_back({name, target});
  }
  if (!missing.empty())
    refuse(fmt::format("{}: shared libraries not found: {}. Next step: install them, or pass their directory with -x "
                       "LD_LIBRARY_PATH=DIRECTORY",
                       path, missing));
  return result;
}

} // namespace

std::string by_interpreter(const std::string& script)
{
  struct Ending {
    std::string_view ending;
    std::string_view interpreter;
  };
  constexpr auto known = std::to_array<Ending>(
      {{".py", "python3"}, {".sh", "sh"}, {".bash", "bash"}, {".pl", "perl"}, {".R", "Rscript"}, {".jl", "julia"}});
  for (const auto& [ending, interpreter] : known)
    if (script.ends_with(ending))
      return fmt::format("{} {}", interpreter, script);
  return {};
}

std::string locate_program(const std::string& name, const std::vector<std::string>& environment,
                           const std::string& directory, const std::string& own_programs)
{
  if (name.find('/') == std::string::npos)
    return search_path(name, variable(environment, "PATH"), directory, own_programs);
  std::string path = (fs::path(directory) / name).lexically_normal();
  struct stat status {
  };
  if (stat(path.c_str(), &status) != 0)
    throw Refusal(Refusal::Kind::not_found, fmt::format("{}: {}. Next step: check the path (looked up from {})", name,
                                                        std::strerror(errno), directory));
  if (S_ISDIR(status.st_mode))
    refuse(fmt::format("{}: expected a program, found a directory", name));
  if (!S_ISREG(status.st_mode))
    refuse(fmt::format("{}: expected a program, found something that is not a regular file", name));
  if (access(path.c_str(), X_OK) != 0)
    refuse(fmt::format("{}: expected an executable file, found one without execute permission. Next step: {}", name,
                       without_execution(name)));
  return path;
}

Program find_program(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                     const std::string& directory, const std::string& own_programs)
{
  Program program;
  program.argv = argv;
  program.path = locate_program(argv.front(), environment, directory, own_programs);
  constexpr int deepest = 5; // scripts of scripts, as Linux allows
  for (int depth = 0; const auto shebang = read_shebang(program.path); ++depth) {
    if (depth == deepest)
      refuse(fmt::format("{}: more than {} interpreters deep", argv.front(), deepest));
    std::vector<std::string> words{shebang->interpreter};
    if (shebang->argument)
      words.push_back(*shebang->argument);
    words.push_back(depth == 0 ? program.path : program.argv.front());
    words.insert(words.end(), program.argv.begin() + 1, program.argv.end());
    try {
      program.path = locate_program(shebang->interpreter, environment, directory, own_programs);
    } catch (const Refusal& refusal) {
      throw Refusal(refusal.kind(),
                    fmt::format("{}: script whose interpreter cannot be used: {}", argv.front(), refusal.what()));
    }
    program.argv = std::move(words);
  }
  ElfFile file;
  try {
    file = inspect(program.path);
  } catch (const std::system_error& error) {
    refuse(fmt::format("{}: expected a readable file, found: {}. Next step: chmod +r {}", program.path,
                       error.code().message(), program.path));
  }
  check_kind(program.path, file);
  if (file.kind == ElfFile::Kind::executable)
    program.linked_at = file.image;
  program.interpreter = file.interpreter;
  program.path = fs::canonical(program.path);
  program.libraries = parse_list(program.path, list_libraries(program.path, file, environment, directory));
  return program;
}

std::vector<Library> libraries_of(const std::string& object, const Program& program,
                                  const std::vector<std::string>& environment, const std::string& directory)
{
  try {
    return parse_list(object, list_libraries(object, inspect(program.path), environment, directory));
  } catch (const Refusal&) {
    return {};
  }
}

} // namespace umwelt::loader
