// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/worker/arguments.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <string_view>
#include <type_traits>

#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

#include "runtime/portals/data/atomics.h"

namespace umwelt::worker
{

namespace
{

constexpr std::uint32_t name_of(std::string_view text) // FNV-1a
{
  std::uint32_t hash = 2166136261U;
  for (const char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

// What extents.def says of an argument.
template <std::uint32_t operation, std::uint32_t argument> struct Extent {
  static constexpr bool given = false;
  static constexpr bool opaque = false;
};
#define UMW_EXTENT(call, argument, elements, back)                                                                     \
  template <> struct Extent<UMW_OP_##call, name_of(#argument)> {                                                       \
    static constexpr bool given = true;                                                                                \
    static constexpr bool opaque = false;                                                                              \
    static std::size_t in([[maybe_unused]] const umw_args_##call* a) { return elements; }                              \
    static std::size_t out([[maybe_unused]] const umw_args_##call* a) { return back; }                                 \
  };
#define UMW_OPAQUE(call, argument)                                                                                     \
  template <> struct Extent<UMW_OP_##call, name_of(#argument)> {                                                       \
    static constexpr bool given = false;                                                                               \
    static constexpr bool opaque = true;                                                                               \
  };
#include "runtime/worker/extents.def"
#undef UMW_EXTENT
#undef UMW_OPAQUE

template <class Element> constexpr std::size_t size_of()
{
  if constexpr (std::is_void_v<Element>)
    return 1;
  else
    return sizeof(Element);
}

// A pointer that somebody looks behind.
template <class Type, class Known> constexpr bool leads_somewhere()
{
  if constexpr (!std::is_pointer_v<Type> || Known::opaque)
    return false;
  else {
    using Element = std::remove_pointer_t<Type>;
    return !std::is_function_v<Element> && (!std::is_void_v<std::remove_const_t<Element>> || Known::given);
  }
}

constexpr std::size_t endless = std::size_t{1} << 56; // bytes; more than there can be, and a few of them can be added

class Arena
{
public:
  Arena(Slot& slot, std::uint32_t used) : slot_(slot), used_(used) {}

  // Null if there is no arena, which needed() then says.
  void* take(std::size_t bytes)
  {
    const std::size_t begin = (used_ + 15) / 16 * 16;
    used_ = begin + std::min(bytes, endless);
    return used_ <= arena_bytes ? slot_.arena.data() + begin : nullptr;
  }
  [[nodiscard]] std::size_t needed() const { return used_; }

private:
  Slot& slot_;
  std::size_t used_;
};

template <class Known, class Args, class Type> void marshal(Arena& arena, const Args* original, Type& argument)
{
  if constexpr (leads_somewhere<Type, Known>()) {
    if (argument == nullptr)
      return;
    using Element = std::remove_pointer_t<Type>;
    std::size_t bytes = 0;
    if constexpr (Known::given) {
      if (__builtin_mul_overflow(Known::in(original), size_of<Element>(), &bytes)) // a number the program gave
        bytes = endless;
    } else if constexpr (std::is_same_v<Element, const char>) {
      bytes = std::strlen(argument) + 1;
    } else {
      bytes = sizeof(Element);
    }
    void* copy = arena.take(bytes);
    if (copy == nullptr)
      return;
    std::memcpy(copy, argument, bytes); // of results, too: what is not written stays as it was
    argument = static_cast<Type>(copy);
  }
}

template <class Known, class Args, class Type> void unmarshal(const Args* copy, const Type& from, Type to)
{
  if constexpr (leads_somewhere<Type, Known>()) {
    using Element = std::remove_pointer_t<Type>;
    if constexpr (!std::is_const_v<Element>) {
      if (to == nullptr)
        return;
      std::size_t bytes = 0;
      if constexpr (Known::given)
        bytes = Known::out(copy) * size_of<Element>();
      else
        bytes = sizeof(Element);
      std::memcpy(to, from, bytes);
    }
  }
}

struct Copier {
  void* (*marshal)(Arena& arena, const void* original);
  void (*unmarshal)(const void* copy, void* original);
};

#define UMW_MARSHAL(type, argument) marshal<Extent<operation, name_of(#argument)>>(arena, from, to->argument);
#define UMW_UNMARSHAL(type, argument)                                                                                  \
  unmarshal<Extent<operation, name_of(#argument)>>(from, from->argument, to->argument);
#define UMW_COPIES(name, result_name, ...)                                                                             \
  void* marshal_##name(Arena& arena, const void* original)                                                             \
  {                                                                                                                    \
    [[maybe_unused]] constexpr std::uint32_t operation = UMW_OP_##name;                                                \
    [[maybe_unused]] const auto* from = static_cast<const umw_args_##name*>(original);                                 \
    auto* to = static_cast<umw_args_##name*>(arena.take(sizeof *from));                                                \
    if (to == nullptr)                                                                                                 \
      return nullptr;                                                                                                  \
    *to = *from;                                                                                                       \
    UMW_EACH(UMW_MARSHAL, __VA_ARGS__)                                                                                 \
    return to;                                                                                                         \
  }                                                                                                                    \
  void unmarshal_##name(const void* copy, void* original)                                                              \
  {                                                                                                                    \
    [[maybe_unused]] constexpr std::uint32_t operation = UMW_OP_##name;                                                \
    const auto* from = static_cast<const umw_args_##name*>(copy);                                                      \
    auto* to = static_cast<umw_args_##name*>(original);                                                                \
    UMW_EACH(UMW_UNMARSHAL, __VA_ARGS__)                                                                               \
    to->result_name = from->result_name;                                                                               \
  }
#define UMW_CALL(result_type, name, kind, version, level, note, ...) UMW_COPIES(name, result, __VA_ARGS__)
#define UMW_CALL_VOID(name, kind, version, level, note, ...) UMW_COPIES(name, unused, __VA_ARGS__)
#define UMW_SERVICE(result_type, name, kind, note, ...) UMW_COPIES(name, result, __VA_ARGS__)
#include "preload/abi/tables/portals.def"
#include "preload/abi/tables/services.def"
#undef UMW_CALL
#undef UMW_CALL_VOID
#undef UMW_SERVICE

#define UMW_CALL(result, name, ...) {marshal_##name, unmarshal_##name},
#define UMW_CALL_VOID(name, ...) {marshal_##name, unmarshal_##name},
#define UMW_SERVICE(result, name, ...) {marshal_##name, unmarshal_##name},
constexpr Copier copiers[] = {
#include "preload/abi/tables/portals.def"
#include "preload/abi/tables/services.def"
};
#undef UMW_CALL
#undef UMW_CALL_VOID
#undef UMW_SERVICE
static_assert(sizeof copiers / sizeof *copiers == UMW_OP_COUNT);

} // namespace

Arguments::Arguments(Slot& slot, std::uint32_t operation, void* original)
    : slot_(slot), operation_(operation), original_(original), before_(slot.used)
{
  Arena arena(slot, before_);
  copy_ = copiers[operation].marshal(arena, original);
  needed_ = arena.needed();
  if (fit())
    slot.used = static_cast<std::uint32_t>(needed_);
}

void Arguments::bring_back()
{
  copiers[operation_].unmarshal(copy_, original_);
}

} // namespace umwelt::worker
