// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/openmpi/components.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include <gmock/gmock.h>

#include "loader/program.h"
#include "runtime/base/usage_error.h"
#include "runtime/openmpi/content.h"
#include "runtime/openmpi/library.h"

namespace umwelt::openmpi
{
namespace
{

namespace fs = std::filesystem;

Lookup variables(std::map<std::string, std::string> all)
{
  return [all = std::move(all)](const std::string& name) -> std::optional<std::string> {
    const auto found = all.find(name);
    return found == all.end() ? std::nullopt : std::optional(found->second);
  };
}

class Components : public testing::Test
{
protected:
  Components()
  {
    write(library, "no ELF file");
    write(parts.recipe / "CMakeLists.txt", "project(a)");
  }
  ~Components() override { fs::remove_all(work); }

  static fs::path new_directory()
  {
    std::string name = fs::temp_directory_path() / "umwelt-components-XXXXXX";
    return mkdtemp(name.data());
  }
  static void write(const fs::path& file, std::string_view text)
  {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  fs::path work = new_directory();
  fs::path library = work / "lib" / "libmpi.so.40";
  Parts parts{work / "own", work / "recipe", work / "libraries"};
  Lookup environment = variables({{"HOME", work / "home"}});
};

TEST(Content, IsHashedAsPublished)
{
  const fs::path file = fs::temp_directory_path() / ("umwelt-content-" + std::to_string(getpid()));
  std::ofstream(file) << "foobar";
  EXPECT_EQ(content_hash({}), 0xcbf29ce484222325U);     // of nothing: the offset basis
  EXPECT_EQ(content_hash({file}), 0x85944171f73967e8U); // draft-eastlake-fnv, appendix C
  EXPECT_EQ(content_hash({file, "/no such file"}), content_hash({file}));
  fs::remove(file);
}

TEST(Series, IsMajorAndMinor)
{
  EXPECT_EQ(series("4.1.4"), "4.1");
  EXPECT_EQ(series("5.0"), "5.0");
  EXPECT_EQ(series("5"), "5");
  EXPECT_EQ(series(""), "");
}

TEST_F(Components, OfALibraryWithoutBuildIdAreKnownByItsContent)
{
  const std::string before = identity(library);
  EXPECT_THAT(before, testing::MatchesRegex("[0-9a-f]{16}"));
  write(library, "no ELF file either");
  EXPECT_NE(identity(library), before);
}

TEST_F(Components, AreKeptBelowTheCache)
{
  EXPECT_EQ(kept_at(library, environment), work / "home/.cache/umwelt/openmpi" / identity(library));
  EXPECT_EQ(kept_at(library, variables({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/c"}})),
            fs::path("/c/umwelt/openmpi") / identity(library));
  EXPECT_EQ(kept_at(library, variables({{"HOME", "/h"}, {"XDG_CACHE_HOME", "relative"}})),
            fs::path("/h/.cache/umwelt/openmpi") / identity(library));
  EXPECT_THROW(kept_at(library, variables({})), UsageError);
}

TEST_F(Components, CountOnlyIfThisUmweltHasMadeThem)
{
  const fs::path kept = kept_at(library, environment);
  EXPECT_EQ(find(parts, library, environment), std::nullopt);
  EXPECT_EQ(find(parts, library, variables({})), std::nullopt);
  write(kept / "made", made_by(parts));
  EXPECT_EQ(find(parts, library, environment), kept);
  EXPECT_EQ(choose(parts, library, environment), kept);
  Parts moved = parts;
  moved.libraries = "/elsewhere";
  EXPECT_EQ(find(moved, library, environment), std::nullopt);
  write(parts.recipe / "CMakeLists.txt", "project(b)");
  EXPECT_EQ(find(parts, library, environment), std::nullopt);
}

TEST_F(Components, AreRefusedForWhatIsNoOpenMpi)
{
  EXPECT_THROW(choose(parts, library, environment), loader::Refusal);
}

} // namespace
} // namespace umwelt::openmpi
