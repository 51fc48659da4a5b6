// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/base/version.h"

#include "generated/version_text.h"

namespace umwelt
{

std::string_view version()
{
  return UMWELT_VERSION;
}

} // namespace umwelt
