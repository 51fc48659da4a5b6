// SPDX-License-Identifier: LGPL-2.1-or-later
// How and where a run was started, for whoever wants to repeat it.
#pragma once

#include <string>
#include <vector>

#include "runtime/observe/details.h"

namespace umwelt::launch
{

// As of now. `arguments`: of the umwelt command; `platform`: as given to --platform. Objects of ranks are not among it.
observe::RunFacts run_facts(const std::vector<std::string>& arguments, const std::string& platform);

} // namespace umwelt::launch
