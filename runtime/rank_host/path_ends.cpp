// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/rank_host/path_ends.h"

#include "preload/abi/gate.h"

namespace umwelt::rank_host
{

namespace
{

class Digest
{
public:
  Digest& add(std::uint64_t value)
  {
    state_ = (state_ ^ value) * 0x9e3779b97f4a7c15;
    state_ ^= state_ >> 32;
    return *this;
  }
  [[nodiscard]] PathEnd of_call() const { return (state_ | 1) & ~a_look; }
  [[nodiscard]] PathEnd of_look() const { return state_ | a_look; }

private:
  std::uint64_t state_ = 0x2545f4914f6cdd1d;
};

template <class Arguments> void add_event(Digest& digest, const void* arguments)
{
  const auto& call = *static_cast<const Arguments*>(arguments);
  digest.add(static_cast<std::uint64_t>(call.result));
  if (call.result == PTL_OK && call.event != nullptr)
    digest.add(call.event->type).add(call.event->mlength).add(call.event->pt_index);
}

// Of a message that is moved: how it goes on depends on its length.
void add_length(Digest& digest, std::uint32_t operation, const void* arguments)
{
  const auto add = [&digest]<class Arguments>(const Arguments* call) { digest.add(call->length); };
  switch (operation) {
  case UMW_OP_PtlPut:
    return add(static_cast<const umw_args_PtlPut*>(arguments));
  case UMW_OP_PtlGet:
    return add(static_cast<const umw_args_PtlGet*>(arguments));
  case UMW_OP_PtlAtomic:
    return add(static_cast<const umw_args_PtlAtomic*>(arguments));
  case UMW_OP_PtlFetchAtomic:
    return add(static_cast<const umw_args_PtlFetchAtomic*>(arguments));
  default:
    return;
  }
}

} // namespace

PathEnd path_begins(std::uint32_t operation, const void* arguments, std::uintptr_t depth)
{
  Digest digest;
  digest.add(operation).add(depth);
  add_length(digest, operation, arguments);
  switch (operation) {
  case UMW_OP_PtlEQGet:
    add_event<umw_args_PtlEQGet>(digest, arguments);
    break;
  case UMW_OP_PtlEQWait:
    add_event<umw_args_PtlEQWait>(digest, arguments);
    break;
  case UMW_OP_PtlEQPoll:
    add_event<umw_args_PtlEQPoll>(digest, arguments);
    break;
  default:
    break;
  }
  return digest.of_call();
}

PathEnd look_at_clock(std::uintptr_t place, std::uintptr_t depth)
{
  return Digest().add(UMW_OP_umw_clock_path).add(place).add(depth).of_look();
}

PathEnd path_ends(std::uint32_t operation, const void* arguments, std::uintptr_t depth, std::uint64_t polls)
{
  Digest digest;
  digest.add(operation).add(depth).add(polls);
  add_length(digest, operation, arguments);
  return digest.of_call();
}

} // namespace umwelt::rank_host
