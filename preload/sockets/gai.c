/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Names looked up asynchronously. The C library does it in threads of its own; here each is looked up at once. So none
 * is ever in progress, and what else there is (gai_error, gai_suspend, gai_cancel) is right as it stands in the C
 * library. */
#include "preload/threads/notify.h"

#include <netdb.h>

UMW_PUBLIC int getaddrinfo_a(int mode, struct gaicb* list[restrict], int count, struct sigevent* restrict event)
{
  if (!umw_gate)
    return UMW_REAL(getaddrinfo_a)(mode, list, count, event);
  if (mode != GAI_WAIT && mode != GAI_NOWAIT) {
    errno = EINVAL;
    return EAI_SYSTEM;
  }
  for (int i = 0; i < count; ++i)
    if (list[i])
      list[i]->__return = getaddrinfo(list[i]->ar_name, list[i]->ar_service, list[i]->ar_request, &list[i]->ar_result);
  if (mode == GAI_NOWAIT && event)
    umw_notify(event, SI_ASYNCNL);
  return 0;
}
