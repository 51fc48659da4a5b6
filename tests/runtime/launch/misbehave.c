/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Programs that go wrong in one way each: misbehave HOW [RANK]. The rank that misbehaves is 1 unless given. */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is(const char* how, const char* name)
{
  return strcmp(how, name) == 0;
}

static int* volatile nowhere; /* null; volatile: the compiler must not know */

__attribute__((noinline)) static void crash(void)
{
  *nowhere = 1;
}

__attribute__((noinline)) static int overflow(int depth)
{
  volatile char frame[4096];
  frame[0] = (char)depth;
  return overflow(depth + 1) + frame[0];
}

__attribute__((constructor)) static void early(void)
{
  if (getenv("CRASH_IN_CONSTRUCTOR"))
    crash();
}

static void spin(int number)
{
  for (volatile int rounds = number;;)
    ++rounds;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;

static void* receive(void* argument)
{
  int buffer;
  MPI_Recv(&buffer, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return argument;
}

/* One thread waits for a message that never comes, main for the thread; the MPI library has helper threads of its own.
 */
static void hang(const char* how)
{
  pthread_t thread;
  int provided;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
  sem_init(&semaphore, 0, 0);
  pthread_create(&thread, NULL, receive, NULL);
  pthread_mutex_lock(&mutex);
  if (is(how, "deadlock-condition"))
    pthread_cond_wait(&condition, &mutex);
  if (is(how, "deadlock-semaphore"))
    sem_wait(&semaphore);
  pthread_join(thread, NULL);
}

int main(int argc, char** argv)
{
  const char* how = argc > 1 ? argv[1] : "";
  int rank = 0, buffer = 0;
  if (is(how, "crash-before-init"))
    crash();
  if (is(how, "exit-before-init"))
    return 4;
  if (strncmp(how, "deadlock-", 9) == 0)
    hang(how);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int who = argc > 2 ? atoi(argv[2]) : 1;
  if (is(how, "deadlock"))
    MPI_Recv(&buffer, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (strncmp(how, "endless", 7) == 0 && rank == 0 &&
      getenv("MISBEHAVE_STARTED")) /* a file that signal_once_started.sh waits for, and removes */
    close(creat(getenv("MISBEHAVE_STARTED"), 0600));
  if (is(how, "endless-blocked")) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
  }
  if (is(how, "endless-handler")) {
    signal(SIGUSR1, spin);
    raise(SIGUSR1);
  }
  if (is(how, "endless") || is(how, "endless-blocked"))
    spin(0);
  if (is(how, "endless-polling"))
    for (int flag = 0; !flag;)
      MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE), MPI_Wtime();
  if (rank == who) {
    if (is(how, "crash"))
      crash();
    if (is(how, "overflow"))
      return overflow(0);
    if (is(how, "exit"))
      exit(3);
    if (is(how, "_exit"))
      _exit(5);
    if (is(how, "abort"))
      abort();
    if (is(how, "mpi-abort"))
      MPI_Abort(MPI_COMM_WORLD, 7);
    if (is(how, "no-finalize"))
      return 0;
    if (is(how, "raise"))
      raise(SIGTERM);
    if (is(how, "chatter"))
      for (int i = 0; i < 1000000; ++i)
        printf("line %d\n", i);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
