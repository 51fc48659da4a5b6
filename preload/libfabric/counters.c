// SPDX-License-Identifier: LGPL-2.1-or-later
// Counters of completions, and poll sets.
#include "provider.h"

#include <stdlib.h>

void umw_fi_count(struct counter* counter)
{
  ++counter->value;
}

void umw_fi_count_error(struct counter* counter)
{
  ++counter->errors;
}

static uint64_t read_value(struct fid_cntr* fid)
{
  struct counter* const counter = CONTAINER(struct counter, fid, fid);
  umw_fi_lock(counter->domain);
  umw_fi_progress(counter->domain);
  const uint64_t value = counter->value;
  umw_fi_unlock(counter->domain);
  return value;
}

static uint64_t read_errors(struct fid_cntr* fid)
{
  struct counter* const counter = CONTAINER(struct counter, fid, fid);
  umw_fi_lock(counter->domain);
  umw_fi_progress(counter->domain);
  const uint64_t errors = counter->errors;
  umw_fi_unlock(counter->domain);
  return errors;
}

static int change(struct fid_cntr* fid, bool of_errors, bool adds, uint64_t by)
{
  struct counter* const counter = CONTAINER(struct counter, fid, fid);
  umw_fi_lock(counter->domain);
  uint64_t* const value = of_errors ? &counter->errors : &counter->value;
  *value = adds ? *value + by : by;
  if (counter->domain->taken)
    umw_fi_wake(counter->domain);
  umw_fi_unlock(counter->domain);
  return 0;
}

static int add(struct fid_cntr* fid, uint64_t value)
{
  return change(fid, false, true, value);
}

static int set(struct fid_cntr* fid, uint64_t value)
{
  return change(fid, false, false, value);
}

static int add_errors(struct fid_cntr* fid, uint64_t value)
{
  return change(fid, true, true, value);
}

static int set_errors(struct fid_cntr* fid, uint64_t value)
{
  return change(fid, true, false, value);
}

struct wish {
  const struct counter* counter;
  uint64_t threshold, errors;
};

static bool enough(void* argument)
{
  const struct wish* const wish = argument;
  return wish->counter->value >= wish->threshold || wish->counter->errors != wish->errors;
}

static int wait_for(struct fid_cntr* fid, uint64_t threshold, int timeout)
{
  struct counter* const counter = CONTAINER(struct counter, fid, fid);
  umw_fi_lock(counter->domain);
  struct wish wish = {counter, threshold, counter->errors};
  int waited = umw_fi_wait(counter->domain, timeout, enough, &wish);
  if (waited == 0 && counter->value < threshold)
    waited = -FI_EAVAIL;
  umw_fi_unlock(counter->domain);
  return waited;
}

static int close_counter(struct fid* fid)
{
  struct counter* const counter = CONTAINER(struct counter, fid.fid, fid);
  if (counter->users != 0)
    return -FI_EBUSY;
  __atomic_fetch_sub(&counter->domain->users, 1, __ATOMIC_RELAXED);
  free(counter);
  return 0;
}

static int control(struct fid* fid, int command, void* argument)
{
  if (command != FI_GETWAITOBJ)
    return -FI_ENOSYS;
  *(enum fi_wait_obj*)argument = CONTAINER(struct counter, fid.fid, fid)->wait;
  return 0;
}

static struct fi_ops counter_fid_calls = {.size = sizeof(struct fi_ops),
                                          .close = close_counter,
                                          .bind = umw_fi_no_bind,
                                          .control = control,
                                          .ops_open = umw_fi_no_ops_open};
static struct fi_ops_cntr counter_calls = {.size = sizeof(struct fi_ops_cntr),
                                           .read = read_value,
                                           .readerr = read_errors,
                                           .add = add,
                                           .set = set,
                                           .wait = wait_for,
                                           .adderr = add_errors,
                                           .seterr = set_errors};

int umw_fi_cntr_open(struct fid_domain* domain, struct fi_cntr_attr* attr, struct fid_cntr** counter, void* context)
{
  if (attr->events != FI_CNTR_EVENTS_COMP)
    return -FI_ENOSYS;
  if (attr->wait_obj != FI_WAIT_NONE && attr->wait_obj != FI_WAIT_UNSPEC && attr->wait_obj != FI_WAIT_YIELD)
    return -FI_ENOSYS;
  struct counter* const made = calloc(1, sizeof *made);
  if (made == NULL)
    return -FI_ENOMEM;
  made->domain = CONTAINER(struct domain, fid, domain);
  made->wait = attr->wait_obj;
  made->fid.fid = (struct fid){.fclass = FI_CLASS_CNTR, .context = context, .ops = &counter_fid_calls};
  made->fid.ops = &counter_calls;
  __atomic_fetch_add(&made->domain->users, 1, __ATOMIC_RELAXED);
  *counter = &made->fid;
  return 0;
}

enum { POLLED = 64 };

struct poll_set {
  struct fid_poll fid;
  struct domain* domain;
  struct fid* members[POLLED];
  uint64_t seen[POLLED]; // of counters
  int count;
};

static int poll_members(struct fid_poll* fid, void** contexts, int most)
{
  struct poll_set* const set = CONTAINER(struct poll_set, fid, fid);
  int found = 0;
  umw_fi_lock(set->domain);
  umw_fi_progress(set->domain);
  for (int i = 0; i < set->count && found < most; ++i) {
    struct fid* const member = set->members[i];
    bool something = false;
    if (member->fclass == FI_CLASS_CQ) {
      const struct completion_queue* const queue = CONTAINER(struct completion_queue, fid.fid, member);
      something = queue->count != 0 || queue->failures != NULL;
    } else {
      const struct counter* const counter = CONTAINER(struct counter, fid.fid, member);
      something = counter->value + counter->errors != set->seen[i];
      set->seen[i] = counter->value + counter->errors;
    }
    if (something)
      contexts[found++] = member->context;
  }
  umw_fi_unlock(set->domain);
  return found;
}

static int add_member(struct fid_poll* fid, struct fid* member, uint64_t flags)
{
  (void)flags;
  struct poll_set* const set = CONTAINER(struct poll_set, fid, fid);
  if (member->fclass != FI_CLASS_CQ && member->fclass != FI_CLASS_CNTR)
    return -FI_EINVAL;
  if (set->count == POLLED)
    return -FI_ENOMEM;
  set->seen[set->count] = 0;
  set->members[set->count++] = member;
  return 0;
}

static int remove_member(struct fid_poll* fid, struct fid* member, uint64_t flags)
{
  (void)flags;
  struct poll_set* const set = CONTAINER(struct poll_set, fid, fid);
  for (int i = 0; i < set->count; ++i)
    if (set->members[i] == member) {
      --set->count;
      set->members[i] = set->members[set->count];
      set->seen[i] = set->seen[set->count];
      return 0;
    }
  return -FI_EINVAL;
}

static int close_set(struct fid* fid)
{
  struct poll_set* const set = CONTAINER(struct poll_set, fid.fid, fid);
  __atomic_fetch_sub(&set->domain->users, 1, __ATOMIC_RELAXED);
  free(set);
  return 0;
}

static struct fi_ops poll_fid_calls = {.size = sizeof(struct fi_ops),
                                       .close = close_set,
                                       .bind = umw_fi_no_bind,
                                       .control = umw_fi_no_control,
                                       .ops_open = umw_fi_no_ops_open};
static struct fi_ops_poll poll_calls = {
    .size = sizeof(struct fi_ops_poll), .poll = poll_members, .poll_add = add_member, .poll_del = remove_member};

int umw_fi_poll_open(struct fid_domain* domain, struct fi_poll_attr* attr, struct fid_poll** set)
{
  if (attr != NULL && attr->flags != 0)
    return -FI_EINVAL;
  struct poll_set* const made = calloc(1, sizeof *made);
  if (made == NULL)
    return -FI_ENOMEM;
  made->domain = CONTAINER(struct domain, fid, domain);
  made->fid.fid = (struct fid){.fclass = FI_CLASS_POLL, .ops = &poll_fid_calls};
  made->fid.ops = &poll_calls;
  __atomic_fetch_add(&made->domain->users, 1, __ATOMIC_RELAXED);
  *set = &made->fid;
  return 0;
}
