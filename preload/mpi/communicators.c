/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Communicators that the rank has, with their members as ranks of MPI_COMM_WORLD; and what else has to be asked of the
 * MPI library, in Open MPI's ABI or MPICH's. */
#include "preload/mpi/calls.h"
#include "preload/next_function.h"

#include <stdio.h>
#include <string.h>

enum { NAME = 256 }; /* MPI_MAX_OBJECT_NAME: 64 of Open MPI, 128 of MPICH */

bool umw_mpi_open;

/* Values of handles and constants; those of Open MPI's handles are addresses in the library. */
static struct {
  bool is_mpich;
  uint64_t world, self, null_communicator, null_request;
  uintptr_t in_place;
  int32_t any_source;
} abi;

typedef int (*of_word)(uintptr_t, void*);

static struct {
  of_word type_size, comm_rank, comm_group, comm_remote_group, comm_test_inter, group_size;
  int (*group_translate)(uintptr_t, int, const int*, uintptr_t, int*);
  int (*group_free)(void*);
  int (*comm_name)(uintptr_t, char*, int*);
} mpi;

static struct umw_mpi_map communicators;

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

uint64_t umw_mpi_null_request(void)
{
  return abi.null_request;
}

bool umw_mpi_is_in_place(uintptr_t word)
{
  return word == abi.in_place;
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

struct umw_mpi_communicator* umw_mpi_communicator(uint64_t handle)
{
  struct umw_mpi_communicator* found = umw_mpi_entry(&communicators, sizeof *found, handle, false);
  return found && found->members ? found : NULL;
}

/* Its members, or those of the other side. */
static bool find_members(struct umw_mpi_communicator* communicator, bool inter)
{
  uintptr_t group = 0, world = 0;
  int size = 0;
  if ((inter ? mpi.comm_remote_group : mpi.comm_group)(communicator->handle, &group) != 0)
    return false;
  mpi.comm_group(abi.world, &world);
  mpi.group_size(group, &size);
  int32_t* members = umw_mpi_memory(2 * ((size_t)size + 1) * sizeof *members);
  if (members) {
    int32_t* numbers = members + size + 1;
    for (int i = 0; i < size; ++i)
      numbers[i] = i;
    mpi.group_translate(group, size, numbers, world, members);
    for (int i = 0; i < size; ++i)
      if (members[i] < 0)
        members[i] = UMW_MPI_ELSEWHERE;
  }
  mpi.group_free(&group);
  mpi.group_free(&world);
  communicator->members = members;
  communicator->size = size;
  return members != NULL;
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
  struct umw_mpi_communicator* communicator = umw_mpi_entry(&communicators, sizeof *communicator, handle, true);
  if (!communicator)
    return NULL;
  int inter = 0, rank = 0;
  communicator->turn = 0;
  mpi.comm_test_inter(handle, &inter);
  mpi.comm_rank(handle, &rank);
  communicator->rank = rank;
  if (!find_members(communicator, inter != 0))
    return NULL;
  communicator->label = label_of(communicator, from);
  return communicator;
}

void umw_mpi_forget_communicator(uint64_t handle)
{
  struct umw_mpi_communicator* communicator = umw_mpi_communicator(handle);
  if (communicator)
    communicator->members = NULL;
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
    abi.in_place = UINTPTR_MAX;
    abi.any_source = -2;
  } else {
    abi.world = (uintptr_t)world;
    abi.self = (uintptr_t)variable("ompi_mpi_comm_self", caller);
    abi.null_communicator = (uintptr_t)variable("ompi_mpi_comm_null", caller);
    abi.null_request = (uintptr_t)variable("ompi_request_null", caller);
    abi.in_place = 1;
    abi.any_source = -1;
  }
#define FIND(member, name) *(void**)&mpi.member = umw_mpi_next("PMPI_" name, caller)
  FIND(type_size, "Type_size");
  FIND(comm_rank, "Comm_rank");
  FIND(comm_group, "Comm_group");
  FIND(comm_remote_group, "Comm_remote_group");
  FIND(comm_test_inter, "Comm_test_inter");
  FIND(group_size, "Group_size");
  FIND(group_translate, "Group_translate_ranks");
  FIND(group_free, "Group_free");
  FIND(comm_name, "Comm_get_name");
#undef FIND
  umw_mpi_open = true;
  umw_mpi_note_communicator(abi.world, "MPI_Init");
  umw_mpi_note_communicator(abi.self, "MPI_Init");
}

void umw_mpi_end(void)
{
  umw_mpi_open = false;
}
