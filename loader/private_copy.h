// SPDX-License-Identifier: LGPL-2.1-or-later
// The copy of a program that ld.so is willing to load into a namespace: an executable may not be opened with dlopen
// while its dynamic section says DF_1_PIE (glibc 2.36, elf/dl-load.c), nor with DF_1_NOOPEN, nor if its type is
// ET_EXEC. With the type of a shared object (ET_DYN) such a program still has to lie where it was linked
// (Program::linked_at).
#pragma once

#include <string>

namespace umwelt::loader
{

// Why the program cannot be loaded from such a copy: its thread-local variables do not fit (tls_reserve.h). Empty: it
// can. Throws std::runtime_error if it cannot be read.
std::string why_not_copied(const std::string& program);

// Copies `program` to `copy` (created, mode 0700), clears the two flags there and makes it ET_DYN. Throws
// std::runtime_error, also if it cannot be loaded from there.
void make_private_copy(const std::string& program, const std::string& copy);

} // namespace umwelt::loader
