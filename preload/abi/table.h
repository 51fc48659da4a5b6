/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How one row of a table in preload/abi/tables becomes a wrapper, a gate operation and a line of documentation.
 *
 * A table is a file of rows and is included several times with other definitions of the row macros:
 *
 *   UMW_CALL(result, name, version, level, note, (type, argument)...)   interposed symbol served by the runtime
 *   UMW_CALL_VOID(name, version, level, note, (type, argument)...)      the same without a result
 *   UMW_SERVICE(result, name, note, (type, argument)...)                gate operation without a symbol of its own
 *   UMW_LOCAL(name, version, level, note)                               interposed symbol answered inside the shim
 *
 * version: the symbol version or API revision it follows; level: FULL, PARTIAL, IGNORED (accepted, no effect) or ERROR
 * (refused with the documented error). Types must not contain a comma or need text after the argument's name.
 */
#pragma once

/* Options whose kind can be told by their type (preload/portals/translation.h). */
typedef unsigned int umw_ni_options_t;
typedef unsigned int umw_pt_options_t;

/* for-each over (type, argument) pairs, up to 64 of them */
#define UMW_PARENS ()
#define UMW_EXPAND(...) UMW_EXPAND3(UMW_EXPAND3(UMW_EXPAND3(UMW_EXPAND3(__VA_ARGS__))))
#define UMW_EXPAND3(...) UMW_EXPAND2(UMW_EXPAND2(UMW_EXPAND2(UMW_EXPAND2(__VA_ARGS__))))
#define UMW_EXPAND2(...) UMW_EXPAND1(UMW_EXPAND1(UMW_EXPAND1(UMW_EXPAND1(__VA_ARGS__))))
#define UMW_EXPAND1(...) __VA_ARGS__
#define UMW_EACH(macro, ...) __VA_OPT__(UMW_EXPAND(UMW_EACH_STEP(macro, __VA_ARGS__)))
#define UMW_EACH_STEP(macro, pair, ...) macro pair __VA_OPT__(UMW_EACH_AGAIN UMW_PARENS(macro, __VA_ARGS__))
#define UMW_EACH_AGAIN() UMW_EACH_STEP
#define UMW_LIST(macro, ...) __VA_OPT__(UMW_EXPAND(UMW_LIST_STEP(macro, __VA_ARGS__)))
#define UMW_LIST_STEP(macro, pair, ...) macro pair __VA_OPT__(, UMW_LIST_AGAIN UMW_PARENS(macro, __VA_ARGS__))
#define UMW_LIST_AGAIN() UMW_LIST_STEP

#define UMW_FIELD(type, argument) type argument;    /* struct member      */
#define UMW_PARAMETER(type, argument) type argument /* parameter list     */
#define UMW_NAME(type, argument) argument           /* initialiser, call  */
#define UMW_MEMBER(type, argument) a->argument      /* unpacking          */
