/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Communicators that the rank has, with their members as ranks of MPI_COMM_WORLD; and what else has to be asked of the
 * MPI library, in Open MPI's ABI or MPICH's. */
#include "preload/mpi/collectives.h"
#include "preload/mpi/events.h"
#include "preload/next_function.h"

#include <stdio.h>
#include <string.h>

enum { NAME = 256 }; /* MPI_MAX_OBJECT_NAME: 64 of Open MPI, 128 of MPICH */

bool umw_mpi_open;

/* Values of handles and constants; those of Open MPI's handles are addresses in the library. */
static struct {
  bool is_mpich;
  uint64_t world, self, null_communicator, null_request, null_type, null_operation;
  uintptr_t byte;
  uintptr_t in_place;
  int32_t any_source;
} abi;

typedef int (*of_word)(uintptr_t, void*);

static struct {
  of_word type_size, comm_rank, comm_size, comm_group, comm_remote_group, comm_test_inter, group_size;
  int (*group_translate)(uintptr_t, int, const int*, uintptr_t, int*);
  int (*group_free)(void*);
  int (*comm_name)(uintptr_t, char*, int*);
} mpi;

/* By handle. One that has been freed stays, for who began something with it, and for the next one of that handle. */
struct known {
  uint64_t handle;
  struct umw_mpi_communicator* communicator;
};
static struct umw_mpi_map known;

/* How many communicators with these members there have been; all of them know them by one list. */
struct same_members {
  uint64_t hash;
  const int32_t* members;
  int32_t size;
  uint32_t count;
};
static struct umw_mpi_map same_members;

/* The first so many ranks of MPI_COMM_WORLD, most often all: not in the memory of each of them. */
#define NEXT_4(n) (n), (n) + 1, (n) + 2, (n) + 3
#define NEXT_16(n) NEXT_4(n), NEXT_4((n) + 4), NEXT_4((n) + 8), NEXT_4((n) + 12)
#define NEXT_64(n) NEXT_16(n), NEXT_16((n) + 16), NEXT_16((n) + 32), NEXT_16((n) + 48)
#define NEXT_256(n) NEXT_64(n), NEXT_64((n) + 64), NEXT_64((n) + 128), NEXT_64((n) + 192)
#define NEXT_1024(n) NEXT_256(n), NEXT_256((n) + 256), NEXT_256((n) + 512), NEXT_256((n) + 768)
static const int32_t first_ranks[] = {NEXT_1024(0), NEXT_1024(1024), NEXT_1024(2048), NEXT_1024(3072)};
enum { FIRST_RANKS = sizeof first_ranks / sizeof first_ranks[0] };

bool umw_mpi_is_mpich(void)
{
  return abi.is_mpich;
}

uint64_t umw_mpi_handle(uintptr_t word)
{
  return abi.is_mpich ? (uint32_t)word : word;
}

uint64_t umw_mpi_handle_at(uintptr_t place)
{
  return abi.is_mpich ? *(const uint32_t*)place : *(const uint64_t*)place;
}

size_t umw_mpi_handle_size(void)
{
  return abi.is_mpich ? sizeof(uint32_t) : sizeof(uint64_t);
}

uint64_t umw_mpi_null_request(void)
{
  return abi.null_request;
}

bool umw_mpi_is_in_place(uintptr_t word)
{
  return word == abi.in_place;
}

bool umw_mpi_is_null_type(uintptr_t word)
{
  return umw_mpi_handle(word) == abi.null_type;
}

bool umw_mpi_is_null_operation(uintptr_t word)
{
  return umw_mpi_handle(word) == abi.null_operation;
}

uintptr_t umw_mpi_byte_type(void)
{
  return abi.byte;
}

int32_t umw_mpi_any_source(void)
{
  return abi.any_source;
}

uint64_t umw_mpi_type_size(uint64_t type)
{
  int size = 0;
  return mpi.type_size(type, &size) == 0 && size > 0 ? (uint64_t)size : 0;
}

static struct umw_mpi_communicator* known_as(uint64_t handle)
{
  static struct umw_mpi_communicator* last; /* programs use one for many calls */
  if (!last || last->handle != handle) {
    const struct known* entry = umw_mpi_entry(&known, sizeof *entry, handle, false);
    last = entry ? entry->communicator : NULL;
  }
  return last;
}

/* The same, or a new one. */
static struct umw_mpi_communicator* to_be_known_as(uint64_t handle)
{
  struct umw_mpi_communicator* communicator = known_as(handle);
  if (communicator)
    return communicator;
  communicator = umw_mpi_memory(sizeof *communicator);
  struct known* entry = communicator ? umw_mpi_entry(&known, sizeof *entry, handle, true) : NULL;
  if (!entry)
    return NULL;
  communicator->handle = handle;
  return entry->communicator = communicator;
}

struct umw_mpi_communicator* umw_mpi_communicator(uint64_t handle)
{
  struct umw_mpi_communicator* communicator = known_as(handle);
  return communicator && communicator->there ? communicator : NULL;
}

/* --- members --- */

static size_t bytes_of(int32_t size)
{
  return ((size_t)size + 1) * sizeof(int32_t); /* an empty list, too */
}

/* 0, 1, ...: those of the group that are asked about. Given back by end_numbers(). */
static const int32_t* begin_numbers(int32_t size)
{
  if (size <= FIRST_RANKS)
    return first_ranks;
  int32_t* numbers = umw_mpi_memory(bytes_of(size));
  for (int32_t i = 0; numbers && i < size; ++i)
    numbers[i] = i;
  return numbers;
}

static void end_numbers(const int32_t* numbers, int32_t size)
{
  if (numbers != first_ranks)
    umw_mpi_unuse((void*)numbers, bytes_of(size));
}

static uint64_t hash_of(const int32_t* members, int32_t size)
{
  uint64_t hash = 1469598103934665603; /* FNV-1a, by members */
  for (int32_t i = 0; i < size; ++i)
    hash = (hash ^ (uint32_t)members[i]) * 1099511628211;
  return hash ? hash : 1;
}

/* The list that others know the same members by; then this one is not used any more. */
static const int32_t* as_known(int32_t* members, int32_t size)
{
  const size_t bytes = (size_t)size * sizeof *members;
  const int32_t* list = members;
  if (size <= FIRST_RANKS && memcmp(members, first_ranks, bytes) == 0)
    list = first_ranks;
  else {
    const struct same_members* same = umw_mpi_entry(&same_members, sizeof *same, hash_of(members, size), false);
    if (same && same->size == size && memcmp(members, same->members, bytes) == 0)
      list = same->members;
  }
  if (list != members)
    umw_mpi_unuse(members, bytes_of(size));
  return list;
}

/* Of MPI_COMM_WORLD: to ask for its group would take the library n steps in each of n ranks. */
static const int32_t* all_members(int32_t* count)
{
  int size = 0;
  mpi.comm_size(abi.world, &size);
  *count = size;
  return begin_numbers(size);
}

/* Of a group that is taken from the communicator; null: there is none. */
static const int32_t* members_of(of_word take_group, uint64_t handle, int32_t* count)
{
  uintptr_t group = 0, world = 0;
  int size = 0;
  if (take_group(handle, &group) != 0)
    return NULL;
  mpi.comm_group(abi.world, &world);
  mpi.group_size(group, &size);
  int32_t* members = umw_mpi_memory(bytes_of(size));
  const int32_t* numbers = members ? begin_numbers(size) : NULL;
  if (numbers) {
    mpi.group_translate(group, size, numbers, world, members);
    for (int i = 0; i < size; ++i)
      if (members[i] < 0)
        members[i] = UMW_MPI_ELSEWHERE;
    end_numbers(numbers, size);
  }
  mpi.group_free(&group);
  mpi.group_free(&world);
  *count = size;
  return numbers ? as_known(members, size) : NULL;
}

/* Its members, or those of the other side. */
static bool find_members(struct umw_mpi_communicator* communicator, bool inter)
{
  communicator->members = communicator->handle == abi.world ? all_members(&communicator->size)
                                                            : members_of(inter ? mpi.comm_remote_group : mpi.comm_group,
                                                                         communicator->handle, &communicator->size);
  return communicator->members != NULL;
}

static void trace(struct umw_mpi_communicator* communicator, bool inter)
{
  int32_t size = 0;
  const int32_t* own = inter ? members_of(mpi.comm_group, communicator->handle, &size) : NULL;
  umw_mpi_trace_communicator(communicator, own, size);
}

/* Its number among those with the same members, from 0. All members see it, as they make their communicators in the
 * same order. */
static uint32_t next_ordinal(const int32_t* members, int32_t size)
{
  struct same_members* same = umw_mpi_entry(&same_members, sizeof *same, hash_of(members, size), true);
  if (!same)
    return 0;
  if (!same->members) {
    same->members = members;
    same->size = size;
  }
  return same->count++;
}

void umw_mpi_announce_communicator(uint64_t handle, uint64_t like)
{
  const struct umw_mpi_communicator* model = umw_mpi_communicator(like);
  struct umw_mpi_communicator* made =
      handle == 0 || handle == abi.null_communicator || !model ? NULL : to_be_known_as(handle);
  if (!made)
    return;
  made->there = false;
  made->ordinal = next_ordinal(model->members, model->size) + 1;
}

static uint32_t label_of(const struct umw_mpi_communicator* communicator, const char* from)
{
  char name[NAME] = "";
  int length = 0;
  if (mpi.comm_name(communicator->handle, name, &length) == 0 && *name)
    name[UMW_MPI_LABEL - 1] = '\0';
  else
    snprintf(name, UMW_MPI_LABEL, from ? "%d ranks (%s)" : "%d ranks", communicator->size, from);
  for (char* c = name; *c; ++c) /* the runtime is told in lines */
    if (*c == '\n')
      *c = ' ';
  return umw_mpi_label(name);
}

struct umw_mpi_communicator* umw_mpi_note_communicator(uint64_t handle, const char* from)
{
  if (handle == 0 || handle == abi.null_communicator)
    return NULL;
  struct umw_mpi_communicator* communicator = to_be_known_as(handle);
  if (!communicator)
    return NULL;
  int inter = 0, rank = 0;
  const bool announced = !communicator->there && communicator->ordinal > 0;
  communicator->turn = 0;
  mpi.comm_test_inter(handle, &inter);
  mpi.comm_rank(handle, &rank);
  communicator->rank = rank;
  communicator->number = 0;
  communicator->there = find_members(communicator, inter != 0);
  if (!communicator->there)
    return NULL;
  communicator->one_group = inter == 0;
  for (int32_t i = 0; i < communicator->size; ++i)
    if (communicator->members[i] == UMW_MPI_ELSEWHERE)
      communicator->one_group = false;
  communicator->ordinal =
      announced ? communicator->ordinal - 1 : next_ordinal(communicator->members, communicator->size);
  communicator->label = label_of(communicator, from);
  if (umw_mpi_events)
    trace(communicator, inter != 0);
  return communicator;
}

struct umw_mpi_communicator* umw_mpi_communicator_in_use(uint64_t handle)
{
  struct umw_mpi_communicator* found = known_as(handle);
  if (!found || found->there)
    return found;
  return found->ordinal > 0 ? umw_mpi_note_communicator(handle, NULL) : NULL;
}

void umw_mpi_forget_communicator(uint64_t handle)
{
  struct umw_mpi_communicator* communicator = umw_mpi_communicator(handle);
  if (!communicator)
    return;
  umw_mpi_leave_communicator(communicator);
  communicator->there = false;
  communicator->ordinal = 0;
}

void umw_mpi_name_communicator(uint64_t handle)
{
  struct umw_mpi_communicator* communicator = umw_mpi_communicator(handle);
  if (communicator)
    communicator->label = label_of(communicator, NULL);
}

/* A variable of Open MPI, of which a program that is linked with it may have its own copy. */
static void* variable(const char* name, const void* caller)
{
  void* place = dlsym(RTLD_DEFAULT, name);
  return place ? place : umw_next_function(name, caller);
}

void umw_mpi_begin(const void* caller)
{
  void* world = variable("ompi_mpi_comm_world", caller);
  abi.is_mpich = world == NULL;
  if (abi.is_mpich) {
    abi.world = 0x44000000;
    abi.self = 0x44000001;
    abi.null_communicator = 0x04000000;
    abi.null_request = 0x2c000000;
    abi.null_type = 0x0c000000;
    abi.null_operation = 0x18000000;
    abi.byte = 0x4c00010d;
    abi.in_place = UINTPTR_MAX;
    abi.any_source = -2;
  } else {
    abi.world = (uintptr_t)world;
    abi.self = (uintptr_t)variable("ompi_mpi_comm_self", caller);
    abi.null_communicator = (uintptr_t)variable("ompi_mpi_comm_null", caller);
    abi.null_request = (uintptr_t)variable("ompi_request_null", caller);
    abi.null_type = (uintptr_t)variable("ompi_mpi_datatype_null", caller);
    abi.null_operation = (uintptr_t)variable("ompi_mpi_op_null", caller);
    abi.byte = (uintptr_t)variable("ompi_mpi_byte", caller);
    abi.in_place = 1;
    abi.any_source = -1;
  }
#define FIND(member, name) *(void**)&mpi.member = umw_mpi_next("PMPI_" name, caller)
  FIND(type_size, "Type_size");
  FIND(comm_rank, "Comm_rank");
  FIND(comm_size, "Comm_size");
  FIND(comm_group, "Comm_group");
  FIND(comm_remote_group, "Comm_remote_group");
  FIND(comm_test_inter, "Comm_test_inter");
  FIND(group_size, "Group_size");
  FIND(group_translate, "Group_translate_ranks");
  FIND(group_free, "Group_free");
  FIND(comm_name, "Comm_get_name");
#undef FIND
  umw_mpi_open = true;
  if (umw_mpi_gate->collectives)
    umw_mpi_begin_collectives(caller);
  umw_mpi_note_communicator(abi.world, "MPI_Init");
  umw_mpi_note_communicator(abi.self, "MPI_Init");
}

void umw_mpi_end(void)
{
  if (umw_mpi_gate->collectives)
    umw_mpi_end_collectives();
  umw_mpi_open = false;
}
