// SPDX-License-Identifier: LGPL-2.1-or-later
// Simulated threads (actors) and the loop that runs them against the timeline.
//
// One OS thread runs everything. An actor runs until it blocks; whoever blocks looks for the next thing to do on its
// own stack: first the actors that are ready, in the order in which they became so, then the earliest event of the
// timeline. If that makes the blocked actor itself ready again it simply returns: waiting for one's own timer costs no
// switch. Otherwise it jumps straight to the next actor (boost::context, about 6 ns). SimGrid's actors cost 0.37 us for
// the same step, which is why they are not used here.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/context/detail/fcontext.hpp>

#include "runtime/base/timeline.h"
#include "runtime/engine/stack.h"

namespace umwelt::engine
{

using sim::SimTime;

class Scheduler;

class Actor
{
public:
  enum class State : std::uint8_t { ready, running, blocked, ended };

  Actor(Scheduler& scheduler, std::string name, std::uint64_t number, std::function<void()> body,
        std::unique_ptr<Stack> stack);
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] SimTime blocked_since() const { return blocked_since_; } // meaningful while blocked
  [[nodiscard]] const Stack& stack() const { return *stack_; }
  // While blocked: the timeline, or time itself if nothing else is due, wakes it at a time.
  [[nodiscard]] bool has_deadline() const { return timeout_.pending() || background_deadline_ != sim::never; }
  [[nodiscard]] bool on_timeline() const { return timeout_.pending(); }
  // Whether it has been blocked since the last call.
  bool take_waited() { return std::exchange(waited_, false); }

  void* owner = nullptr; // whom the actor stands for; the spawner's own

private:
  friend class Scheduler;
  struct Timeout final : sim::Event {
    explicit Timeout(Actor& a) : actor(a) {}
    void fire() override;
    Actor& actor;
  };

  Scheduler& scheduler_;
  std::string name_;
  std::uint64_t number_; // order of creation
  std::function<void()> body_;
  std::unique_ptr<Stack> stack_;
  boost::context::detail::fcontext_t context_ = nullptr;
  State state_ = State::ready;
  bool timed_out_ = false;
  bool started_ = false;
  bool waited_ = false;
  SimTime blocked_since_ = 0;
  SimTime background_deadline_ = sim::never;
  std::function<void()> errand_; // run once on the actor's own stack when it is next resumed
  Timeout timeout_{*this};
#if defined(__SANITIZE_ADDRESS__)
  void* fake_stack_ = nullptr;
#endif
};

class Scheduler
{
public:
  explicit Scheduler(sim::Timeline& timeline) : timeline_(timeline) {}
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  [[nodiscard]] sim::Timeline& timeline() { return timeline_; }
  [[nodiscard]] SimTime now() const { return timeline_.now(); }
  [[nodiscard]] Actor* current() const { return current_; } // null in the main loop

  // Creates an actor; it starts at the present time, after those already ready.
  Actor& spawn(std::string name, std::function<void()> body, std::size_t stack_bytes);
  // An actor that has ended is no longer known to anybody; its stack serves the next one of that size.
  void release(Actor& actor);

  // Runs until every actor has ended or stop() was called. Called on the main stack.
  void run();
  // Makes run() return at the next switch; actors that have not ended are abandoned.
  void stop() { stopping_ = true; }
  [[nodiscard]] bool stopping() const { return stopping_; }

  // --- called by the running actor ---
  // Blocks until wake() or `deadline`; false: the deadline came first.
  bool block(SimTime deadline = sim::never);
  // The same for a wait that should not keep the simulation going: its deadline counts only while something else is
  // still due. When nothing is, on_stall() is asked first, and decides about such waits with wake_background().
  bool block_in_background(SimTime deadline);
  // Lets `duration` of simulated time pass. Costs no switch when nothing else happens in between.
  void sleep(SimTime duration);
  // The same, only if nothing else happens in between; false: nothing was done.
  bool pass(SimTime duration);
  // Lets every other ready actor run first.
  void yield();
  // Has on_look() called, then goes on before any other.
  void hold();
  // Ends the running actor; its stack is abandoned as it is (no unwinding: rank frames must not be).
  [[noreturn]] void end_current();

  // Makes a blocked actor ready; no effect on others.
  void wake(Actor& actor);
  // A ready actor comes before all others; no effect on others.
  void prefer(Actor& actor);

  // Ends another actor where it stands; its stack is abandoned.
  void kill(Actor& actor);
  // Moves time on to the earliest background deadline of those `which` accepts (null: all) and wakes its actor. False:
  // there is none.
  bool wake_background(const std::function<bool(const Actor&)>& which = nullptr);

  // Runs `errand` once on the stack of a blocked actor, at once, and comes back (backtraces of suspended threads).
  void visit(Actor& actor, const std::function<void()>& errand);

  // Called when no actor is ready and nothing but background waits is due. True: it changed that; false: stop
  // (deadlock).
  std::function<bool()> on_stall;
  // Actors that do something elsewhere and will be woken when it is done. While there are any, await_absent() is asked
  // before time goes on to a time (sim::never: nothing is due): true if it has waited and one may be ready; false: no
  // absent actor can be back before that time.
  unsigned absent = 0;
  std::function<bool(SimTime next)> await_absent;
  // Called now and then from the loop, at least every few thousand events: progress lines, stop requests.
  std::function<void()> on_beat;
  // Called from the main loop, whose stack is large enough for anything, before whatever is next: if hold() asks for
  // it, or another process by a value other than 0 at `asked` (null: none does), which is on_look()'s to set back.
  std::function<void()> on_look;
  const std::atomic<std::uint32_t>* asked = nullptr;
  // Completions outside the timeline (SimGrid's solver); see net::Model. Null functions: none.
  std::function<bool()> external_pending;
  std::function<bool(SimTime limit)> advance_external;

  // Something outside of the timeline is under way (Model::has_external).
  [[nodiscard]] bool outside_work() const { return external_pending && external_pending(); }
  [[nodiscard]] const std::vector<std::unique_ptr<Actor>>& actors() const { return actors_; }
  [[nodiscard]] std::uint64_t switches() const { return switches_; }

private:
  friend class Actor;
  struct EarlierDeadline { // equal times: in order of creation, so that runs do not depend on addresses
    bool operator()(const std::pair<SimTime, Actor*>& a, const std::pair<SimTime, Actor*>& b) const
    {
      return a.first != b.first ? a.first < b.first : a.second->number_ < b.second->number_;
    }
  };
  static void entry(boost::context::detail::transfer_t transfer);
  [[nodiscard]] bool look_asked() const
  {
    return look_ || (asked != nullptr && asked->load(std::memory_order_relaxed) != 0);
  }
  Actor* pick();           // next actor to run; null: back to the main loop
  void leave(Actor* self); // the current actor cannot go on: run others
  void jump(Actor* from, Actor* to);

  std::unique_ptr<Stack> take_stack(std::size_t bytes);

  sim::Timeline& timeline_;
  std::vector<std::unique_ptr<Actor>> actors_;
  std::uint64_t spawned_ = 0;
  std::vector<std::unique_ptr<Stack>> idle_stacks_; // of released actors; without memory
  std::deque<Actor*> ready_;
  std::set<std::pair<SimTime, Actor*>, EarlierDeadline> background_;
  Actor* current_ = nullptr;
  boost::context::detail::fcontext_t main_context_ = nullptr;
  std::size_t alive_ = 0;
  std::uint64_t switches_ = 0;
  unsigned beat_ = 0;
  std::vector<Actor*> left_behind_; // have ended; their stacks are not needed any longer
  bool stopping_ = false;
  bool look_ = false;
#if defined(__SANITIZE_ADDRESS__)
  const void* main_stack_ = nullptr;
  std::size_t main_stack_size_ = 0;
  void* main_fake_stack_ = nullptr;
#endif
};

} // namespace umwelt::engine
