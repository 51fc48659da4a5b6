/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Limits and the file mode mask of the rank, which the ranks of a process would otherwise have in common. Of the limits
 * only that of descriptors is the rank's own; it is enforced here (descriptors.c counts), since the process's is that
 * of all its ranks together.
 */
#include "preload/shim.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/descriptors/descriptors.h"

static int set_descriptors(const struct rlimit* limit)
{
  if (limit->rlim_cur > limit->rlim_max)
    errno = EINVAL;
  else if (limit->rlim_max > umw_gate->descriptors_hard) /* not even as root: the process has no more to give */
    errno = EPERM;
  else {
    umw_gate->descriptors_soft = limit->rlim_cur;
    umw_gate->descriptors_hard = limit->rlim_max;
    return 0;
  }
  return -1;
}

UMW_PUBLIC int getrlimit(__rlimit_resource_t resource, struct rlimit* limit)
{
  if (!umw_gate || resource != RLIMIT_NOFILE)
    return UMW_REAL(getrlimit)(resource, limit);
  *limit = (struct rlimit){umw_gate->descriptors_soft, umw_gate->descriptors_hard};
  return 0;
}

UMW_PUBLIC int setrlimit(__rlimit_resource_t resource, const struct rlimit* limit)
{
  if (!umw_gate || resource != RLIMIT_NOFILE)
    return UMW_REAL(setrlimit)(resource, limit);
  return set_descriptors(limit);
}

UMW_PUBLIC int prlimit(pid_t pid, __rlimit_resource_t resource, const struct rlimit* limit, struct rlimit* old)
{
  if (!umw_gate || (pid != 0 && pid != umw_gate->pid))
    return UMW_REAL(prlimit)(pid, resource, limit, old);
  if (resource != RLIMIT_NOFILE)
    return UMW_REAL(prlimit)(0, resource, limit, old);
  const struct rlimit before = {umw_gate->descriptors_soft, umw_gate->descriptors_hard};
  if (limit && set_descriptors(limit) != 0)
    return -1;
  if (old)
    *old = before;
  return 0;
}

/* On x86-64 both structures are the same (glibc's bits/resource.h). */
_Static_assert(sizeof(struct rlimit) == sizeof(struct rlimit64), "");

UMW_PUBLIC int getrlimit64(__rlimit_resource_t resource, struct rlimit64* limit)
{
  return getrlimit(resource, (struct rlimit*)limit);
}

UMW_PUBLIC int setrlimit64(__rlimit_resource_t resource, const struct rlimit64* limit)
{
  return setrlimit(resource, (const struct rlimit*)limit);
}

UMW_PUBLIC int prlimit64(pid_t pid, __rlimit_resource_t resource, const struct rlimit64* limit, struct rlimit64* old)
{
  return prlimit(pid, resource, (const struct rlimit*)limit, (struct rlimit*)old);
}

UMW_PUBLIC int getdtablesize(void)
{
  return umw_gate ? (int)umw_gate->descriptors_soft : UMW_REAL(getdtablesize)();
}

UMW_PUBLIC mode_t umask(mode_t mask)
{
  return umw_gate ? (mode_t)umw_file_mask((int)(mask & 0777)) : UMW_REAL(umask)(mask);
}
