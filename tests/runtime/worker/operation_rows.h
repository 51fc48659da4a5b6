// SPDX-License-Identifier: LGPL-2.1-or-later
// Every operation of the tables, with the members of its arguments: for tests that hold for all of them. Data, not
// types: code made once for each of hundreds of operations took minutes to compile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/worker/arguments.h"

namespace umwelt::worker::test
{

// Pointers to one object of their type, in whatever call.
inline const std::set<std::string> to_one_object{
    "const ptl_le_t* le",
    "const ptl_md_t* md",
    "const ptl_me_t* me",
    "const ptl_ni_limits_t* desired",
    "const struct umw_collective* call",
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

struct Member {
  const char* what; // "TYPE ARGUMENT"
  const char* name;
  Kind kind;
  bool is_enum, is_const; // is_const: it points to something that is
  std::size_t offset, size;
  std::size_t pointee; // bytes; 0: it points to void, or is no pointer to data
};

struct Operation {
  const char* name;
  std::uint32_t number;
  std::size_t size; // of its arguments
  std::size_t result, result_size;
  std::vector<Member> members;

  // "CALL.ARGUMENT"
  [[nodiscard]] std::string place(const Member& member) const { return std::string(name) + "." + member.name; }
};

template <class Type> constexpr std::size_t pointee_of()
{
  if constexpr (kind_of<Type>() < Kind::text || std::is_void_v<std::remove_pointer_t<Type>>)
    return 0;
  else
    return sizeof(std::remove_pointer_t<Type>);
}

template <class Args, class Type> Member member(const char* what, const char* name, std::size_t offset)
{
  return {what,   name,         kind_of<Type>(),   std::is_enum_v<Type>, std::is_const_v<std::remove_pointer_t<Type>>,
          offset, sizeof(Type), pointee_of<Type>()};
}

// One row for every operation of the tables.
#define MEMBER(type, argument)                                                                                         \
  member<Args, decltype(Args::argument)>(#type " " #argument, #argument, offsetof(Args, argument)),
#define ROW(call, result_name, ...)                                                                                    \
  [] {                                                                                                                 \
    using Args = umw_args_##call;                                                                                      \
    return Operation{#call,                                                                                            \
                     UMW_OP_##call,                                                                                    \
                     sizeof(Args),                                                                                     \
                     offsetof(Args, result_name),                                                                      \
                     sizeof(Args::result_name),                                                                        \
                     {UMW_EACH(MEMBER, __VA_ARGS__)}};                                                                 \
  }(),
#define UMW_CALL(result_type, name, kind, version, level, note, ...) ROW(name, result, __VA_ARGS__)
#define UMW_CALL_VOID(name, kind, version, level, note, ...) ROW(name, unused, __VA_ARGS__)
#define UMW_SERVICE(result_type, name, kind, note, ...) ROW(name, result, __VA_ARGS__)
inline const std::vector<Operation>& operations()
{
  static const std::vector<Operation> all{
#include "preload/abi/tables/portals.def"
#include "preload/abi/tables/services.def"
  };
  return all;
}
#undef UMW_CALL
#undef UMW_CALL_VOID
#undef UMW_SERVICE
#undef ROW
#undef MEMBER

} // namespace umwelt::worker::test
