// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>

// How often the program has called operator new so far: whoever links count_allocations.cpp gets a counting one.
std::size_t allocations();
// Bytes that it has given and not got back.
std::size_t allocated_bytes();
