// SPDX-License-Identifier: LGPL-2.1-or-later
// `umwelt calibrate kernels`: what functions of BLAS and LAPACK take on this machine, or took on another one, as a
// kernels file (runtime/kernels/README.md).
#pragma once

#include <string>
#include <vector>

namespace umwelt::calibrate
{

// `arguments`: what follows `kernels`. Returns an exit code; throws what main() tells.
int calibrate_kernels(std::vector<std::string> arguments);

} // namespace umwelt::calibrate
