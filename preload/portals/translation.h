/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The functions of Portals 4 in another ABI (ABIS.md): every row of preload/abi/tables/portals.def becomes a function
 * that converts its arguments, calls the shim's function of the same name, and converts what comes back. Included once,
 * by a file that has defined
 *
 *   UMW_ABI, UMW_SONAME              for messages
 *   foreign_PTL_FAIL                 what a function returns where there is no shim
 *   union umw_room                   where an argument can be converted
 *   UMW_NOTE(argument, call)         what later conversions need to know of the argument
 *   UMW_IN(argument, room, call)     the argument as the shim's function takes it
 *   UMW_OUT(argument, room, call)    what becomes of it after the call
 *
 * and macros for those types of preload/abi/portals4.h that differ. All three choose by the type of the argument.
 */
#ifndef UMW_ABI
#error "included by the file of an ABI"
#endif

/* In C they have another name than the symbol's, which preload/abi/portals4.h has declared with other types. */
#define FOREIGN(name) foreign_##name
#define ROOM(type, argument) union umw_room room_of_##argument;
#define NOTE(type, argument) UMW_NOTE(argument, &call);
#define CONVERT(type, argument) __auto_type own_##argument = UMW_IN(argument, &room_of_##argument, &call);
#define HAND_OVER(type, argument) own_##argument
#define BRING_BACK(type, argument) UMW_OUT(argument, &room_of_##argument, &call);

#define UMW_CALL(result_type, name, kind, version, level, note, ...)                                                   \
  result_type FOREIGN(name)(__VA_OPT__(UMW_LIST(UMW_PARAMETER, __VA_ARGS__))) __asm__(#name);                          \
  PUBLIC result_type FOREIGN(name)(__VA_OPT__(UMW_LIST(UMW_PARAMETER, __VA_ARGS__)))                                   \
  {                                                                                                                    \
    if (!shim.name) {                                                                                                  \
      explain(#name);                                                                                                  \
      return foreign_PTL_FAIL;                                                                                         \
    }                                                                                                                  \
    struct translated_call call = {.function = UMW_OP_##name};                                                         \
    UMW_EACH(ROOM, __VA_ARGS__)                                                                                        \
    UMW_EACH(NOTE, __VA_ARGS__)                                                                                        \
    UMW_EACH(CONVERT, __VA_ARGS__)                                                                                     \
    call.result = shim.name(UMW_LIST(HAND_OVER, __VA_ARGS__));                                                         \
    UMW_EACH(BRING_BACK, __VA_ARGS__)                                                                                  \
    return call.function == UMW_OP_PtlHandleIsEqual ? call.result : result_of(call.result);                            \
  }
#define UMW_CALL_VOID(name, kind, version, level, note, ...)                                                           \
  void FOREIGN(name)(void) __asm__(#name);                                                                             \
  PUBLIC void FOREIGN(name)(void)                                                                                      \
  {                                                                                                                    \
    if (shim.name)                                                                                                     \
      shim.name();                                                                                                     \
    else                                                                                                               \
      explain(#name);                                                                                                  \
  }
#include "preload/abi/tables/portals.def"
#undef UMW_CALL
#undef UMW_CALL_VOID
