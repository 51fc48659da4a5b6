// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/launch/conductor.h"

#include <exception>

#include <simgrid/s4u.hpp>

#include "platforms/simgrid.h"

namespace umwelt::launch
{

void run_in_conductor(const std::function<void()>& work)
{
  std::exception_ptr error;
  simgrid::s4u::Engine& engine = platform::simgrid_engine();
  simgrid::s4u::Actor::create("conductor", engine.get_all_hosts().front(), [&work, &error] {
    try {
      work();
    } catch (const simgrid::ForcefulKillException&) {
      throw; // SimGrid's own business
    } catch (...) {
      error = std::current_exception();
    }
  });
  engine.run();
  if (error)
    std::rethrow_exception(error);
}

} // namespace umwelt::launch
