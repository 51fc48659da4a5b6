// SPDX-License-Identifier: LGPL-2.1-or-later
// The runtime's side of the gate: calls of ranks are served.
#pragma once

#include "runtime/job/server.h"

namespace umwelt::gate
{

job::Server server();

} // namespace umwelt::gate
