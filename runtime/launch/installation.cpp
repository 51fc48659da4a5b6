// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/launch/installation.h"

namespace umwelt::launch
{

Installation find_installation()
{
  const std::filesystem::path prefix = std::filesystem::canonical("/proc/self/exe").parent_path().parent_path();
  const std::filesystem::path libraries = prefix / UMWELT_LIBDIR / "umwelt";
  return {libraries / "libumwelt-preload.so", libraries, libraries / "openmpi"};
}

} // namespace umwelt::launch
