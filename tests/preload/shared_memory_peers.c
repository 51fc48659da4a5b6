/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Two ranks and named shared memory: `together` on a node they share it, with the locks and semaphores in it; `apart`
 * on two they do not. Nothing of it is in the /dev/shm of this machine. Not for native use: rank 1 trusts in simulated
 * time. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "rank %d, line %d: %s does not hold (errno %d)\n", rank, __LINE__, #condition, errno);           \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

struct common {
  pthread_mutex_t mutex;
  pthread_rwlock_t lock;
  sem_t semaphore;
  long counter;
  long written;
};

static const char memory_name[] = "/umwelt-peers";
static const char* const semaphore_names[2] = {"/umwelt-ping", "/umwelt-pong"};
static int rank;

static double milliseconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static struct common* set_up(void)
{
  const int fd = shm_open(memory_name, O_CREAT | O_EXCL | O_RDWR, 0600);
  CHECK(fd >= 0);
  CHECK(access("/dev/shm/umwelt-peers", R_OK | W_OK) == 0);
  CHECK(ftruncate(fd, sizeof(struct common)) == 0);
  struct common* common = mmap(NULL, sizeof *common, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(common != MAP_FAILED);
  pthread_mutexattr_t mutex;
  pthread_mutexattr_init(&mutex);
  pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&common->mutex, &mutex);
  pthread_rwlockattr_t lock;
  pthread_rwlockattr_init(&lock);
  pthread_rwlockattr_setpshared(&lock, PTHREAD_PROCESS_SHARED);
  pthread_rwlock_init(&common->lock, &lock);
  sem_init(&common->semaphore, 1, 0);
  for (int i = 0; i < 2; ++i)
    CHECK(sem_open(semaphore_names[i], O_CREAT | O_EXCL, 0600, 0) != SEM_FAILED);
  CHECK(access("/dev/shm/sem.umwelt-ping", F_OK) == 0);
  return common;
}

static struct common* find(void)
{
  const int fd = shm_open(memory_name, O_RDWR, 0);
  CHECK(fd >= 0);
  struct common* common = mmap(NULL, sizeof *common, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(common != MAP_FAILED);
  return common;
}

static void use(struct common* common)
{
  enum { rounds = 200 };
  sem_t* mine = sem_open(semaphore_names[rank], 0);
  sem_t* theirs = sem_open(semaphore_names[1 - rank], 0);
  CHECK(mine != SEM_FAILED && theirs != SEM_FAILED);
  for (int i = 0; i < rounds; ++i) {
    pthread_mutex_lock(&common->mutex);
    const long seen = common->counter;
    if (i % 20 == 0)
      usleep(10);
    common->counter = seen + 1;
    pthread_mutex_unlock(&common->mutex);
  }
  for (int i = 0; i < rounds; ++i) { /* in turns, rank 0 first */
    if (rank == 1)
      CHECK(sem_wait(mine) == 0);
    CHECK(common->written == 2 * i + rank);
    ++common->written;
    CHECK(sem_post(theirs) == 0);
    if (rank == 0)
      CHECK(sem_wait(mine) == 0);
  }
  CHECK(common->counter == 2 * rounds);
  CHECK(common->written == 2 * rounds);
}

int main(int argc, char** argv)
{
  rank = atoi(getenv("PMI_RANK"));
  const int together = argc > 1 && strcmp(argv[1], "together") == 0;
  struct common* common = rank == 0 ? set_up() : NULL;
  usleep(1000);
  if (!together) {
    if (rank == 1) {
      CHECK(shm_open(memory_name, O_RDWR, 0) < 0 && errno == ENOENT);
      CHECK(sem_open(semaphore_names[0], 0) == SEM_FAILED && errno == ENOENT);
      CHECK(access("/dev/shm/umwelt-peers", F_OK) != 0 && errno == ENOENT);
    }
    usleep(1000);
    return 0;
  }
  if (rank == 1)
    common = find();
  use(common);
  const double begin = milliseconds();
  if (rank == 0) { /* holds it for 5 ms, rank 1 comes 1 ms later */
    pthread_rwlock_wrlock(&common->lock);
    usleep(5000);
    pthread_rwlock_unlock(&common->lock);
    usleep(5000);
    CHECK(sem_post(&common->semaphore) == 0);
  } else {
    usleep(1000);
    CHECK(pthread_rwlock_rdlock(&common->lock) == 0);
    CHECK(milliseconds() - begin > 4.5 && milliseconds() - begin < 5.5);
    CHECK(sem_wait(&common->semaphore) == 0);
    CHECK(milliseconds() - begin > 9.5 && milliseconds() - begin < 10.5);
    struct timespec abstime;
    clock_gettime(CLOCK_REALTIME, &abstime);
    abstime.tv_sec += 3;
    CHECK(sem_timedwait(&common->semaphore, &abstime) < 0 && errno == ETIMEDOUT);
    CHECK(milliseconds() - begin > 3009.5 && milliseconds() - begin < 3010.5);
  }
  return 0;
}
