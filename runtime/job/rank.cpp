// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/job/rank.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "runtime/bootstrap/namespaces.h"
#include "runtime/job/channel.h"
#include "runtime/job/job.h"
#include "runtime/job/pmi_socket.h"
#include "runtime/job/standard_output.h"

namespace umwelt::job
{

namespace
{
// A burst of this length between two polls is work of the program, not the library's way of looking.
constexpr SimTime work = 5 * sim::microsecond;
constexpr SimTime longest_debt = 5 * sim::microsecond;
constexpr SignalSet ignored_by_default = set_of(SIGCHLD) | set_of(SIGURG) | set_of(SIGWINCH) | set_of(SIGCONT);
} // namespace

Rank::Rank(Job& owner, int rank, umw_gate& g)
    : job(owner), index(rank), gate(g), hosted(g),
      timers(owner.scheduler().timeline(), gate.clock.cpu_ps,
             [this](const Timers::Notice& notice, std::uint64_t count) { return notify_of_timer(notice, count); }),
      ignored_(ignored_by_default)
{
}

Rank::~Rank() = default;

std::string Rank::title() const
{
  if (facts != nullptr && facts->space->number > 1)
    return fmt::format("rank {} ({}; job {} rank {})", index, gate.host_name, facts->space->number, number);
  return fmt::format("rank {} ({})", index, gate.host_name);
}

Thread& Rank::running() const
{
  return *static_cast<Thread*>(job.scheduler().current()->owner);
}

void Rank::enter(bool looks, bool ahead, const rank_host::Burst& measured)
{
  umw_clock& clock = gate.clock;
  Thread& thread = running();
  PollState& poll = thread.poll;
  const bool looked = clock.looks != poll.looks;
  const SimTime burst = phase == Phase::loading ? 0 : job.cpu().charge(clock, measured, looked);
  SimTime charge = clock.debt_ps;
  clock.debt_ps = 0;
  poll.computed = poll.computed || std::max(burst, charge) >= work; // models of kernels work, too
  if (burst > 0) {
    charge += static_cast<SimTime>(static_cast<double>(burst) / clock.speed);
    statistics.learned += static_cast<SimTime>(static_cast<double>(measured.learned) / clock.speed);
    statistics.left_out += static_cast<SimTime>(static_cast<double>(measured.left_out) / clock.speed);
    statistics.doubt += static_cast<SimTime>(static_cast<double>(measured.doubt) / clock.speed);
  }
  // What the program has seen of the time has passed, even if the burst turns out shorter (it was interrupted) or is
  // dropped.
  charge = std::max(charge, clock.shown_ps - clock.now_ps);
  if (thread.channel)
    thread.channel->release_gate();
  if (charge > 0 && phase != Phase::loading && gate.no_switch == 0 && !(looks && charge < longest_debt)) {
    spend(observe::RankState::compute, charge, ahead);
    return;
  }
  if (!ahead && gate.no_switch == 0)
    thread.catch_up();
  if (thread.channel)
    charge -= thread.channel->drop_burst();
  clock.debt_ps = std::max<SimTime>(charge, 0);
}

void Rank::spend(observe::RankState state, SimTime time, bool ahead)
{
  gate.clock.cpu_ps += time;
  (state == observe::RankState::compute ? statistics.compute : statistics.communication) += time;
  Thread& thread = running();
  thread.doing = state;
  Energy* const energy = job.energy();
  if (energy != nullptr)
    Energy::begins(thread, thread.channel && thread.channel->computing() ? thread.channel->began() : thread.now(),
                   false);
  const SimTime begin = ahead ? thread.spend_ahead(time) : thread.spend(time);
  thread.doing = observe::RankState::waiting;
  if (energy != nullptr)
    energy->ends(*this, thread, state, begin, thread.now());
  if (thread.number == 0)
    tell_trace(state, begin, thread.now());
  timers.cpu_passed();
}

void Rank::tell_trace(observe::RankState state, SimTime from, SimTime to, CriticalPath::Wait how)
{
  if (observe::Trace* trace = job.plan().trace.get())
    trace->rank_spent(static_cast<std::uint32_t>(index), state, from, to);
  if (Details* const details = job.details(); details != nullptr)
    details->spent(static_cast<std::size_t>(index), state, from, to, how);
}

void Rank::leave()
{
  Thread& thread = running();
  if (threads.size() > 1)
    notify_parked(thread); // what this thread has written may be what they look for
  gate.core = static_cast<std::int32_t>(thread.place.core);
  gate.alone = std::all_of(awake.begin(), awake.end(), [&thread](const Thread* other) { return other == &thread; });
  gate.tid = thread.tid;
  thread.poll.changes = gate.changes;
  gate.signal_due = signal_due(thread);
  gate.blocked = thread.blocked;
  gate.descriptor_seen = thread.descriptors_seen;
  gate.more_events = thread.more_events ? 1 : 0;
  gate.clock.now_ps = thread.now();
  if (job.computing().changes()) [[unlikely]]
    job.computing().begins(*this, thread.now());
  if (thread.here != nullptr)
    job.rank_host().begin_burst(*thread.here);
  else
    gate.ahead_ps = to_compute.empty() && !timers.armed() ? job.lookahead() : 0;
}

void Rank::allow_switch()
{
  if (std::exchange(gate.no_switch, 0U) != 0 && job.workers() != nullptr)
    job.workers()->wake(worker);
}

void Rank::wakes_up(Thread& thread)
{
  awake.insert(std::upper_bound(awake.begin(), awake.end(), &thread,
                                [](const Thread* a, const Thread* b) { return a->number < b->number; }),
               &thread);
}

template <class Block> bool Rank::wait_with(const Waiting& waiting, Block block)
{
  engine::Scheduler& scheduler = job.scheduler();
  Thread& self = running();
  const SimTime begin = self.now();
  if (threads.size() > 1)
    notify_parked(self);
  if (!memory_peers.empty() && !self.poll.idle)
    job.shared_memory().may_have_written(*this, gate.clock.debt_ps);
  self.poll.untold = false;
  allow_switch();
  waiting_.push_back(waiting);
  const SimTime debt = std::exchange(gate.clock.debt_ps, 0); // this thread's own
  const bool follows = gate.mpi_counts != nullptr;
  if (follows)
    lateness.begin();
  Energy* const energy = waiting.what == For::network ? job.energy() : nullptr;
  if (energy != nullptr)
    Energy::begins(self, begin, true);
  const bool woken = block(scheduler);
  if (energy != nullptr)
    energy->ends(*this, self, observe::RankState::waiting, begin, std::max(scheduler.now(), begin));
  if (follows) {
    lateness.end(begin, scheduler.now());
    gate.late_ps = lateness.total();
  }
  gate.clock.debt_ps = debt;
  std::erase_if(waiting_, [&self](const Waiting& other) { return other.actor == self.actor; });
  if (self.number == 0) {
    const SimTime until = std::max(scheduler.now(), begin);
    statistics.waiting += until - begin;
    tell_trace(observe::RankState::waiting, begin, until,
               waiting.what == For::network ? CriticalPath::Wait::polls
               : woken                      ? CriticalPath::Wait::woken
                                            : CriticalPath::Wait::elapsed);
  }
  return woken;
}

void Rank::notify_parked(const Thread& but)
{
  if (but.poll.idle)
    return;
  ++gate.changes;
  sim::Timeline& timeline = job.scheduler().timeline();
  for (Thread* thread : awake)
    if (thread->poll.parked && thread != &but && !thread->look_again.pending())
      timeline.schedule_in(thread->look_again, job.node_parameters().line);
}

void Rank::memory_changed()
{
  ++gate.changes;
  call_in();
  for (const Thread* thread : awake)
    if (thread->poll.at_memory)
      job.scheduler().wake(*thread->actor);
}

bool Rank::in_time(SimTime deadline, bool woken)
{
  if (job.scheduler().now() >= deadline) // even if somebody else has woken it at that time
    job.timed_out(running());
  return woken;
}

bool Rank::wait(SimTime deadline, For what)
{
  return in_time(deadline, wait_with({running().actor, what},
                                     [deadline](engine::Scheduler& scheduler) { return scheduler.block(deadline); }));
}

bool Rank::wait_at(std::uint64_t place, std::uint64_t self, SimTime deadline)
{
  return in_time(deadline, wait_with({running().actor, For::anything, place, self},
                                     [deadline](engine::Scheduler& scheduler) { return scheduler.block(deadline); }));
}

bool Rank::wait_in_background(SimTime deadline, For what)
{
  return in_time(deadline, wait_with({running().actor, what}, [deadline](engine::Scheduler& scheduler) {
                   return scheduler.block_in_background(deadline);
                 }));
}

bool Rank::send_signal(const siginfo_t& information, Thread* thread)
{
  const int signal = information.si_signo;
  Thread* target = thread != nullptr ? thread : taker(signal);
  // What is ignored is dropped at once, unless it is blocked: the program may think otherwise by then.
  if (target != nullptr && (ignored_ & ~target->blocked & set_of(signal)) != 0)
    return true;
  const bool added = (thread != nullptr ? thread->pending : pending).add(information);
  call_in();
  for (const auto& other : threads)
    if (other.get() == target || (other->waits_for & set_of(signal)) != 0)
      job.scheduler().wake(*other->actor);
  return added;
}

Thread* Rank::taker(int signal) const
{
  for (const auto& thread : threads)
    if (!thread->ended() && (thread->blocked & set_of(signal)) == 0)
      return thread.get();
  return nullptr;
}

bool Rank::signal_due(const Thread& thread) const
{
  if (thread.pending.signals() == 0 && pending.signals() == 0) [[likely]]
    return false;
  if (phase != Phase::running)
    return false;
  if ((thread.pending.signals() & ~thread.blocked) != 0)
    return true;
  for (SignalSet left = pending.signals() & ~thread.blocked; left != 0; left &= left - 1)
    if (taker(__builtin_ctzll(left) + 1) == &thread)
      return true;
  return false;
}

int Rank::take_signal(SignalSet wanted, siginfo_t& information)
{
  if (!running().pending.take(wanted, information) && !pending.take(wanted, information))
    return 0;
  if (information.si_code == SI_TIMER)
    information.si_overrun = timers.taken(information.si_timerid);
  return information.si_signo;
}

void Rank::program_changed()
{
  phase = Phase::loading;
  gate.running = 0;
  ignored_ |= ignored_by_default;
}

void Rank::ignore_signals(SignalSet signals)
{
  ignored_ = signals;
  pending.discard(signals);
  for (const auto& thread : threads)
    thread->pending.discard(signals);
}

bool Rank::act_on_signals()
{
  Thread& self = running();
  if (!signal_due(self) || gate.deliver_pending == nullptr)
    return false;
  const char* interrupted = self.last_call;
  leave();
  const bool final =
      self.here != nullptr ? job.rank_host().deliver_pending(*self.here, nullptr) : self.channel->deliver_pending();
  self.last_call = interrupted;
  return final;
}

bool Rank::notify_of_timer(const Timers::Notice& notice, std::uint64_t count)
{
  job.polling().progress();
  if (notice.fd >= 0) {
    eventfd_write(notice.fd, count);
    ++gate.wakes;
    notify_all();
    return true;
  }
  siginfo_t information{};
  information.si_signo = notice.signal;
  information.si_code = notice.code;
  if (notice.code == SI_TIMER) {
    information.si_timerid = notice.id;
    information.si_value.sival_ptr = reinterpret_cast<void*>(notice.value);
  }
  Thread* thread = nullptr;
  if (notice.tid != 0) {
    const auto found = std::find_if(threads.begin(), threads.end(), [&notice](const auto& candidate) {
      return candidate->tid == notice.tid && !candidate->ended();
    });
    if (found == threads.end())
      return true;
    thread = found->get();
  }
  // Each timer has one signal on its way at most, timer_getoverrun(2).
  if (notice.code == SI_TIMER && (thread != nullptr ? thread->pending : pending).has_timer(notice.id))
    return false;
  return send_signal(information, thread);
}

void Rank::came(std::size_t source, const sim::Origin* origin, SimTime at, std::uint64_t bytes)
{
  if (const auto before = job.exchanged(static_cast<std::size_t>(index), source, at))
    lateness.came(at, *before);
  if (Details* const details = job.details(); details != nullptr)
    details->path().came(static_cast<std::size_t>(index), source, origin, at, bytes, job.scheduler().now());
}

void Rank::notify_network()
{
  for (const Waiting& waiting : waiting_)
    if (waiting.what == For::network)
      job.scheduler().wake(*waiting.actor);
}

void Rank::notify_at(std::uint64_t place, unsigned most)
{
  for (Waiting& waiting : waiting_) {
    if (most == 0)
      return;
    if (waiting.told || (waiting.place != place && waiting.self != place))
      continue;
    waiting.told = true;
    job.scheduler().wake(*waiting.actor);
    --most;
  }
}

void Rank::notify_all()
{
  for (const Waiting& waiting : waiting_)
    if (waiting.what != For::itself)
      job.scheduler().wake(*waiting.actor);
}

} // namespace umwelt::job
