// SPDX-License-Identifier: LGPL-2.1-or-later
// What SimGrid 3.32 (Debian 12) and 4.0 (Debian 13) call by different names. Since 4.0 the outermost zone is there
// before anybody asks for it, and all others are added to a zone.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <simgrid/forward.h> // for the macros that version.h uses
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Link.hpp>
#include <simgrid/s4u/NetZone.hpp>
#include <simgrid/version.h>

#define UMWELT_SIMGRID_4 (SIMGRID_VERSION >= 40000)
#if UMWELT_SIMGRID_4
#include <simgrid/Exception.hpp>
#include <simgrid/s4u/ActivitySet.hpp>
#endif

#if UMWELT_SIMGRID_4
void sg_platf_new_zone_seal(); // in none of its headers
#endif

namespace umwelt::platform::versions
{

namespace s4u = simgrid::s4u;

#if UMWELT_SIMGRID_4

constexpr const char* timing_precision = "precision/timing";
constexpr const char* work_precision = "precision/work-amount";

inline void end(s4u::Engine& engine)
{
  delete &engine; // NOLINT(cppcoreguidelines-owning-memory)
}

// After a file with a zone the parser is in the outermost one, and the next file's zones would be put into that, though
// it belongs to an engine that has ended.
inline void leave_outermost_zone()
{
  sg_platf_new_zone_seal();
}

// A zone of a class of ours becomes part of the platform.
inline void join(simgrid::kernel::routing::NetZoneImpl& zone)
{
  zone.set_parent(s4u::Engine::get_instance()->get_netzone_root()->get_impl());
}

inline s4u::NetZone* add_full_zone(const std::string& name)
{
  return s4u::Engine::get_instance()->get_netzone_root()->add_netzone_full(name);
}

inline s4u::Host* add_host(s4u::NetZone& zone, const std::string& name, double speed)
{
  return zone.add_host(name, speed);
}

inline s4u::Link* add_link(s4u::NetZone& zone, const std::string& name, double bandwidth)
{
  return zone.add_link(name, bandwidth);
}

inline void add_actor(const std::string& name, s4u::Host* host, const std::function<void()>& code)
{
  s4u::Engine::add_actor(name, host, code);
}

// Whenever a link, or a host, is turned on or off.
template <class Resource> void on_turn(const std::function<void(const Resource&)>& callback)
{
  Resource::on_onoff_cb(callback);
}

// The index of the first that ends; -1: none does in so many seconds (-1: no limit).
inline long wait_any(const std::vector<s4u::CommPtr>& comms, double seconds)
{
  s4u::ActivitySet set;
  for (const s4u::CommPtr& comm : comms)
    set.push(comm);
  try {
    const s4u::ActivityPtr done = set.wait_any_for(seconds);
    for (std::size_t i = 0; i < comms.size(); ++i)
      if (comms[i] == done)
        return static_cast<long>(i);
  } catch (const simgrid::TimeoutException&) { // so far none
  }
  return -1;
}

#else

constexpr const char* timing_precision = "surf/precision";
constexpr const char* work_precision = "maxmin/precision";

inline void end(s4u::Engine& engine)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // there is no other way to load a second platform
  engine.shutdown();
#pragma GCC diagnostic pop
}

inline void leave_outermost_zone()
{
}

inline void join(simgrid::kernel::routing::NetZoneImpl&)
{
} // the first one is the outermost

inline s4u::NetZone* add_full_zone(const std::string& name)
{
  return s4u::create_full_zone(name);
}

inline s4u::Host* add_host(s4u::NetZone& zone, const std::string& name, double speed)
{
  return zone.create_host(name, speed);
}

inline s4u::Link* add_link(s4u::NetZone& zone, const std::string& name, double bandwidth)
{
  return zone.create_link(name, bandwidth);
}

inline void add_actor(const std::string& name, s4u::Host* host, const std::function<void()>& code)
{
  s4u::Actor::create(name, host, code);
}

template <class Resource> void on_turn(const std::function<void(const Resource&)>& callback)
{
  Resource::on_state_change_cb(callback);
}

inline long wait_any(const std::vector<s4u::CommPtr>& comms, double seconds)
{
  return s4u::Comm::wait_any_for(comms, seconds);
}

#endif

} // namespace umwelt::platform::versions
