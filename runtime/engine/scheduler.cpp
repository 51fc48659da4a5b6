// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/engine/scheduler.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "runtime/engine/fiber_table.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace umwelt::engine
{

namespace context = boost::context::detail;

Actor::Actor(Scheduler& scheduler, std::string name, std::uint64_t number, std::function<void()> body,
             std::unique_ptr<Stack> stack)
    : scheduler_(scheduler), name_(std::move(name)), number_(number), body_(std::move(body)), stack_(std::move(stack))
{
  context_ = context::make_fcontext(stack_->top(), stack_->size(), &Scheduler::entry);
  const auto top = reinterpret_cast<std::uintptr_t>(stack_->top());
  add_to_fiber_table(
      {name_.c_str(), &context_, reinterpret_cast<const std::uint8_t*>(&state_), top - stack_->size(), top});
}

void Actor::Timeout::fire()
{
  actor.timed_out_ = true;
  actor.scheduler_.wake(actor);
}

Actor& Scheduler::spawn(std::string name, std::function<void()> body, std::size_t stack_bytes)
{
  for (Actor* ended : std::exchange(left_behind_, {}))
    if (ended != current_)
      ended->stack_->discard();
    else
      left_behind_.push_back(ended);
  actors_.push_back(
      std::make_unique<Actor>(*this, std::move(name), spawned_++, std::move(body), take_stack(stack_bytes)));
  ready_.push_back(actors_.back().get());
  ++alive_;
  return *actors_.back();
}

std::unique_ptr<Stack> Scheduler::take_stack(std::size_t bytes)
{
  for (auto& idle : idle_stacks_)
    if (idle->fits(bytes)) {
      std::swap(idle, idle_stacks_.back());
      std::unique_ptr<Stack> stack = std::move(idle_stacks_.back());
      idle_stacks_.pop_back();
      return stack;
    }
  return std::make_unique<Stack>(bytes);
}

void Scheduler::release(Actor& actor)
{
  constexpr std::size_t most_idle = 64; // address space is all that they cost
  assert(actor.state_ == Actor::State::ended && &actor != current_);
  std::erase(left_behind_, &actor);
  remove_from_fiber_table(actor.name_.c_str());
  if (idle_stacks_.size() < most_idle) {
    actor.stack_->discard();
    idle_stacks_.push_back(std::move(actor.stack_));
  }
  std::erase_if(actors_, [&actor](const auto& each) { return each.get() == &actor; });
}

// Travels with a jump: where to keep the context of the side that is left, and whom the jump is for.
struct Handover {
  context::fcontext_t& left;
  Actor* to;
};

void Scheduler::entry(context::transfer_t transfer)
{
  const auto* handover = static_cast<Handover*>(transfer.data);
  Actor* actor = handover->to;
  Scheduler& scheduler = actor->scheduler_;
  handover->left = transfer.fctx;
#if defined(__SANITIZE_ADDRESS__)
  const void* bottom = nullptr;
  std::size_t size = 0;
  __sanitizer_finish_switch_fiber(nullptr, &bottom, &size);
  if (scheduler.main_stack_ == nullptr) { // the very first switch always comes from the main loop
    scheduler.main_stack_ = bottom;
    scheduler.main_stack_size_ = size;
  }
#endif
  actor->body_();
  scheduler.end_current();
}

void Scheduler::jump(Actor* from, Actor* to)
{
  Handover handover{from ? from->context_ : main_context_, to};
  current_ = to;
  ++switches_;
  if (to) {
    to->state_ = Actor::State::running;
    to->started_ = true;
  }
#if defined(__SANITIZE_ADDRESS__)
  void** fake = from ? &from->fake_stack_ : &main_fake_stack_;
  const void* bottom = to ? static_cast<const char*>(to->stack_->top()) - to->stack_->size() : main_stack_;
  const std::size_t size = to ? to->stack_->size() : main_stack_size_;
  __sanitizer_start_switch_fiber(from && from->state_ == Actor::State::ended ? nullptr : fake, bottom, size);
#endif
  const context::transfer_t transfer = context::jump_fcontext(to ? to->context_ : main_context_, &handover);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(*fake, nullptr, nullptr);
#endif
  static_cast<Handover*>(transfer.data)->left = transfer.fctx; // of whoever brought us back
}

Actor* Scheduler::pick()
{
  for (;;) {
    if (on_beat && (++beat_ & 0xfff) == 0)
      on_beat();
    if (stopping_ || alive_ == 0)
      return nullptr;
    if (look_asked()) [[unlikely]] {
      if (current_ != nullptr)
        return nullptr; // for the main stack
      look_ = false;
      on_look();
      continue;
    }
    if (!ready_.empty()) {
      Actor* next = ready_.front();
      ready_.pop_front();
      return next;
    }
    if (absent > 0) {
      const SimTime due =
          background_.empty() ? timeline_.next() : std::min(timeline_.next(), background_.begin()->first);
      if (await_absent(outside_work() ? sim::never : due))
        continue;
    }
    if (outside_work()) {
      if (current_ != nullptr)
        return nullptr; // SimGrid is entered from the main stack only
      if (advance_external(timeline_.next()))
        continue;
    }
    if (!background_.empty() && background_.begin()->first < timeline_.next() && (!timeline_.empty() || absent > 0)) {
      wake_background();
      continue;
    }
    if (timeline_.step())
      continue;
    if (outside_work())
      continue;
    if (!on_stall || !on_stall()) {
      stopping_ = true;
      return nullptr;
    }
  }
}

void Scheduler::run()
{
  while (Actor* next = pick())
    jump(nullptr, next);
  clear_fiber_table();
}

void Scheduler::leave(Actor* self)
{
  Actor* next = pick();
  if (next == self) {
    self->state_ = Actor::State::running;
    return;
  }
  jump(self, next);
  if (self->errand_)
    std::exchange(self->errand_, nullptr)(); // jumps back to the visitor; returns when self is resumed for good
}

bool Scheduler::block(SimTime deadline)
{
  Actor* self = current_;
  assert(self != nullptr);
  self->state_ = Actor::State::blocked;
  self->waited_ = true;
  self->blocked_since_ = now();
  self->timed_out_ = false;
  if (deadline != sim::never)
    timeline_.schedule(self->timeout_, deadline);
  leave(self);
  timeline_.cancel(self->timeout_);
  return !self->timed_out_;
}

bool Scheduler::block_in_background(SimTime deadline)
{
  Actor* self = current_;
  self->background_deadline_ = deadline;
  background_.emplace(deadline, self);
  const bool woken = block();
  background_.erase({deadline, self}); // unless wake_background() has done so
  self->background_deadline_ = sim::never;
  return woken;
}

bool Scheduler::wake_background(const std::function<bool(const Actor&)>& which)
{
  const auto first = std::find_if(background_.begin(), background_.end(),
                                  [&which](const auto& entry) { return !which || which(*entry.second); });
  if (first == background_.end())
    return false;
  const auto [deadline, actor] = *first;
  background_.erase(first);
  actor->background_deadline_ = sim::never;
  if (deadline != sim::never && deadline > now()) // without one it only looks again
    timeline_.advance_to(deadline);
  wake(*actor);
  actor->timed_out_ = true;
  return true;
}

void Scheduler::kill(Actor& actor)
{
  if (actor.state_ == Actor::State::ended)
    return;
  actor.state_ = Actor::State::ended;
  timeline_.cancel(actor.timeout_);
  background_.erase({actor.background_deadline_, &actor});
  std::erase(ready_, &actor);
  --alive_;
}

bool Scheduler::pass(SimTime duration)
{
  const SimTime until = now() + duration;
  if (!ready_.empty() || absent > 0 || until >= timeline_.next() || outside_work() || stopping_ ||
      (!background_.empty() && until >= background_.begin()->first))
    return false;
  timeline_.advance_to(until);
  return true;
}

void Scheduler::sleep(SimTime duration)
{
  const SimTime until = now() + duration;
  if (pass(duration))
    return;
  while (now() < until)
    block(until);
}

void Scheduler::yield()
{
  if (ready_.empty() && !stopping_)
    return;
  Actor& self = *current_;
  self.state_ = Actor::State::ready;
  ready_.push_back(&self);
  leave(&self);
}

void Scheduler::hold()
{
  Actor& self = *current_;
  self.state_ = Actor::State::ready;
  ready_.push_front(&self);
  look_ = true;
  leave(&self);
}

void Scheduler::end_current()
{
  Actor* self = current_;
  self->state_ = Actor::State::ended;
  left_behind_.push_back(self);
  timeline_.cancel(self->timeout_);
  --alive_;
  jump(self, pick());
  __builtin_unreachable();
}

void Scheduler::wake(Actor& actor)
{
  if (actor.state_ != Actor::State::blocked)
    return;
  actor.state_ = Actor::State::ready;
  timeline_.cancel(actor.timeout_);
  ready_.push_back(&actor);
}

void Scheduler::prefer(Actor& actor)
{
  if (actor.state_ == Actor::State::ready && std::erase(ready_, &actor) > 0)
    ready_.push_front(&actor);
}

void Scheduler::visit(Actor& actor, const std::function<void()>& errand)
{
  Actor* visitor = current_;
  if (&actor == visitor) {
    errand();
    return;
  }
  const Actor::State state = actor.state_;
  if (!actor.started_ || state == Actor::State::ended || actor.errand_)
    return;
  const Actor::State visitor_state = visitor ? visitor->state_ : Actor::State::running;
  actor.errand_ = [this, visitor, &actor, state, &errand] {
    errand();
    actor.state_ = state;
    jump(&actor, visitor);
  };
  jump(visitor, &actor);
  if (visitor)
    visitor->state_ = visitor_state;
}

} // namespace umwelt::engine
