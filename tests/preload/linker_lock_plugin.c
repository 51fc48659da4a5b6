/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <semaphore.h>
#include <unistd.h>

extern sem_t constructor_began;
extern int constructor_ended;

__attribute__((constructor)) static void wait_inside(void)
{
  sem_post(&constructor_began);
  usleep(200000);
  __atomic_store_n(&constructor_ended, 1, __ATOMIC_RELEASE);
}
