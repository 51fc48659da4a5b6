// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/openmpi/components.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <vector>

#include "loader/program.h"
#include "runtime/base/usage_error.h"
#include "runtime/openmpi/build.h"
#include "runtime/openmpi/content.h"
#include "runtime/openmpi/library.h"

namespace umwelt::openmpi
{

namespace fs = std::filesystem;

namespace
{

constexpr const char* source_variable = "UMWELT_OPENMPI_SOURCE";

bool is_own(const fs::path& library)
{
  return !own_identity().empty() && identity(library) == own_identity();
}

} // namespace

std::string_view own_version()
{
  return UMWELT_OPENMPI_VERSION;
}

std::string_view own_identity()
{
  return UMWELT_OPENMPI_IDENTITY;
}

fs::path kept_at(const fs::path& library, const Lookup& environment)
{
  fs::path cache;
  if (const auto given = environment("XDG_CACHE_HOME"); given && fs::path(*given).is_absolute())
    cache = *given; // others are to be ignored (XDG Base Directory Specification 0.8)
  else if (const auto home = environment("HOME"); home && !home->empty())
    cache = fs::path(*home) / ".cache";
  else
    throw UsageError("HOME", "a directory below which components for Open MPI are kept", "none",
                     "Set HOME or XDG_CACHE_HOME.");
  return cache / "umwelt" / "openmpi" / identity(library);
}

std::string made_by(const Parts& parts)
{
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(parts.recipe, error), end; !error && entry != end; entry.increment(error))
    if (entry->is_regular_file(error))
      files.push_back(entry->path());
  std::sort(files.begin(), files.end());
  return fmt::format("recipe {:016x}\nlibraries {}\n", content_hash(files), parts.libraries.string());
}

std::optional<fs::path> find(const Parts& parts, const fs::path& library, const Lookup& environment)
{
  if (is_own(library))
    return parts.components;
  if (!environment("HOME") && !environment("XDG_CACHE_HOME"))
    return std::nullopt;
  fs::path kept = kept_at(library, environment);
  std::ifstream in(kept / "made");
  std::ostringstream text;
  text << in.rdbuf();
  return in && text.str() == made_by(parts) ? std::optional(kept) : std::nullopt;
}

fs::path choose(const Parts& parts, const fs::path& library, const Lookup& environment)
{
  if (const auto found = find(parts, library, environment))
    return *found;
  if (const auto source = environment(source_variable); source && !source->empty())
    return build(parts, library, *source, environment);
  const std::string version = version_of(library);
  // A distribution corrects its package now and then: the same release, configured alike.
  if (fs::canonical(library).string().starts_with("/usr/lib") && version == own_version())
    return parts.components;
  throw loader::Refusal(
      loader::Refusal::Kind::not_runnable,
      fmt::format("{0}: expected an Open MPI that Umwelt has Portals components for ({1}), got {2}, which somebody has "
                  "built. Next step: umwelt openmpi --source SOURCE {0} builds them, once, with the source of Open MPI "
                  "{2}, a directory or an archive",
                  library.string(),
                  own_version().empty() ? "none" : fmt::format("the distribution's {}", own_version()), version));
}

} // namespace umwelt::openmpi
