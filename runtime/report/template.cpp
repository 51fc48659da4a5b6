// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/report/template.h"

#include <cstddef>

// As it is: no escape, no limit of literals, nothing to compile.
__asm__(".section .rodata\n"
        ".global umwelt_page_begin\n"
        ".global umwelt_page_end\n"
        "umwelt_page_begin:\n"
        ".incbin \"" UMWELT_PAGE_TEMPLATE "\"\n"
        "umwelt_page_end:\n"
        ".byte 0\n"
        ".previous\n");

extern "C" const char umwelt_page_begin[];
extern "C" const char umwelt_page_end[];

namespace umwelt::report
{

std::string_view page_template()
{
  return {umwelt_page_begin, static_cast<std::size_t>(umwelt_page_end - umwelt_page_begin)};
}

} // namespace umwelt::report
