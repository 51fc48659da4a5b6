// SPDX-License-Identifier: LGPL-2.1-or-later
// Initialisation, interfaces, maps and identifiers (Portals 4.3, 3.5, 3.6, 3.8, 3.9), bundles and handles (3.17, 3.18).
#include "runtime/portals/api/api.h"
#include "runtime/portals/fabric/fabric.h"
#include "runtime/portals/fabric/process.h"

namespace umwelt::portals::api
{

namespace
{

bool exactly_one(unsigned options, unsigned a, unsigned b)
{
  return ((options & a) != 0) != ((options & b) != 0);
}

// PTL_OK and the interface, or the code to return.
int find(Process& process, ptl_handle_ni_t handle, Ni*& ni)
{
  if (!process.initialised())
    return PTL_NO_INIT;
  ni = process.ni(handle);
  return ni ? PTL_OK : PTL_ARG_INVALID;
}

} // namespace

int PtlInit(Process& process)
{
  process.init();
  return process.initialised() ? PTL_OK : PTL_FAIL;
}

void PtlFini(Process& process)
{
  process.fini();
}

void PtlAbort(Process& process)
{
  if (!process.initialised())
    return;
  process.abort();
  process.fabric().host().changed(process);
}

int PtlNIInit(Process& process, ptl_interface_t iface, unsigned options, ptl_pid_t pid, const ptl_ni_limits_t* desired,
              ptl_ni_limits_t* actual, ptl_handle_ni_t* ni_handle)
{
  if (!process.initialised())
    return PTL_NO_INIT;
  if ((iface != 0 && iface != PTL_IFACE_DEFAULT) || !ni_handle || (options & ~PTL_NI_INIT_OPTIONS_MASK) ||
      !exactly_one(options, PTL_NI_MATCHING, PTL_NI_NO_MATCHING) ||
      !exactly_one(options, PTL_NI_LOGICAL, PTL_NI_PHYSICAL))
    return PTL_ARG_INVALID;
  const unsigned kind =
      ((options & PTL_NI_NO_MATCHING) ? Ni::non_matching : 0) | ((options & PTL_NI_PHYSICAL) ? Ni::physical : 0);
  Ni* ni = nullptr;
  if (const int result = process.open(kind, pid, desired, ni); result != PTL_OK)
    return result;
  if (actual)
    *actual = ni->limits;
  *ni_handle = ni->handle;
  return PTL_OK;
}

int PtlNIFini(Process& process, ptl_handle_ni_t ni_handle)
{
  Ni* ni = nullptr;
  if (const int result = find(process, ni_handle, ni); result != PTL_OK)
    return result;
  process.close(*ni);
  return PTL_OK;
}

int PtlNIStatus(Process& process, ptl_handle_ni_t ni_handle, ptl_sr_index_t status_register, ptl_sr_value_t* status)
{
  Ni* ni = nullptr;
  if (const int result = find(process, ni_handle, ni); result != PTL_OK)
    return result;
  const auto index = static_cast<unsigned>(status_register);
  if (!status || index >= ni->status.size())
    return PTL_ARG_INVALID;
  process.fabric().host().idle_call(process); // a loop may wait for it to change
  if (const int result = find(process, ni_handle, ni); result != PTL_OK)
    return result;
  *status = ni->status[index];
  return PTL_OK;
}

int PtlNIHandle(Process& process, ptl_handle_any_t handle, ptl_handle_ni_t* ni_handle)
{
  if (!process.initialised())
    return PTL_NO_INIT;
  const Ni* ni = process.owner(handle);
  if (!ni || !ni_handle)
    return PTL_ARG_INVALID;
  *ni_handle = ni->handle;
  return PTL_OK;
}

int PtlNIAtomicSync(Process& process, ptl_handle_ni_t ni_handle)
{
  Ni* ni = nullptr;
  const int result = find(process, ni_handle, ni);
  if (result == PTL_OK)
    process.fabric().host().idle_call(process); // as PtlAtomicSync
  return result;
}

int PtlSetMap(Process& process, ptl_handle_ni_t ni_handle, ptl_size_t map_size, const ptl_process_t* mapping)
{
  Ni* ni = nullptr;
  if (const int result = find(process, ni_handle, ni); result != PTL_OK)
    return result;
  if (!ni->is_logical() || !mapping || map_size == 0 || map_size >= PTL_RANK_ANY)
    return PTL_ARG_INVALID;
  ptl_rank_t rank = PTL_RANK_ANY;
  for (ptl_size_t i = 0; i < map_size && rank == PTL_RANK_ANY; ++i)
    if (mapping[i].phys.nid == process.nid() && mapping[i].phys.pid == process.pid())
      rank = static_cast<ptl_rank_t>(i);
  if (rank == PTL_RANK_ANY) // a process must find itself in its map
    return PTL_ARG_INVALID;
  ni->map.assign(mapping, mapping + map_size);
  ni->rank = rank;
  return PTL_OK;
}

int PtlGetMap(Process& process, ptl_handle_ni_t ni_handle, ptl_size_t map_size, ptl_process_t* mapping,
              ptl_size_t* actual_map_size)
{
  Ni* ni = nullptr;
  if (const int result = find(process, ni_handle, ni); result != PTL_OK)
    return result;
  if (!ni->is_logical() || (map_size > 0 && !mapping))
    return PTL_ARG_INVALID;
  if (ni->map.empty())
    return PTL_NO_SPACE;
  for (ptl_size_t i = 0; i < map_size && i < ni->map.size(); ++i)
    mapping[i] = ni->map[i];
  if (actual_map_size)
    *actual_map_size = ni->map.size();
  return PTL_OK;
}

int PtlGetUid(Process& process, ptl_handle_ni_t ni_handle, ptl_uid_t* uid)
{
  Ni* ni = nullptr;
  if (const int result = find(process, ni_handle, ni); result != PTL_OK)
    return result;
  if (!uid)
    return PTL_ARG_INVALID;
  *uid = process.uid();
  return PTL_OK;
}

int PtlGetId(Process& process, ptl_handle_ni_t ni_handle, ptl_process_t* id)
{
  Ni* ni = nullptr;
  if (const int result = find(process, ni_handle, ni); result != PTL_OK)
    return result;
  if (!id)
    return PTL_ARG_INVALID;
  *id = ni->id();
  return PTL_OK;
}

int PtlGetPhysId(Process& process, ptl_handle_ni_t ni_handle, ptl_process_t* id)
{
  Ni* ni = nullptr;
  if (const int result = find(process, ni_handle, ni); result != PTL_OK)
    return result;
  if (!id)
    return PTL_ARG_INVALID;
  id->phys = {process.nid(), process.pid()};
  return PTL_OK;
}

int PtlStartBundle(Process& process, ptl_handle_ni_t ni_handle)
{
  Ni* ni = nullptr;
  return find(process, ni_handle, ni);
}

int PtlEndBundle(Process& process, ptl_handle_ni_t ni_handle)
{
  Ni* ni = nullptr;
  return find(process, ni_handle, ni);
}

int PtlHandleIsEqual(Process&, ptl_handle_any_t handle1, ptl_handle_any_t handle2)
{
  return handle1 == handle2;
}

} // namespace umwelt::portals::api
