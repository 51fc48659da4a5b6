// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loader/namespace.h"

#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include "loader/parked_thread.h"
#include "loader/private_copy.h"
#include "loader/stub.h"
#include "loader/tls_reserve.h"

namespace umwelt::loader
{

namespace
{

unsigned used = 0; // a namespace is never given back
umw_linker_turn linker_turn;

const char* variable(const LoadStart& start, std::string_view name)
{
  for (const char* entry : start.envp)
    if (entry != nullptr && std::strncmp(entry, name.data(), name.size()) == 0 && entry[name.size()] == '=')
      return entry + name.size() + 1;
  return "";
}

// Of this process, since others of the run have files of their own; `kind`: what is in it.
std::string make_place(const std::string& directory, const std::string& kind)
{
  std::string place = fmt::format("{}/{}-{}", directory, kind, getpid());
  std::filesystem::create_directories(place);
  return place;
}

// One for all ranks of the process that have the program: they share its pages.
const std::string& copy_of(const std::string& program, const std::string& directory)
{
  static std::map<std::string, std::string> copies;
  const auto [entry, is_new] = copies.try_emplace(program);
  if (is_new) {
    const std::filesystem::path place = make_place(directory, fmt::format("program{}", copies.size()));
    entry->second = place / std::filesystem::path(program).filename();
    make_private_copy(program, entry->second);
  }
  return entry->second;
}

// By which name others need a library, as far as it is a file that can be read.
const std::string& soname_of(const std::string& path)
{
  static std::map<std::string, std::string> known;
  const auto [entry, is_new] = known.try_emplace(path);
  if (is_new) {
    try {
      entry->second = inspect(path).soname;
    } catch (const std::system_error&) {
      entry->second = std::filesystem::path(path).filename(); // ld.so looks for it
    }
  }
  return entry->second;
}

// The global scope of a process: the program, what is preloaded, and what these need, but for libraries that something
// preloaded stands for.
std::vector<std::string> global_scope(const LoadStart& start, const std::string& copy)
{
  std::vector<std::string> names{copy};
  std::string preloaded = variable(start, "LD_PRELOAD");
  for (char& c : preloaded)
    if (c == ':')
      c = ' '; // ld.so(8)
  std::istringstream words(preloaded);
  for (std::string word; words >> word;)
    names.push_back(word);
  names.insert(names.end(), start.preloaded.begin(), start.preloaded.end());
  std::set<std::string> there;
  for (auto name = names.begin() + 1; name != names.end(); ++name)
    there.insert(soname_of(*name));
  for (const std::string& library : start.libraries)
    if (!there.contains(std::filesystem::path(library).filename()))
      names.push_back(library);
  return names;
}

// struct r_debug_extended of glibc 2.35's link.h.
struct Lists {
  r_debug list;
  Lists* next;
};

r_debug* list_that_begins_with(const link_map* first)
{
  constexpr int with_next = 2;
  if (_r_debug.r_version < with_next)
    return nullptr;
  for (auto* each = reinterpret_cast<Lists*>(&_r_debug); each != nullptr; each = each->next)
    if (each->list.r_map == first)
      return &each->list;
  return nullptr;
}

} // namespace

bool Namespace::is_one_left()
{
  return used < capacity;
}

umw_linker_turn& Namespace::turn()
{
  return linker_turn;
}

// elf/dl-tls.c of glibc: room for the C library of each namespace, and for what other libraries have of static
// thread-local storage, since each namespace has its own of those, too.
std::vector<std::string> Namespace::needed_environment()
{
  constexpr unsigned per_rank = 4096;
  const char* const users = std::getenv("GLIBC_TUNABLES");
  return {fmt::format("GLIBC_TUNABLES={}{}glibc.rtld.nns={}:glibc.rtld.optional_static_tls={}",
                      users != nullptr ? users : "", users != nullptr && *users != '\0' ? ":" : "", capacity + 1,
                      capacity * per_rank)};
}

std::string Namespace::write_scope(const umw_gate& gate, const std::string& directory,
                                   std::span<const std::string> objects, std::uintptr_t initialiser)
{
  static unsigned number = 0;
  std::string path = fmt::format("{}/{}.so", make_place(directory, "scopes"), number++);
  write_stub(path, objects, {"umw_stub_gate", reinterpret_cast<std::uintptr_t>(&gate)}, initialiser);
  return path;
}

Namespace::Namespace(umw_gate& gate, std::string directory) : RankLoader(gate), directory_(std::move(directory))
{
}

bool Namespace::is_own(const link_map& object) const
{
  return &object != first_ && object.l_addr != debug_->r_ldbase;
}

// In the parked thread, with its thread control block, which becomes the rank's.
void Namespace::open(void* self)
{
  auto& here = *static_cast<Namespace*>(self);
  umw_handover& handover = here.gate().handover;
  const bool at_once = std::getenv("LD_BIND_NOW") != nullptr;
  void* const handle = dlmopen(LM_ID_NEWLM, here.stub_.c_str(), (at_once ? RTLD_NOW : RTLD_LAZY) | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const message = dlerror();
    here.wrong_ = message != nullptr ? message : "unknown error of the dynamic linker";
    end_parked_thread(handover, UMW_GAVE_UP, 0);
  }
  dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&here.first_));
  here.start_ = dlsym(handle, "umw_namespace_start");
  here.change_notice_ = reinterpret_cast<std::uintptr_t>(dlsym(handle, "umw_objects_changed"));
  asm("mov %%fs:0, %0" : "=r"(handover.thread_pointer)); // the TCB's first word is its own address
  end_parked_thread(handover, UMW_HANDED_OVER, 0);
}

std::vector<AuxiliaryEntry> Namespace::auxiliary_vector(const LoadStart& start) const
{
  const ElfW(Ehdr)* const header = elf_header(gate(), *program());
  if (header == nullptr)
    throw std::runtime_error("the program is not among what has been loaded");
  return {{AT_BASE, debug_->r_ldbase},
          {AT_PHDR, reinterpret_cast<std::uintptr_t>(program_headers(*header))},
          {AT_PHENT, header->e_phentsize},
          {AT_PHNUM, header->e_phnum},
          {AT_ENTRY, program()->l_addr + header->e_entry},
          {AT_EXECFN, reinterpret_cast<std::uintptr_t>(start.argv.front())},
          {UMW_STACK_AUXV, reinterpret_cast<std::uintptr_t>(start.stack_bottom)}};
}

void Namespace::begin(const LoadStart& start)
{
  if (!is_one_left())
    throw std::runtime_error(
        fmt::format("expected a dlmopen namespace, got none: a process has {} for ranks", capacity));
  if (tls_reserve_is_last == nullptr || !tls_reserve_is_last())
    throw std::runtime_error("thread-local variables of programs have no room in umwelt as it was linked");
  ++used;
  stub_ = write_scope(gate(), directory_, global_scope(start, copy_of(start.program, directory_)), 0);
  gate().linker_turn = &linker_turn;
  constexpr std::size_t stack_bytes = 1024UL * 1024; // ld.so has lists of all objects on it
  start_parked_thread(open, this, stack_bytes, gate().handover);
  wait_for_handover(gate().handover);
  if (gate().handover.state != UMW_HANDED_OVER)
    return;
  debug_ = list_that_begins_with(first_);
  if (debug_ == nullptr || start_ == nullptr)
    throw std::runtime_error("glibc 2.35 or later is needed, and the shim of this umwelt");
  if (start.linked_at.end > start.linked_at.begin && program()->l_addr != 0)
    throw std::runtime_error("a program that is not position-independent got another place from the kernel");
  const std::vector<std::uintptr_t> initial = initial_stack(start.argv, start.envp, auxiliary_vector(start));
  const std::uintptr_t top = make_stack(start.stack_bottom);
  auto* const stack =
      reinterpret_cast<std::uintptr_t*>((top - initial.size() * sizeof(std::uintptr_t)) & ~std::uintptr_t{15});
  std::memcpy(stack, initial.data(), initial.size() * sizeof(std::uintptr_t));
  gate().handover.stack = reinterpret_cast<std::uintptr_t>(stack);
  gate().handover.code = reinterpret_cast<std::uintptr_t>(start_);
}

} // namespace umwelt::loader
