/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where memory is to lie. The node's NUMA nodes are not this machine's, and access to memory takes no simulated time,
 * so a policy is checked and remembered, no more. Semantics: set_mempolicy(2), get_mempolicy(2), mbind(2); libnuma
 * calls them through syscall().
 */
#include "preload/shim.h"

#include <linux/mempolicy.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_NODES 64 /* platforms/platform.cpp */

static _Thread_local int policy = MPOL_DEFAULT;
static _Thread_local uint64_t policy_nodes;

static uint64_t all_nodes(void)
{
  return umw_gate->sockets >= MOST_NODES ? ~(uint64_t)0 : ((uint64_t)1 << umw_gate->sockets) - 1;
}

static unsigned node_of_thread(void)
{
  unsigned node = 0;
  getcpu(NULL, &node);
  return node;
}

/* `bits`: how many the mask has, and one more (get_nodes() of Linux' mm/mempolicy.c). False: it names a node that is
 * not there. */
static bool read_nodes(const unsigned long* mask, unsigned long bits, uint64_t* nodes)
{
  *nodes = 0;
  for (unsigned long bit = 0; mask && bit + 1 < bits; ++bit)
    if (mask[bit / 64] >> bit % 64 & 1) {
      if (bit >= (unsigned long)umw_gate->sockets)
        return false;
      *nodes |= (uint64_t)1 << bit;
    }
  return true;
}

static void write_nodes(unsigned long* mask, unsigned long bits, uint64_t nodes)
{
  for (unsigned long word = 0; mask && word * 64 < bits; ++word)
    mask[word] = word == 0 ? nodes : 0;
}

static int check(int mode, uint64_t nodes, bool known)
{
  const int kind = mode & ~MPOL_MODE_FLAGS;
  if (!known || kind < 0 || kind >= MPOL_MAX)
    return -EINVAL;
  const bool none = kind == MPOL_DEFAULT || kind == MPOL_LOCAL;
  return (none && nodes != 0) || (!none && kind != MPOL_PREFERRED && nodes == 0) ? -EINVAL : 0;
}

static int set_policy(int mode, const unsigned long* mask, unsigned long bits)
{
  uint64_t nodes;
  const bool known = read_nodes(mask, bits, &nodes);
  const int status = check(mode, nodes, known);
  if (status == 0) {
    policy = mode;
    policy_nodes = nodes;
  }
  return status;
}

static int get_policy(int* mode, unsigned long* mask, unsigned long bits, uint64_t flags)
{
  if (flags & ~(uint64_t)(MPOL_F_NODE | MPOL_F_ADDR | MPOL_F_MEMS_ALLOWED))
    return -EINVAL;
  if (mask && bits < (unsigned long)umw_gate->sockets)
    return -EINVAL;
  if (flags & MPOL_F_MEMS_ALLOWED) {
    if (flags & (MPOL_F_NODE | MPOL_F_ADDR))
      return -EINVAL;
    write_nodes(mask, bits, all_nodes());
    return 0;
  }
  if (flags & MPOL_F_NODE && !(flags & MPOL_F_ADDR) && (policy & ~MPOL_MODE_FLAGS) != MPOL_INTERLEAVE)
    return -EINVAL;
  if (mode)
    *mode = flags & MPOL_F_NODE ? (int)node_of_thread() : policy;
  write_nodes(mask, bits, policy_nodes);
  return 0;
}

bool umw_memory_policy(long number, const long* a, int* result)
{
  uint64_t nodes;
  switch (number) {
  case SYS_set_mempolicy:
    *result = set_policy((int)a[0], (const unsigned long*)a[1], (unsigned long)a[2]);
    return true;
  case SYS_get_mempolicy:
    *result = get_policy((int*)a[0], (unsigned long*)a[1], (unsigned long)a[2], (uint64_t)a[4]);
    return true;
  case SYS_mbind: {
    const bool known = read_nodes((const unsigned long*)a[3], (unsigned long)a[4], &nodes);
    *result = a[0] & (getpagesize() - 1) ? -EINVAL : check((int)a[2], nodes, known);
    return true;
  }
  case SYS_migrate_pages:
    *result = 0;
    return true;
  default:
    return false;
  }
}
