/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "preload/fold/pieces.h"
#include "preload/find_gate.h"

#include <pthread.h>
#include <sys/mman.h>

enum { MOST_PIECES = 4096 };
static struct umw_piece pieces[MOST_PIECES]; /* ascending */
static unsigned count;
static uintptr_t first, extent; /* all of them begin within */

struct umw_gate* umw_fold_gate;
_Thread_local const void* umw_fold_for;

static void in_child(void)
{
  umw_fold_gate = NULL;
}

/* The shim's constructors have run: it is linked with -z initfirst. */
__attribute__((constructor)) static void find_gate(void)
{
  struct umw_gate* gate = umw_find_gate();
  if (!gate || gate->version != UMW_GATE_VERSION || gate->size != sizeof *gate)
    return; /* the shim has said so */
  umw_fold_gate = gate;
  pthread_atfork(NULL, NULL, in_child);
}

/* Threads of a rank take turns: it is enough that none is interrupted here. */
static void begin_change(void)
{
  if (umw_fold_gate)
    ++umw_fold_gate->no_preempt;
}

static void end_change(void)
{
  first = count > 0 ? pieces[0].begin : 0;
  extent = count > 0 ? pieces[count - 1].begin - first + 1 : 0;
  if (umw_fold_gate)
    --umw_fold_gate->no_preempt;
}

/* The first piece that begins at `address` or behind. */
static unsigned place_of(uintptr_t address)
{
  unsigned low = 0, high = count;
  while (low < high) {
    const unsigned middle = (low + high) / 2;
    if (pieces[middle].begin < address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool insert(struct umw_piece piece)
{
  if (count == MOST_PIECES)
    return false;
  begin_change();
  const unsigned index = place_of(piece.begin);
  for (unsigned i = count++; i > index; --i)
    pieces[i] = pieces[i - 1];
  pieces[index] = piece;
  end_change();
  return true;
}

/* Within a change. */
static void take_out(unsigned index)
{
  --count;
  for (unsigned i = index; i < count; ++i)
    pieces[i] = pieces[i + 1];
}

static bool may_be_folded(size_t size)
{
  const struct umw_gate* gate = umw_fold_gate;
  return gate && gate->fold_least && size >= gate->fold_least && gate->running;
}

static void unfold(uintptr_t begin, bool unmapped)
{
  struct umw_args_umw_unfold arguments = {0, begin, unmapped};
  umw_fold_gate->cross(umw_fold_gate, UMW_OP_umw_unfold, &arguments);
}

void* umw_fold_allocate(size_t alignment, size_t size, const void* caller)
{
  if (!may_be_folded(size) || count == MOST_PIECES)
    return NULL;
  const int saved = errno;
  struct umw_args_umw_fold arguments = {0, size, alignment, (uintptr_t)(umw_fold_for ? umw_fold_for : caller)};
  umw_fold_gate->cross(umw_fold_gate, UMW_OP_umw_fold, &arguments);
  errno = saved;
  if (arguments.result == 0)
    return NULL;
  if (!insert((struct umw_piece){arguments.result, size, false})) {
    unfold(arguments.result, false);
    return NULL;
  }
  return (void*)arguments.result;
}

/* The size of the piece that begins there, and that the program has mapped itself or been given; 0: none. */
static size_t find(const void* begin, bool mapped, bool take)
{
  const uintptr_t address = (uintptr_t)begin;
  if (address - first >= extent)
    return 0;
  begin_change();
  const unsigned index = place_of(address);
  const bool found = index < count && pieces[index].begin == address && pieces[index].mapped == mapped;
  const size_t size = found ? pieces[index].size : 0;
  if (found && take)
    take_out(index);
  end_change();
  return size;
}

size_t umw_fold_size(const void* begin)
{
  return find(begin, false, false);
}

size_t umw_fold_mapped_size(const void* begin)
{
  return find(begin, true, false);
}

bool umw_fold_free(const void* begin)
{
  const size_t size = find(begin, false, true);
  if (size == 0)
    return false;
  const int saved = errno;
  if (umw_fold_gate)
    unfold((uintptr_t)begin, false);
  else
    munmap((void*)(uintptr_t)begin, size);
  errno = saved;
  return true;
}

void umw_fold_copy(void* to, const void* from, size_t size)
{
  if (!umw_fold_gate) {
    __builtin_memcpy(to, from, size);
    return;
  }
  struct umw_args_umw_fold_copy arguments = {0, (uintptr_t)to, (uintptr_t)from, size};
  umw_fold_gate->cross(umw_fold_gate, UMW_OP_umw_fold_copy, &arguments);
}

void umw_fold_mapped(void* begin, size_t size, const void* caller)
{
  if (!may_be_folded(size) || count == MOST_PIECES)
    return;
  struct umw_args_umw_fold_mapping arguments = {0, (uintptr_t)begin, size, (uintptr_t)caller};
  umw_fold_gate->cross(umw_fold_gate, UMW_OP_umw_fold_mapping, &arguments);
  if (arguments.result && !insert((struct umw_piece){(uintptr_t)begin, size, true}))
    unfold((uintptr_t)begin, true);
}

/* A piece that the program has mapped itself and that shares a byte with that memory; `count`: there is none. Within a
 * change. */
static unsigned mapped_around(const void* begin, size_t size)
{
  unsigned index = 0;
  while (index < count && (!pieces[index].mapped || pieces[index].begin >= (uintptr_t)begin + size ||
                           pieces[index].begin + pieces[index].size <= (uintptr_t)begin))
    ++index;
  return index;
}

bool umw_fold_touches_mapped(const void* begin, size_t size)
{
  if (extent == 0)
    return false;
  begin_change();
  const bool touches = mapped_around(begin, size) < count;
  end_change();
  return touches;
}

void umw_fold_release(const void* begin, size_t size)
{
  while (extent != 0) {
    begin_change();
    const unsigned index = mapped_around(begin, size);
    const uintptr_t piece = index < count ? pieces[index].begin : 0;
    if (piece)
      take_out(index);
    end_change();
    if (!piece)
      return;
    if (umw_fold_gate)
      unfold(piece, true);
  }
}
