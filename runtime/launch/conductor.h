// SPDX-License-Identifier: LGPL-2.1-or-later
// SimGrid's side of the main loop. The job runs inside one SimGrid actor, the conductor, so that a network model may
// let SimGrid's solver work (it then waits there as any actor does); models that do not need it never enter SimGrid.
#pragma once

#include <functional>

namespace umwelt::launch
{

// Runs `work` in the conductor, on the first host of the loaded platform; exceptions come back to the caller.
void run_in_conductor(const std::function<void()>& work);

} // namespace umwelt::launch
