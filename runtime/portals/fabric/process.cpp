// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/portals/fabric/process.h"

#include "runtime/portals/fabric/fabric.h"
#include "runtime/portals/objects/limits.h"

namespace umwelt::portals
{

Process::Process(Fabric& fabric, net::NodeIndex node, std::uint32_t rank, ptl_uid_t uid, Memory memory)
    : fabric_(fabric), node_(node), rank_(rank), uid_(uid), memory_(memory)
{
  memory_.set_folded(&folded_);
  fabric_.attach(*this);
}

void Process::detach()
{
  if (detached_)
    return;
  detached_ = true;
  init_count_ = 0;
  for (auto& interface : interfaces_)
    interface.reset();
  fabric_.detach(*this);
  fabric_.host().changed(*this);
}

void Process::init()
{
  if (!detached_)
    ++init_count_;
}

void Process::fini()
{
  if (init_count_ == 0 || --init_count_ > 0)
    return;
  for (auto& interface : interfaces_)
    interface.reset();
  aborted_ = false;
  fabric_.host().changed(*this);
}

int Process::choose_pid(ptl_pid_t wanted)
{
  if (wanted == PTL_PID_ANY || wanted == pid_) {
    if (pid_ != PTL_PID_ANY)
      return PTL_OK;
    for (ptl_pid_t pid = 1; pid <= PTL_PID_MAX; ++pid)
      if (fabric_.bind(*this, pid)) {
        pid_ = pid;
        return PTL_OK;
      }
    return PTL_NO_SPACE;
  }
  if (wanted > PTL_PID_MAX)
    return PTL_ARG_INVALID;
  // All interfaces of a process share one pid (Portals 4.3, 3.6).
  for (const auto& interface : interfaces_)
    if (interface)
      return PTL_ARG_INVALID;
  if (!fabric_.bind(*this, wanted))
    return PTL_PID_IN_USE;
  if (pid_ != PTL_PID_ANY)
    fabric_.unbind(*this, pid_);
  pid_ = wanted;
  return PTL_OK;
}

int Process::open(unsigned kind, ptl_pid_t pid, const ptl_ni_limits_t* desired, Ni*& ni)
{
  if (interfaces_[kind]) {
    ++interfaces_[kind]->references;
  } else {
    if (const int result = choose_pid(pid); result != PTL_OK)
      return result;
    interfaces_[kind] =
        std::make_unique<Ni>(*this, kind, generations_[kind], desired ? negotiate(*desired) : default_limits());
    generations_[kind] = (generations_[kind] + 1) % (1U << Handle::generation_bits);
  }
  ni = interfaces_[kind].get();
  return PTL_OK;
}

void Process::close(Ni& ni)
{
  if (--ni.references > 0)
    return;
  interfaces_[ni.kind].reset();
  fabric_.host().changed(*this);
}

Ni* Process::ni(ptl_handle_ni_t value) const
{
  const Handle handle = Handle::decode(value);
  Ni* ni = interfaces_[handle.interface].get();
  return ni && ni->handle == value ? ni : nullptr;
}

Ni* Process::owner(ptl_handle_any_t value) const
{
  const Handle handle = Handle::decode(value);
  Ni* ni = interfaces_[handle.interface].get();
  if (!ni)
    return nullptr;
  switch (handle.type) {
  case ObjectType::eq:
    return queue(value) ? ni : nullptr;
  case ObjectType::ct:
    return counter(value) ? ni : nullptr;
  case ObjectType::md:
    return descriptor(value) ? ni : nullptr;
  case ObjectType::le:
  case ObjectType::me:
    return entry(value) ? ni : nullptr;
  case ObjectType::ni:
    return this->ni(value);
  }
  return nullptr;
}

bool Process::has_event() const
{
  bool found = false;
  for (const auto& interface : interfaces_)
    if (interface)
      interface->queues.for_each([&found](const EventQueue& queue) { found = found || queue.available(); });
  return found;
}

EventQueue* Process::queue(ptl_handle_eq_t handle) const
{
  Ni* ni = interfaces_[Handle::decode(handle).interface].get();
  return ni ? ni->queues.find(handle) : nullptr;
}

Counter* Process::counter(ptl_handle_ct_t handle) const
{
  Ni* ni = interfaces_[Handle::decode(handle).interface].get();
  return ni ? ni->counters.find(handle) : nullptr;
}

MemoryDescriptor* Process::descriptor(ptl_handle_md_t handle) const
{
  Ni* ni = interfaces_[Handle::decode(handle).interface].get();
  return ni ? ni->descriptors.find(handle) : nullptr;
}

Entry* Process::entry(ptl_handle_me_t handle) const
{
  Ni* ni = interfaces_[Handle::decode(handle).interface].get();
  return ni ? ni->entries.find(handle) : nullptr;
}

} // namespace umwelt::portals
