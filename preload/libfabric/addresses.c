// SPDX-License-Identifier: LGPL-2.1-or-later
// Address vectors: the names of others as numbers, and the numbers of those who have sent something.
#include "provider.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool same(const struct name* one, const struct name* other)
{
  return one->nid == other->nid && one->pid == other->pid && one->endpoint == other->endpoint;
}

static size_t place_of(const struct name* name, size_t size)
{
  const uint64_t key = ((uint64_t)name->nid << 32 | name->pid) ^ (uint64_t)name->endpoint << 21;
  return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (size - 1);
}

static void enter(struct address_vector* av, uint32_t number)
{
  for (size_t at = place_of(&av->peers[number]->name, av->index_size);; at = (at + 1) & (av->index_size - 1)) {
    if (av->index[at] == 0) {
      av->index[at] = number + 1;
      return;
    }
    if (same(&av->peers[av->index[at] - 1]->name, &av->peers[number]->name))
      return; // the first counts
  }
}

// What is there, anew.
static int make_index(struct address_vector* av, size_t size)
{
  uint32_t* const index = calloc(size, sizeof *index);
  if (index == NULL)
    return -FI_ENOMEM;
  free(av->index);
  av->index = index;
  av->index_size = size;
  for (size_t i = 0; i < av->count; ++i)
    if (av->peers[i]->there)
      enter(av, (uint32_t)i);
  return 0;
}

fi_addr_t umw_fi_address_of(const struct address_vector* av, const struct name* name)
{
  for (size_t at = place_of(name, av->index_size); av->index[at] != 0; at = (at + 1) & (av->index_size - 1))
    if (same(&av->peers[av->index[at] - 1]->name, name))
      return av->index[at] - 1;
  return FI_ADDR_NOTAVAIL;
}

struct peer* umw_fi_peer(struct endpoint* endpoint, fi_addr_t address)
{
  const struct address_vector* const av = endpoint->av;
  return av != NULL && address < av->count && av->peers[address]->there ? av->peers[address] : NULL;
}

static int add(struct address_vector* av, const struct name* name, fi_addr_t* address)
{
  if (av->count == av->size) {
    const size_t size = av->size * 2;
    struct peer** const more = reallocarray(av->peers, size, sizeof(struct peer*));
    if (more == NULL)
      return -FI_ENOMEM;
    av->peers = more;
    av->size = size;
  }
  struct peer* const peer = calloc(1, sizeof *peer);
  if (peer == NULL)
    return -FI_ENOMEM;
  peer->name = *name;
  peer->there = true;
  av->peers[av->count++] = peer;
  if (av->count * 2 > av->index_size) {
    const int error = make_index(av, av->index_size * 2);
    if (error != 0) {
      free(peer);
      --av->count;
      return error;
    }
  } else {
    enter(av, (uint32_t)av->count - 1);
  }
  *address = av->count - 1;
  return 0;
}

static int insert(struct fid_av* fid, const void* addresses, size_t count, fi_addr_t* numbers, uint64_t flags,
                  void* context)
{
  (void)flags;
  struct address_vector* const av = CONTAINER(struct address_vector, fid, fid);
  const struct name* const names = addresses;
  int added = 0;
  umw_fi_lock(av->domain);
  for (size_t i = 0; i < count; ++i) {
    fi_addr_t number = FI_ADDR_NOTAVAIL;
    if (add(av, &names[i], &number) == 0)
      ++added;
    if (numbers != NULL)
      numbers[i] = number;
  }
  umw_fi_unlock(av->domain);
  if (av->queue == NULL)
    return added;
  const struct fi_eq_entry entry = {.fid = &av->fid.fid, .context = context, .data = (uint64_t)added};
  return umw_fi_add_event(av->queue, FI_AV_COMPLETE, &entry, sizeof entry);
}

static int insert_service(struct fid_av* fid, const char* node, const char* service, fi_addr_t* number, uint64_t flags,
                          void* context)
{
  (void)fid, (void)node, (void)service, (void)number, (void)flags, (void)context;
  return -FI_ENOSYS; // names are no host names
}

static int insert_symmetric(struct fid_av* fid, const char* node, size_t nodes, const char* service, size_t services,
                            fi_addr_t* numbers, uint64_t flags, void* context)
{
  (void)fid, (void)node, (void)nodes, (void)service, (void)services, (void)numbers, (void)flags, (void)context;
  return -FI_ENOSYS;
}

static int take_out(struct fid_av* fid, fi_addr_t* numbers, size_t count, uint64_t flags)
{
  (void)flags;
  struct address_vector* const av = CONTAINER(struct address_vector, fid, fid);
  int error = 0;
  umw_fi_lock(av->domain);
  for (size_t i = 0; i < count; ++i) {
    if (numbers[i] >= av->count || !av->peers[numbers[i]]->there) {
      error = -FI_EINVAL;
      break;
    }
    av->peers[numbers[i]]->there = false;
  }
  const int index_error = make_index(av, av->index_size);
  umw_fi_unlock(av->domain);
  return error != 0 ? error : index_error;
}

static int look_up(struct fid_av* fid, fi_addr_t number, void* address, size_t* length)
{
  struct address_vector* const av = CONTAINER(struct address_vector, fid, fid);
  if (number >= av->count || !av->peers[number]->there)
    return -FI_EINVAL;
  const size_t room = *length;
  memcpy(address, &av->peers[number]->name, room < sizeof(struct name) ? room : sizeof(struct name));
  *length = sizeof(struct name);
  return room < sizeof(struct name) ? -FI_ETOOSMALL : 0;
}

static const char* as_string(struct fid_av* fid, const void* address, char* text, size_t* length)
{
  (void)fid;
  const struct name* const name = address;
  const int got = snprintf(text, *length, "fi_addr_umwelt://%u:%u:%u", name->nid, name->pid, (unsigned)name->endpoint);
  *length = (size_t)got + 1;
  return text;
}

static int close_vector(struct fid* fid)
{
  struct address_vector* const av = CONTAINER(struct address_vector, fid.fid, fid);
  if (av->users != 0)
    return -FI_EBUSY;
  for (size_t i = 0; i < av->count; ++i)
    if (av->peers[i]->under_way == 0 && av->peers[i]->held == NULL) // else events name it yet
      free(av->peers[i]);
  free(av->peers);
  free(av->index);
  __atomic_fetch_sub(&av->domain->users, 1, __ATOMIC_RELAXED);
  free(av);
  return 0;
}

static int bind_vector(struct fid* fid, struct fid* other, uint64_t flags)
{
  (void)flags;
  struct address_vector* const av = CONTAINER(struct address_vector, fid.fid, fid);
  if (other->fclass != FI_CLASS_EQ)
    return -FI_EINVAL;
  av->queue = CONTAINER(struct event_queue, fid.fid, other);
  return 0;
}

static struct fi_ops fid_calls = {.size = sizeof(struct fi_ops),
                                  .close = close_vector,
                                  .bind = bind_vector,
                                  .control = umw_fi_no_control,
                                  .ops_open = umw_fi_no_ops_open};
static struct fi_ops_av calls = {.size = sizeof(struct fi_ops_av),
                                 .insert = insert,
                                 .insertsvc = insert_service,
                                 .insertsym = insert_symmetric,
                                 .remove = take_out,
                                 .lookup = look_up,
                                 .straddr = as_string};

int umw_fi_av_open(struct fid_domain* domain, struct fi_av_attr* attr, struct fid_av** av, void* context)
{
  if (attr->name != NULL || attr->rx_ctx_bits != 0)
    return -FI_ENOSYS; // shared between processes; several receive contexts
  struct address_vector* const made = calloc(1, sizeof *made);
  if (made == NULL)
    return -FI_ENOMEM;
  made->domain = CONTAINER(struct domain, fid, domain);
  made->type = attr->type == FI_AV_UNSPEC ? FI_AV_TABLE : attr->type;
  made->size = attr->count > 16 && attr->count < 1 << 20 ? attr->count : 16;
  made->peers = calloc(made->size, sizeof(struct peer*));
  if (made->peers == NULL || make_index(made, 64) != 0) {
    free(made->peers);
    free(made);
    return -FI_ENOMEM;
  }
  made->fid.fid = (struct fid){.fclass = FI_CLASS_AV, .context = context, .ops = &fid_calls};
  made->fid.ops = &calls;
  attr->type = made->type;
  __atomic_fetch_add(&made->domain->users, 1, __ATOMIC_RELAXED);
  *av = &made->fid;
  return 0;
}
