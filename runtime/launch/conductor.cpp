// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/launch/conductor.h"

#include <cstddef>
#include <exception>

#include <simgrid/Exception.hpp>

#include "platforms/simgrid.h"
#include "platforms/simgrid_versions.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace umwelt::launch
{

namespace
{

// AddressSanitizer has to know on which stack it is, and SimGrid as distributions build it does not tell.
#if defined(__SANITIZE_ADDRESS__)
class ActorStack
{
public:
  void enter()
  {
    constexpr std::size_t below = std::size_t{1} << 20;
    constexpr std::size_t above = 4096; // SimGrid's own frames
    move_to(static_cast<const char*>(__builtin_frame_address(0)) - below, below + above, &bottom_, &size_);
  }
  void left() { move_to(bottom_, size_, nullptr, nullptr); }

private:
  static void move_to(const void* bottom, std::size_t size, const void** old_bottom, std::size_t* old_size)
  {
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, bottom, size);
    __sanitizer_finish_switch_fiber(fake, old_bottom, old_size);
  }
  const void* bottom_ = nullptr;
  std::size_t size_ = 0;
};
#else
struct ActorStack {
  void enter() {}
  void left() {}
};
#endif

} // namespace

void run_in_conductor(const std::function<void()>& work)
{
  std::exception_ptr error;
  ActorStack stack;
  simgrid::s4u::Engine& engine = platform::simgrid_engine();
  platform::versions::add_actor("conductor", engine.get_all_hosts().front(), [&work, &error, &stack] {
    stack.enter();
    try {
      work();
    } catch (const simgrid::ForcefulKillException&) {
      throw; // SimGrid's own business
    } catch (...) {
      error = std::current_exception();
    }
  });
  engine.run();
  stack.left();
  if (error)
    std::rethrow_exception(error);
}

} // namespace umwelt::launch
