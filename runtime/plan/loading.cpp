// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/plan/loading.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <link.h>

#include "loader/known_linker.h"
#include "loader/namespace.h"
#include "loader/private_copy.h"

namespace umwelt::plan
{

namespace
{

// Of this process: what dlmopen uses.
std::string own_linker()
{
  for (const link_map* object = _r_debug.r_map; object != nullptr; object = object->l_next)
    if (object->l_addr == _r_debug.r_ldbase)
      return object->l_name;
  return {};
}

void check_dlmopen(std::span<const loader::Program* const> programs)
{
  const std::string own = own_linker();
  for (const loader::Program* program : programs) {
    std::error_code error;
    if (!program->interpreter.empty() && !std::filesystem::equivalent(program->interpreter, own, error))
      throw loader::Refusal(loader::Refusal::Kind::not_runnable,
                            fmt::format("{}: --loader dlmopen: expected the dynamic linker that umwelt itself has, {}, "
                                        "got {}. Next step: --loader linker",
                                        program->path, own, program->interpreter));
    if (const std::string why = program->path.empty() ? "" : loader::why_not_copied(program->path); !why.empty())
      throw loader::Refusal(loader::Refusal::Kind::not_runnable, why);
  }
}

} // namespace

LoaderChoice choose_loader(Loader wish, std::span<const loader::Program* const> programs)
{
  if (wish == Loader::dlmopen)
    check_dlmopen(programs);
  if (wish != Loader::automatic)
    return {wish, ""};
  for (const loader::Program* program : programs) {
    const std::string unknown = program->interpreter.empty() ? "" : loader::why_unknown(program->interpreter);
    if (unknown.empty())
      continue;
    try {
      check_dlmopen(programs);
    } catch (const loader::Refusal& refusal) {
      return {Loader::linker,
              fmt::format("{}; --loader linker is tried all the same, since dlmopen is not for this program ({})",
                          unknown, refusal.what())};
    }
    return {Loader::dlmopen, fmt::format("{}: ranks are loaded by dlmopen (--loader), {} to a process", unknown,
                                         loader::Namespace::capacity)};
  }
  return {Loader::linker, ""};
}

unsigned room_with(Loader loader, unsigned room)
{
  return loader == Loader::dlmopen ? std::min(room, loader::Namespace::capacity) : room;
}

} // namespace umwelt::plan
