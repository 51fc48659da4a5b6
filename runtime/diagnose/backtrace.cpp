// SPDX-License-Identifier: LGPL-2.1-or-later
#define UNW_LOCAL_ONLY
#include "runtime/diagnose/backtrace.h"

#include <fmt/format.h>
#include <libunwind.h>

#include "runtime/diagnose/symbols.h"

namespace umwelt::diagnose
{

namespace
{

std::string walk(unw_context_t& context, bool signal_frame)
{
  constexpr int deepest = 48;
  unw_cursor_t cursor;
  if (unw_init_local2(&cursor, &context, signal_frame ? UNW_INIT_SIGNAL_FRAME : 0) != 0)
    return "    (no backtrace: the stack cannot be read)\n";
  std::string text;
  int number = 0;
  bool inner = true; // still in Umwelt's own frames
  do {
    unw_word_t address = 0;
    if (unw_get_reg(&cursor, UNW_REG_IP, &address) != 0 || address == 0)
      break;
    // A return address may lie behind the end of its function.
    const Symbol symbol = symbol_at(number == 0 && signal_frame ? address : address - 1);
    if (symbol.ours && inner)
      continue;
    inner = false;
    if (symbol.ours && symbol.function != "__libc_start_main")
      continue;
    text += fmt::format("    #{} {}\n", number, describe(symbol));
    ++number;
  } while (number < deepest && unw_step(&cursor) > 0);
  return text.empty() ? "    (no frames of the program)\n" : text;
}

} // namespace

std::string backtrace_here()
{
  unw_context_t context;
  unw_getcontext(&context);
  return walk(context, false);
}

std::string backtrace_of(const ucontext_t& interrupted)
{
  unw_context_t context = interrupted; // on x86-64 libunwind's context is the kernel's
  return walk(context, true);
}

} // namespace umwelt::diagnose
