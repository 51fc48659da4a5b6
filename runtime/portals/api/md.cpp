// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory descriptors (Portals 4.3, 3.10).
#include "runtime/portals/api/api.h"
#include "runtime/portals/api/waiting.h"

namespace umwelt::portals::api
{

int PtlMDBind(Process& process, ptl_handle_ni_t ni_handle, const ptl_md_t* md, ptl_handle_md_t* md_handle)
{
  if (!process.initialised())
    return PTL_NO_INIT;
  Ni* ni = process.ni(ni_handle);
  if (!ni || !md || !md_handle || (md->options & ~static_cast<unsigned>(PTL_MD_OPTIONS_MASK)))
    return PTL_ARG_INVALID;
  if ((md->options & PTL_IOVEC) && md->length > static_cast<ptl_size_t>(ni->limits.max_iovecs))
    return PTL_ARG_INVALID;
  if ((md->eq_handle != PTL_EQ_NONE && !ni->queues.find(md->eq_handle)) ||
      (md->ct_handle != PTL_CT_NONE && !ni->counters.find(md->ct_handle)))
    return PTL_ARG_INVALID;
  if (ni->descriptors.live() >= static_cast<std::size_t>(ni->limits.max_mds))
    return PTL_NO_SPACE;
  MemoryDescriptor* descriptor = ni->descriptors.create();
  if (!descriptor)
    return PTL_NO_SPACE;
  if (!descriptor->region.bind(process.memory(), md->start, md->length, md->options)) {
    ni->descriptors.destroy(*descriptor);
    return PTL_ARG_INVALID;
  }
  descriptor->options = md->options;
  descriptor->eq = md->eq_handle;
  descriptor->ct = md->ct_handle;
  *md_handle = descriptor->handle;
  return PTL_OK;
}

int PtlMDRelease(Process& process, ptl_handle_md_t md_handle)
{
  if (!process.initialised())
    return PTL_NO_INIT;
  if (!process.descriptor(md_handle))
    return PTL_ARG_INVALID;
  // Only descriptors without pending operations may be released; the specification leaves open what else happens. A
  // pending operation ends in any case, so this waits: the program may reuse its memory afterwards.
  wait_while(process, [&] {
    const MemoryDescriptor* descriptor = process.descriptor(md_handle);
    return descriptor && descriptor->in_use > 0;
  });
  MemoryDescriptor* descriptor = process.descriptor(md_handle);
  if (!descriptor)
    return PTL_ARG_INVALID;
  process.owner(md_handle)->descriptors.destroy(*descriptor);
  return PTL_OK;
}

} // namespace umwelt::portals::api
