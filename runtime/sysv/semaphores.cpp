// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/sysv/semaphores.h"

#include <algorithm>

namespace umwelt::sysv
{

namespace
{
constexpr std::size_t most_sets = 32000;     // SEMMNI
constexpr int most_semaphores = 32000;       // SEMMSL
constexpr std::size_t most_operations = 500; // SEMOPM
constexpr int most_value = 32767;            // SEMVMX
} // namespace

int Semaphores::get(key_t key, int count, int flags, const Caller& caller)
{
  if (count < 0 || count > most_semaphores)
    return -EINVAL;
  return table_.get(
      key, flags, most_sets,
      [count](const Set& set) { return static_cast<std::size_t>(count) > set.semaphores.size() ? EINVAL : 0; },
      [&](const ipc_perm& permissions, int) -> std::unique_ptr<Set> {
        if (count == 0) {
          errno = EINVAL;
          return nullptr;
        }
        auto set = std::make_unique<Set>();
        set->permissions = permissions;
        set->semaphores.resize(static_cast<std::size_t>(count));
        set->changed = caller.now;
        return set;
      });
}

int Semaphores::count(int id)
{
  const Set* set = table_.find(id);
  return set == nullptr ? -EINVAL : static_cast<int>(set->semaphores.size());
}

// All of them or none, in the order given: 0, a negative errno, or 1: one has to wait.
int Semaphores::attempt(Set& set, Pending& pending)
{
  std::vector<Semaphore>& semaphores = set.semaphores;
  const std::vector<Semaphore> before = semaphores;
  std::vector<int> undo = set.undo[pending.pid];
  undo.resize(semaphores.size());
  for (const sembuf& operation : pending.operations) {
    Semaphore& semaphore = semaphores[operation.sem_num];
    const int change = operation.sem_op;
    int result = 0;
    if (change == 0 ? semaphore.value != 0 : semaphore.value + change < 0) {
      pending.blocked_on = operation.sem_num;
      pending.for_zero = change == 0;
      result = (operation.sem_flg & IPC_NOWAIT) != 0 ? -EAGAIN : 1;
    } else if (semaphore.value + change > most_value) {
      result = -ERANGE;
    }
    if (result != 0) {
      semaphores = before;
      return result;
    }
    semaphore.value += change;
    semaphore.pid = pending.pid;
    if ((operation.sem_flg & SEM_UNDO) != 0)
      undo[operation.sem_num] -= change;
  }
  set.undo[pending.pid] = std::move(undo);
  return 0;
}

// Who waited longest first; what one does may let another go on.
void Semaphores::serve_pending(Set& set, const Caller& caller)
{
  for (auto next = set.pending.begin(); next != set.pending.end();) {
    Pending& pending = **next;
    pending.result = attempt(set, pending);
    if (pending.result == 1) {
      ++next;
      continue;
    }
    set.pending.erase(next);
    if (pending.result == 0)
      set.operated = caller.now;
    pending.waiting->wake(*caller.waiting);
    next = set.pending.begin();
  }
}

int Semaphores::operate(int id, std::span<const sembuf> operations, sim::SimTime deadline, const Caller& caller)
{
  if (operations.empty())
    return -EINVAL;
  if (operations.size() > most_operations)
    return -E2BIG;
  Set* set = table_.find(id);
  if (set == nullptr)
    return -EINVAL;
  bool changes = false;
  for (const sembuf& operation : operations) {
    if (operation.sem_num >= set->semaphores.size())
      return -EFBIG;
    changes = changes || operation.sem_op != 0;
  }
  if (!grants(set->permissions, changes ? writable : readable))
    return -EACCES;
  Pending self{operations, caller.pid, caller.waiting};
  self.result = attempt(*set, self);
  if (self.result < 0)
    return self.result;
  if (self.result == 0) {
    set->operated = caller.now;
    serve_pending(*set, caller);
    return 0;
  }
  set->pending.push_back(&self);
  while (self.result == 1) {
    const Waiting::End end = caller.waiting->wait(deadline);
    if (self.result != 1)
      break;
    if (end == Waiting::End::woken)
      continue;
    set->pending.remove(&self);
    return end == Waiting::End::signal ? -EINTR : -EAGAIN;
  }
  return self.result;
}

int Semaphores::control(int id, int number, int command, int value, semid_ds* status, std::span<unsigned short> values,
                        const Caller& caller)
{
  Set* set = table_.find(id);
  if (set == nullptr)
    return -EINVAL;
  const bool changes = command == SETVAL || command == SETALL;
  const bool owners = command == IPC_SET || command == IPC_RMID;
  if (owners && !may_change(set->permissions))
    return -EPERM;
  if (!owners && !grants(set->permissions, changes ? writable : readable))
    return -EACCES;
  const bool of_one =
      command == GETVAL || command == SETVAL || command == GETPID || command == GETNCNT || command == GETZCNT;
  if (of_one && (number < 0 || static_cast<std::size_t>(number) >= set->semaphores.size()))
    return -EINVAL;
  const auto waiting = [set, number](bool for_zero) {
    return static_cast<int>(std::count_if(set->pending.begin(), set->pending.end(), [&](const Pending* pending) {
      return pending->blocked_on == number && pending->for_zero == for_zero;
    }));
  };
  switch (command) {
  case GETVAL:
    return set->semaphores[static_cast<std::size_t>(number)].value;
  case GETPID:
    return set->semaphores[static_cast<std::size_t>(number)].pid;
  case GETNCNT:
    return waiting(false);
  case GETZCNT:
    return waiting(true);
  case GETALL:
    for (std::size_t i = 0; i < set->semaphores.size(); ++i)
      values[i] = static_cast<unsigned short>(set->semaphores[i].value);
    return 0;
  case SETVAL:
    if (value < 0 || value > most_value)
      return -ERANGE;
    set->semaphores[static_cast<std::size_t>(number)] = {value, caller.pid};
    for (auto& [pid, undo] : set->undo)
      if (static_cast<std::size_t>(number) < undo.size())
        undo[static_cast<std::size_t>(number)] = 0;
    break;
  case SETALL:
    if (std::any_of(values.begin(), values.end(), [](unsigned short v) { return v > most_value; }))
      return -ERANGE;
    for (std::size_t i = 0; i < set->semaphores.size(); ++i)
      set->semaphores[i] = {values[i], caller.pid};
    set->undo.clear();
    break;
  case IPC_STAT:
    *status = {};
    status->sem_perm = set->permissions;
    status->sem_otime = set->operated;
    status->sem_ctime = set->changed;
    status->sem_nsems = set->semaphores.size();
    return 0;
  case IPC_SET:
    change(set->permissions, status->sem_perm);
    set->changed = caller.now;
    return 0;
  case IPC_RMID:
    for (Pending* pending : set->pending) {
      pending->result = -EIDRM;
      pending->waiting->wake(*caller.waiting);
    }
    table_.remove(id);
    return 0;
  default:
    return -EINVAL;
  }
  set->changed = caller.now;
  serve_pending(*set, caller);
  return 0;
}

void Semaphores::forget(const Caller& caller)
{
  for (auto& [id, set] : table_.objects()) {
    set->pending.remove_if([&caller](const Pending* pending) { return pending->pid == caller.pid; });
    const auto entry = set->undo.find(caller.pid);
    if (entry == set->undo.end())
      continue;
    for (std::size_t i = 0; i < entry->second.size(); ++i)
      if (entry->second[i] != 0)
        set->semaphores[i] = {std::clamp(set->semaphores[i].value + entry->second[i], 0, most_value), caller.pid};
    set->undo.erase(entry);
    serve_pending(*set, caller);
  }
}

} // namespace umwelt::sysv
