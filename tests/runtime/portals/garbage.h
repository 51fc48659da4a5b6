// SPDX-License-Identifier: LGPL-2.1-or-later
// Calls with garbage: random handles, indexes, options, sizes and null pointers. Other pointers lead to memory that
// exists.
#pragma once

#include <cstddef>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <vector>

#include "tests/runtime/portals/entropy.h"
#include "tests/runtime/portals/support.h"

namespace umwelt::portals::test
{

class Garbage
{
public:
  explicit Garbage(Entropy& entropy) : entropy_(entropy) {}

  // Calls the function with random arguments and remembers what looks like a handle among them.
  template <class Result, class... Arguments> void call(Result (*function)(Process&, Arguments...), Process& process)
  {
    std::tuple<Arguments...> arguments{argument<Arguments>()...};
    std::apply(
        [&](auto... values) {
          try {
            static_cast<void>(function(process, values...));
          } catch (const Deadlock&) { // it waits for what never comes
          }
          (keep(values), ...);
        },
        arguments);
  }
  // Every function of the interface once; PtlFini and PtlAbort, which end everything, seldom.
  void call_all(Process& process)
  {
#define UMW_CALL(result, name, kind, version, level, note, ...) call(api::name, process);
#define UMW_CALL_VOID(name, kind, version, level, note, ...)                                                           \
  if (entropy_.pick(20) == 0)                                                                                          \
    call(api::name, process);
#include "preload/abi/tables/portals.def"
#undef UMW_CALL
#undef UMW_CALL_VOID
  }
  // One of them.
  void call_one(Process& process)
  {
    unsigned which = entropy_.pick(functions);
#define UMW_CALL(result, name, kind, version, level, note, ...)                                                        \
  if (which-- == 0)                                                                                                    \
    return call(api::name, process);
#define UMW_CALL_VOID(name, kind, version, level, note, ...)                                                           \
  if (which-- == 0 && entropy_.pick(20) == 0)                                                                          \
    return call(api::name, process);
#include "preload/abi/tables/portals.def"
#undef UMW_CALL
#undef UMW_CALL_VOID
  }
  // A handle that later calls may use.
  void remember(ptl_handle_any_t handle)
  {
    if (known_.size() < 200)
      known_.push_back(handle);
    else
      known_[entropy_.pick(200)] = handle;
  }

private:
  static constexpr std::size_t most_elements = 16; // of an array argument
  static constexpr std::size_t arena_size = 4096;  // where descriptors and entries lie
  static constexpr unsigned functions = 0
#define UMW_CALL(result, name, kind, version, level, note, ...) +1
#define UMW_CALL_VOID(name, kind, version, level, note, ...) +1
#include "preload/abi/tables/portals.def"
#undef UMW_CALL
#undef UMW_CALL_VOID
      ;
  // What a call may read and write: large enough for every array the calls take.
  struct Scratch {
    alignas(64) unsigned char bytes[4096] = {};
  };

  unsigned pick(unsigned count)
  {
    return entropy_.pick(count);
  }
  std::uint64_t number()
  {
    switch (pick(4)) {
    case 0:
      return entropy_.word() * 0x100000001ULL;
    case 1:
      return ~std::uint64_t{0} - pick(3);
    default:
      return pick(70);
    }
  }
  // Garbage, something that lived, or a well-known constant.
  ptl_handle_any_t handle()
  {
    switch (pick(5)) {
    case 0:
      return entropy_.word();
    case 1: { // right type, any index and generation
      constexpr ObjectType types[] = {ObjectType::eq, ObjectType::ct, ObjectType::md,
                                      ObjectType::le, ObjectType::me, ObjectType::ni};
      return Handle{types[pick(6)], pick(4), pick(3), pick(6)}.encode();
    }
    case 2:
      return pick(2) ? PTL_EQ_NONE : pick(2) ? PTL_CT_NONE : PTL_INVALID_HANDLE;
    default:
      return known_.empty() ? PTL_INVALID_HANDLE : known_[pick(static_cast<unsigned>(known_.size()))];
    }
  }
  unsigned options()
  {
    return pick(3) ? 1U << pick(20) | 1U << pick(20) : entropy_.word();
  }
  // Start and length of memory that exists; with PTL_IOVEC, of a list of pieces of it.
  void region(void*& start, ptl_size_t& length, unsigned region_options)
  {
    if (region_options & PTL_IOVEC) {
      for (ptl_iovec_t& piece : pieces_)
        piece = {arena_.data() + pick(arena_size / 2), pick(arena_size / 2)};
      start = pieces_;
      length = pick(5);
    } else {
      start = arena_.data();
      length = pick(arena_size);
    }
  }

  // Arguments by type.
  template <class T> T argument()
  {
    if constexpr (std::is_same_v<T, ptl_process_t>) {
      ptl_process_t id{};
      id.phys = {static_cast<ptl_nid_t>(number()), static_cast<ptl_pid_t>(number())};
      if (pick(2))
        id.rank = pick(3);
      return id;
    } else if constexpr (std::is_same_v<T, ptl_ct_event_t>) {
      return {number(), pick(2) ? 0 : number()};
    } else if constexpr (std::is_same_v<T, ptl_sr_index_t>) {
      return static_cast<ptl_sr_index_t>(pick(4)); // C++ allows no more of this enumeration
    } else if constexpr (std::is_pointer_v<T>) {
      return pick(8) == 0 ? nullptr : pointer<std::remove_const_t<std::remove_pointer_t<T>>>();
    } else if constexpr (std::is_same_v<T, std::uint32_t>) { // handles, indexes, options, counts and time-outs alike
      switch (pick(4)) {
      case 0:
        return pick(static_cast<unsigned>(most_elements));
      case 1:
        return options();
      default:
        return handle();
      }
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
      return pick(2) ? pick(static_cast<unsigned>(most_elements)) : number();
    } else {
      return static_cast<T>(pick(20));
    }
  }
  template <class T> void keep(T value)
  {
    if constexpr (std::is_same_v<T, ptl_handle_any_t*>)
      if (value)
        remember(*value);
  }

  template <class T> T* pointer()
  {
    Scratch& scratch = scratch_[next_++ % std::size(scratch_)];
    if constexpr (std::is_void_v<T>) {
      return scratch.bytes;
    } else {
      auto* values = reinterpret_cast<T*>(scratch.bytes);
      for (std::size_t i = 0; i < most_elements; ++i)
        fill(values[i]);
      return values;
    }
  }
  void fill(ptl_handle_any_t& value)
  {
    value = handle();
  }
  void fill(std::uint64_t& value)
  {
    value = number();
  }
  void fill(ptl_sr_value_t& value)
  {
    value = 0;
  }
  void fill(ptl_process_t& value)
  {
    value = argument<ptl_process_t>();
  }
  void fill(ptl_event_t& value)
  {
    value = ptl_event_t{};
  }
  void fill(ptl_ct_event_t& value)
  {
    value = ptl_ct_event_t{};
  }
  void fill(ptl_ni_limits_t& value)
  {
    value = ptl_ni_limits_t{};
    value.max_entries = value.max_list_size = value.max_mds = value.max_cts = value.max_eqs =
        static_cast<int>(pick(100)) - 1;
    value.max_pt_index = static_cast<int>(entropy_.word());
    value.max_msg_size = number();
  }
  void fill(ptl_md_t& value)
  {
    value.options = options();
    region(value.start, value.length, value.options);
    value.eq_handle = handle();
    value.ct_handle = handle();
  }
  void fill(ptl_le_t& value)
  {
    value.options = options();
    region(value.start, value.length, value.options);
    value.ct_handle = pick(2) ? PTL_CT_NONE : handle();
    value.uid = PTL_UID_ANY;
  }
  void fill(ptl_me_t& value)
  {
    ptl_le_t le{};
    fill(le);
    value = ptl_me_t{le.start, le.length, le.ct_handle, le.uid, le.options, {}, number(), number(), number()};
    value.match_id = argument<ptl_process_t>();
  }

  Entropy& entropy_;
  std::vector<ptl_handle_any_t> known_;
  std::vector<unsigned char> arena_ = std::vector<unsigned char>(arena_size);
  ptl_iovec_t pieces_[8] = {};
  Scratch scratch_[8];
  unsigned next_ = 0;
};

} // namespace umwelt::portals::test
