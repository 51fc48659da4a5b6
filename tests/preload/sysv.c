/* SPDX-License-Identifier: LGPL-2.1-or-later
 * System V IPC among processes of a node: segments, semaphores, queues, and what each says to bad input. */
#include "node_peers.h"

#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

enum { peers = 3, rounds = 20 };

#define FAILS(call, error) CHECK((long)(call) == -1 && errno == (error))

static struct common {
  volatile int word;
  int segment, set, queue;
  long sum;
  volatile int left, dead;
} * common;

static key_t key_of(int what)
{
  const char* run = getenv("NODE_PEERS_RUN");
  return (key_t)(0x554d0000 + what * 0x1000000 + (run ? atoi(run) % 65536 : 1));
}

static void operate(int number, int change, int flags)
{
  struct sembuf operation = {(unsigned short)number, (short)change, (short)flags};
  CHECK(semop(common->set, &operation, 1) == 0);
}

static void segments(void)
{
  if (peer == 0) {
    const int id = shmget(key_of(1), 10000, IPC_CREAT | IPC_EXCL | 0640);
    CHECK(id >= 0);
    FAILS(shmget(key_of(1), 10000, IPC_CREAT | IPC_EXCL | 0640), EEXIST);
    FAILS(shmget(key_of(1), 20000, 0), EINVAL);
    FAILS(shmget(key_of(2), 10000, 0), ENOENT);
    FAILS(shmget(IPC_PRIVATE, 0, 0600), EINVAL);
    common->segment = id;
  }
  meet(&common->word, peers);
  CHECK(shmget(key_of(1), 1, 0) == common->segment);
  int* own = shmat(common->segment, NULL, 0);
  CHECK(own != (void*)-1);
  own[100 + peer] = 1000 + peer;
  meet(&common->word, peers);
  const int* look = shmat(common->segment, NULL, SHM_RDONLY);
  CHECK(look != (void*)-1 && look != own);
  for (int i = 0; i < peers; ++i)
    CHECK(look[100 + i] == 1000 + i);
  meet(&common->word, peers);
  struct shmid_ds status;
  CHECK(shmctl(common->segment, IPC_STAT, &status) == 0);
  CHECK(status.shm_nattch == 2 * peers && status.shm_segsz == 10000 && (status.shm_perm.mode & 0777) == 0640);
  CHECK(status.shm_perm.__key == key_of(1) && status.shm_atime > 0 && status.shm_ctime > 0 && status.shm_dtime == 0);
  CHECK(peer != 0 || status.shm_cpid == getpid());
  meet(&common->word, peers);
  CHECK(shmdt(look) == 0);
  FAILS(shmdt(look), EINVAL);
  FAILS(shmat(common->segment, own + 1, 0), EINVAL);
  FAILS(shmat(-1, NULL, 0), EINVAL);
  FAILS(shmctl(common->segment, 12345, &status), EINVAL);
  meet(&common->word, peers);
  if (peer == 0) {
    CHECK(shmctl(common->segment, IPC_RMID, NULL) == 0);
    FAILS(shmget(key_of(1), 1, 0), ENOENT);
    CHECK(shmctl(common->segment, IPC_STAT, &status) == 0);
    CHECK(status.shm_perm.mode & SHM_DEST && status.shm_nattch == peers && status.shm_dtime > 0);
  }
  meet(&common->word, peers);
  CHECK(own[100] == 1000); /* it lives as long as somebody has it */
  CHECK(shmdt(own) == 0);
  meet(&common->word, peers);
  FAILS(shmctl(common->segment, IPC_STAT, &status), EINVAL);
  say("segments");
}

static void semaphores(void)
{
  union {
    int value;
    struct semid_ds* status;
    unsigned short* values;
  } argument;
  struct semid_ds status;
  unsigned short values[3] = {1, 0, 5};
  if (peer == 0) {
    const int id = semget(key_of(3), 3, IPC_CREAT | 0600);
    CHECK(id >= 0);
    FAILS(semget(key_of(3), 4, 0), EINVAL);
    FAILS(semget(key_of(3), 3, IPC_CREAT | IPC_EXCL), EEXIST);
    FAILS(semget(key_of(4), 3, 0), ENOENT);
    FAILS(semget(IPC_PRIVATE, 0, 0600), EINVAL);
    FAILS(semget(IPC_PRIVATE, 100000, 0600), EINVAL);
    argument.status = &status;
    CHECK(semctl(id, 0, IPC_STAT, argument) == 0 && status.sem_nsems == 3 && status.sem_otime == 0);
    argument.values = values;
    CHECK(semctl(id, 0, SETALL, argument) == 0);
    values[0] = values[2] = 9;
    CHECK(semctl(id, 0, GETALL, argument) == 0 && values[0] == 1 && values[1] == 0 && values[2] == 5);
    argument.value = 40000;
    FAILS(semctl(id, 0, SETVAL, argument), ERANGE);
    FAILS(semctl(id, 3, GETVAL), EINVAL);
    common->set = id;
  }
  meet(&common->word, peers);
  for (int i = 0; i < rounds; ++i) { /* a lock */
    operate(0, -1, SEM_UNDO);
    const long seen = common->sum;
    if (i % 5 == 0)
      usleep(20);
    common->sum = seen + 1;
    operate(0, 1, SEM_UNDO);
  }
  meet(&common->word, peers);
  CHECK(common->sum == peers * rounds);
  struct sembuf two[2] = {{2, -5, 0}, {1, -1, IPC_NOWAIT}}; /* both or none */
  FAILS(semop(common->set, two, 2), EAGAIN);
  CHECK(semctl(common->set, 2, GETVAL) == 5);
  two[0].sem_num = 7;
  FAILS(semop(common->set, two, 2), EFBIG);
  FAILS(semop(common->set, two, 0), EINVAL);
  FAILS(semop(-1, two, 1), EINVAL);
  const double begin = seconds();
  struct timespec limit = {0, 20000000};
  struct sembuf down = {1, -1, 0};
  FAILS(semtimedop(common->set, &down, 1, &limit), EAGAIN);
  CHECK(seconds() - begin >= 0.0199);
  meet(&common->word, peers);
  if (peer == 0) { /* the others wait: one for more, one for zero */
    while (semctl(common->set, 1, GETNCNT) != 1 || semctl(common->set, 2, GETZCNT) != 1)
      usleep(100);
    operate(1, 1, 0);
    argument.value = 0;
    CHECK(semctl(common->set, 2, SETVAL, argument) == 0);
  } else {
    operate(peer == 1 ? 1 : 2, peer == 1 ? -1 : 0, 0);
  }
  meet(&common->word, peers);
  if (peer == 0) { /* those who wait hear that it is gone */
    while (semctl(common->set, 1, GETNCNT) != peers - 1)
      usleep(100);
    CHECK(semctl(common->set, 0, IPC_RMID) == 0);
  } else {
    FAILS(semop(common->set, &down, 1), EIDRM);
  }
  meet(&common->word, peers);
  FAILS(semop(common->set, &down, 1), EINVAL);
  say("semaphores");
}

static void queues(void)
{
  struct {
    long type;
    char text[100];
  } message;
  if (peer == 0) {
    common->queue = msgget(key_of(5), IPC_CREAT | IPC_EXCL | 0600);
    CHECK(common->queue >= 0);
    FAILS(msgget(key_of(5), IPC_CREAT | IPC_EXCL | 0600), EEXIST);
    FAILS(msgget(key_of(6), 0), ENOENT);
    FAILS(msgrcv(common->queue, &message, sizeof message.text, 0, IPC_NOWAIT), ENOMSG);
    message.type = 0;
    FAILS(msgsnd(common->queue, &message, 1, 0), EINVAL);
  }
  meet(&common->word, peers);
  if (peer == 0)
    for (int i = 0; i < rounds; ++i)
      for (int to = 1; to < peers; ++to) {
        message.type = to;
        const int length = snprintf(message.text, sizeof message.text, "message %d for %d", i, to);
        CHECK(msgsnd(common->queue, &message, (size_t)length + 1, 0) == 0);
      }
  for (int i = 0; peer != 0 && i < rounds; ++i) {
    char expected[100];
    const int length = snprintf(expected, sizeof expected, "message %d for %d", i, peer);
    CHECK(msgrcv(common->queue, &message, sizeof message.text, peer, 0) == length + 1);
    CHECK(message.type == peer && strcmp(message.text, expected) == 0);
  }
  meet(&common->word, peers);
  if (peer == 0) {
    struct msqid_ds status;
    message.type = 3;
    strcpy(message.text, "abcdef");
    CHECK(msgsnd(common->queue, &message, 6, 0) == 0);
    message.type = 2;
    CHECK(msgsnd(common->queue, &message, 4, 0) == 0);
    CHECK(msgctl(common->queue, IPC_STAT, &status) == 0 && status.msg_qnum == 2 && status.msg_lspid == getpid());
    FAILS(msgrcv(common->queue, &message, 2, 3, 0), E2BIG);
    CHECK(msgrcv(common->queue, &message, 2, 3, MSG_NOERROR) == 2);
    CHECK(msgrcv(common->queue, &message, 100, -5, 0) == 4 && message.type == 2);
    int sent = 0;
    message.type = 1;
    while (msgsnd(common->queue, &message, 100, IPC_NOWAIT) == 0)
      ++sent;
    CHECK(errno == EAGAIN);
    CHECK(msgctl(common->queue, IPC_STAT, &status) == 0 && status.msg_qnum == (msgqnum_t)sent);
    CHECK(msgctl(common->queue, IPC_RMID, NULL) == 0);
    FAILS(msgctl(common->queue, IPC_STAT, &status), EINVAL);
  }
  meet(&common->word, peers);
  say("queues");
}

/* Peer 1 ends and leaves what it has taken: it is given back. */
static void end_in_the_middle(void)
{
  if (peer == 0) {
    common->set = semget(IPC_PRIVATE, 1, 0600);
    common->segment = shmget(IPC_PRIVATE, 4096, 0600);
    CHECK(common->set >= 0 && common->segment >= 0);
    operate(0, 1, 0);
  }
  meet(&common->word, peers);
  int* memory = shmat(common->segment, NULL, 0);
  CHECK(memory != (void*)-1);
  memory[peer] = peer;
  if (peer == 1)
    operate(0, -1, SEM_UNDO);
  meet(&common->word, peers);
  if (peer == 1) {
    say("ends");
    exit(0);
  }
  if (peer == 2)
    operate(0, -1, 0);
  struct shmid_ds status;
  do {
    usleep(100);
    CHECK(shmctl(common->segment, IPC_STAT, &status) == 0);
  } while (peer == 0 && status.shm_nattch > 2);
  CHECK(memory[1] == 1);
  meet(&common->left, 2);
  if (peer == 0) {
    CHECK(semctl(common->set, 0, GETVAL) == 0);
    CHECK(semctl(common->set, 0, IPC_RMID) == 0 && shmctl(common->segment, IPC_RMID, NULL) == 0);
  }
  say("what it had is given back");
}

int main(void)
{
  become_peers(peers);
  common = common_memory("sysv", sizeof *common);
  segments();
  semaphores();
  queues();
  end_in_the_middle();
  if (peer == 0)
    shm_unlink(name_of("sysv"));
  return 0;
}
