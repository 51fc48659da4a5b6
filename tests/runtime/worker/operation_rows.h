// SPDX-License-Identifier: LGPL-2.1-or-later
// Every operation of the tables as a type, with the members of its arguments: for tests that hold for all of them.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "runtime/worker/arguments.h"

namespace umwelt::worker::test
{

// Pointers to one object of their type, in whatever call.
inline const std::set<std::string> to_one_object{
    "const ptl_le_t* le",
    "const ptl_md_t* md",
    "const ptl_me_t* me",
    "const ptl_ni_limits_t* desired",
    "const uint64_t* set",
    "const umw_address* address",
    "int* mode",
    "int* pid",
    "int64_t* first",
    "int64_t* last",
    "int64_t* type",
    "ptl_ct_event_t* event",
    "ptl_event_t* event",
    "ptl_handle_ct_t* ct_handle",
    "ptl_handle_eq_t* eq_handle",
    "ptl_handle_le_t* le_handle",
    "ptl_handle_md_t* md_handle",
    "ptl_handle_me_t* me_handle",
    "ptl_handle_ni_t* ni_handle",
    "ptl_le_t* le",
    "ptl_me_t* me",
    "ptl_ni_limits_t* actual",
    "ptl_process_t* id",
    "ptl_pt_index_t* pt_index",
    "ptl_size_t* actual_map_size",
    "ptl_sr_value_t* status",
    "ptl_uid_t* uid",
    "struct umw_members* owner",
    "uint32_t* priority",
    "uint64_t* mask",
    "uint64_t* old",
    "umw_address* address",
    "unsigned int* which",
};

enum class Kind { value, function, text, object };

template <class Type> constexpr Kind kind_of()
{
  if constexpr (!std::is_pointer_v<Type>)
    return Kind::value;
  else if constexpr (std::is_function_v<std::remove_pointer_t<Type>>)
    return Kind::function;
  else if constexpr (std::is_same_v<Type, const char*>)
    return Kind::text;
  else
    return Kind::object;
}

template <std::uint32_t operation> struct Row;
#define VISIT(type, argument) visit(#type " " #argument, std::string(name) + "." #argument, &Args::argument);
#define ROW(call, result_name, ...)                                                                                    \
  template <> struct Row<UMW_OP_##call> {                                                                              \
    using Args = umw_args_##call;                                                                                      \
    static constexpr const char* name = #call;                                                                         \
    static constexpr auto result = &Args::result_name;                                                                 \
    /* With "TYPE ARGUMENT", "CALL.ARGUMENT" and the member of every argument. */                                      \
    template <class Visit> static void each([[maybe_unused]] Visit visit) { UMW_EACH(VISIT, __VA_ARGS__) }             \
  };
#define UMW_CALL(result_type, name, kind, version, level, note, ...) ROW(name, result, __VA_ARGS__)
#define UMW_CALL_VOID(name, kind, version, level, note, ...) ROW(name, unused, __VA_ARGS__)
#define UMW_SERVICE(result_type, name, kind, note, ...) ROW(name, result, __VA_ARGS__)
#include "preload/abi/tables/portals.def"
#include "preload/abi/tables/services.def"
#undef UMW_CALL
#undef UMW_CALL_VOID
#undef UMW_SERVICE

template <class Test> void for_all_operations(Test test)
{
  [&test]<std::uint32_t... operation>(std::integer_sequence<std::uint32_t, operation...>)
  {
    (test.template operator()<operation>(), ...);
  }
  (std::make_integer_sequence<std::uint32_t, UMW_OP_COUNT>());
}

} // namespace umwelt::worker::test
