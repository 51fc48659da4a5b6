/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Asynchronous I/O on files, pipes and sockets, with all notifications; names looked up asynchronously; timers that
 * start threads. Same output natively and simulated. */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { n = 200000 };
static char out[n], in[n];

static const char* name_of(int error)
{
  return error == 0 ? "0" : strerrorname_np(error);
}

static int wait_for(struct aiocb* block)
{
  const struct aiocb* const blocks[] = {block};
  while (aio_error(block) == EINPROGRESS)
    aio_suspend(blocks, 1, NULL);
  return aio_error(block);
}

static struct aiocb request(int fd, void* buffer, size_t bytes, off_t offset)
{
  struct aiocb block;
  memset(&block, 0, sizeof block);
  block.aio_fildes = fd;
  block.aio_buf = buffer;
  block.aio_nbytes = bytes;
  block.aio_offset = offset;
  block.aio_sigevent.sigev_notify = SIGEV_NONE;
  return block;
}

static int temporary_file(void)
{
  char path[] = "/tmp/umwelt-aio-XXXXXX";
  const int fd = mkstemp(path);
  unlink(path);
  return fd;
}

static void files(void)
{
  const int fd = temporary_file();
  struct aiocb blocks[4];
  for (int i = 0; i < n; ++i)
    out[i] = (char)(i * 7);
  for (int i = 3; i >= 0; --i) { /* the last part first */
    blocks[i] = request(fd, out + i * (n / 4), n / 4, i * (n / 4));
    printf("write: %d\n", aio_write(&blocks[i]));
  }
  for (int i = 0; i < 4; ++i) {
    printf("written: %s", name_of(wait_for(&blocks[i])));
    printf(", %zd\n", aio_return(&blocks[i]));
  }
  struct aiocb sync = request(fd, NULL, 0, 0);
  printf("sync: %d", aio_fsync(O_SYNC, &sync));
  printf(" %s", name_of(wait_for(&sync)));
  printf(" %zd, %d", aio_return(&sync), aio_fsync(O_DSYNC, &sync));
  printf(" %s", name_of(wait_for(&sync)));
  const int status = aio_fsync(12345, &sync);
  printf(", %d %s\n", status, name_of(errno));
  struct aiocb read_all = request(fd, in, n, 0);
  aio_read(&read_all);
  printf("read: %s", name_of(wait_for(&read_all)));
  printf(", %zd, equal: %d\n", aio_return(&read_all), memcmp(in, out, n) == 0);
  struct aiocb beyond = request(fd, in, 100, n - 10);
  aio_read(&beyond);
  printf("at the end: %s", name_of(wait_for(&beyond)));
  printf(", %zd\n", aio_return(&beyond));
  printf("cancel what is over: %d\n", aio_cancel(fd, &beyond) == AIO_ALLDONE && aio_cancel(fd, NULL) == AIO_ALLDONE);
  close(fd);
}

static void errors(void)
{
  struct aiocb block = request(-1, in, 10, 0);
  const int status = aio_read(&block);
  printf("bad descriptor: %d %s", status, name_of(wait_for(&block)));
  printf(" %zd\n", aio_return(&block));
  const int fd = temporary_file();
  block = request(fd, in, 10, 0);
  block.aio_reqprio = -1;
  const int refused = aio_write(&block);
  printf("priority: %d %s", refused, name_of(errno));
  printf(" %s\n", name_of(aio_error(&block)));
  block = request(fd, in, 10, -5);
  aio_write(&block);
  printf("offset: %s\n", name_of(wait_for(&block)));
  printf("another descriptor: %d", aio_cancel(0, &block));
  printf(" %s\n", name_of(errno));
  const int cancelled = aio_cancel(-1, NULL);
  printf("no descriptor: %d %s\n", cancelled, name_of(errno));
  const struct aiocb* const nobody[] = {NULL};
  const struct timespec impossible = {0, 1000000000};
  printf("suspend: %d\n", aio_suspend(nobody, 1, &impossible));
  close(fd);
}

static void pipes(void)
{
  int ends[2];
  if (pipe(ends) != 0)
    return;
  struct aiocb reads[3], write_all;
  for (int i = 0; i < 3; ++i) {
    reads[i] = request(ends[0], in + 3 * i, 3, 0);
    aio_read(&reads[i]);
  }
  const struct aiocb* const all[] = {&reads[0], NULL, &reads[1], &reads[2]};
  const struct timespec soon = {0, 20000000};
  const int status = aio_suspend(all, 4, &soon);
  printf("nothing to read: %d %s, %s\n", status, name_of(errno), name_of(aio_error(&reads[0])));
  printf("the one that is being done: %d", aio_cancel(ends[0], &reads[0]) == AIO_NOTCANCELED);
  printf(", the last: %d", aio_cancel(ends[0], &reads[2]) == AIO_CANCELED);
  printf(" %s", name_of(aio_error(&reads[2])));
  printf(" %zd\n", aio_return(&reads[2]));
  printf("written: %zd\n", write(ends[1], "abcdefgh", 8));
  for (int i = 0; i < 2; ++i) {
    printf("read: %s", name_of(wait_for(&reads[i])));
    printf(" %zd\n", aio_return(&reads[i]));
  }
  printf("in order: %.6s, left: %zd\n", in, read(ends[0], in, 10));
  write_all = request(ends[1], out, n, 0); /* more than there is room */
  aio_write(&write_all);
  printf("pipe is full: %s\n", (usleep(1000), name_of(aio_error(&write_all))));
  ssize_t got = 0;
  while (got < n)
    got += read(ends[0], in + got, (size_t)(n - got));
  printf("write: %s", name_of(wait_for(&write_all)));
  printf(" %zd, equal: %d\n", aio_return(&write_all), memcmp(in, out, n) == 0);
  close(ends[1]);
  struct aiocb end = request(ends[0], in, 10, 0);
  aio_read(&end);
  printf("end: %s", name_of(wait_for(&end)));
  printf(" %zd\n", aio_return(&end));
  close(ends[0]);
}

static void cancel_all(void)
{
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
    return;
  struct aiocb reads[4];
  for (int i = 0; i < 4; ++i) {
    reads[i] = request(ends[0], in + i, 1, 0);
    reads[i].aio_reqprio = i % 3 == 0 ? 0 : 5;
    aio_read(&reads[i]);
  }
  usleep(20000); /* the first is being done */
  printf("written: %zd\n", write(ends[1], "12", 2));
  wait_for(&reads[0]);
  wait_for(&reads[3]);
  printf("higher priority first: %c%c\n", in[0], in[3]);
  usleep(20000);
  printf("cancel all: %d", aio_cancel(ends[0], NULL) == AIO_NOTCANCELED);
  printf(", %s %s\n", name_of(aio_error(&reads[1])), name_of(aio_error(&reads[2])));
  printf("written: %zd\n", write(ends[1], "3", 1));
  printf("the other: %s\n", name_of(wait_for(&reads[1])));
  close(ends[0]);
  close(ends[1]);
}

/* --- lists -------------------------------------------------------------------------------------------------------- */

static sem_t told;
static void* told_value;

static void tell(union sigval value)
{
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  printf("a thread is told %ld, signals blocked: %d\n", (long)value.sival_ptr, sigismember(&mask, SIGUSR2));
  told_value = value.sival_ptr;
  sem_post(&told);
}

static volatile sig_atomic_t signals, code, number;

static void handle(int signal, siginfo_t* information, void* context)
{
  (void)context;
  signals = signals + 1;
  code = information->si_code;
  number = information->si_value.sival_int;
  (void)signal;
}

static struct sigevent by_signal(int value)
{
  return (struct sigevent){
      .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 3, .sigev_value = {.sival_int = value}};
}

static struct sigevent by_thread(long value)
{
  return (struct sigevent){
      .sigev_notify = SIGEV_THREAD, .sigev_notify_function = tell, .sigev_value = {.sival_ptr = (void*)value}};
}

static void wait_for_signals(int count)
{
  while (signals < count)
    usleep(1000);
}

static void notifications(void)
{
  const int fd = temporary_file();
  struct aiocb block = request(fd, out, 1000, 0);
  block.aio_sigevent = by_signal(17);
  signals = 0;
  aio_write(&block);
  wait_for_signals(1);
  printf("signal: SI_ASYNCIO %d, value %d, %s\n", code == SI_ASYNCIO, number, name_of(aio_error(&block)));
  block.aio_sigevent = by_thread(4711);
  aio_read(&block);
  sem_wait(&told);
  printf("%s\n", name_of(aio_error(&block)));
  int ends[2];
  if (pipe(ends) != 0)
    return;
  struct aiocb late = request(ends[0], in, 1, 0);
  late.aio_sigevent = by_signal(18);
  aio_read(&late);
  usleep(2000);
  printf("not yet: %d\n", signals);
  printf("written: %zd\n", write(ends[1], "x", 1));
  wait_for_signals(2);
  printf("signal: SI_ASYNCIO %d, value %d\n", code == SI_ASYNCIO, number);
  struct aiocb one = request(fd, out, 10, 0), two = request(ends[0], in, 1, 0), nothing = request(-1, NULL, 0, 0);
  one.aio_lio_opcode = LIO_WRITE;
  two.aio_lio_opcode = LIO_READ;
  nothing.aio_lio_opcode = LIO_NOP;
  struct aiocb* const list[] = {&one, NULL, &nothing, &two};
  struct sigevent event = by_thread(12);
  printf("list: %d\n", lio_listio(LIO_NOWAIT, list, 4, &event));
  usleep(2000);
  printf("%s %s\n", name_of(wait_for(&one)), name_of(aio_error(&two)));
  const ssize_t written = write(ends[1], "y", 1);
  sem_wait(&told); /* before the next line: the thread prints, too */
  printf("written: %zd\n", written);
  printf("%s %s\n", name_of(aio_error(&one)), name_of(aio_error(&two)));
  printf("written: %zd\n", write(ends[1], "z", 1));
  printf("list: %d, %c\n", lio_listio(LIO_WAIT, list, 4, NULL), in[0]);
  one.aio_fildes = -1;
  struct aiocb* const bad[] = {&one};
  const int status = lio_listio(LIO_WAIT, bad, 1, NULL);
  printf("bad list: %d %s %s\n", status, name_of(errno), name_of(aio_error(&one)));
  event = by_signal(19);
  printf("empty list: %d", lio_listio(LIO_NOWAIT, list, 0, &event));
  wait_for_signals(3);
  printf(" %d\n", number);
  const int mode = lio_listio(77, list, 1, NULL);
  printf("mode: %d %s\n", mode, name_of(errno));
  close(ends[0]);
  close(ends[1]);
  close(fd);
}

/* --- what else the C library starts threads for ------------------------------------------------------------------- */

static void lookups(void)
{
  struct addrinfo hints;
  memset(&hints, 0, sizeof hints);
  hints.ai_family = AF_INET;
  hints.ai_flags = AI_NUMERICHOST;
  struct gaicb first, second;
  memset(&first, 0, sizeof first);
  first.ar_name = "127.0.0.1";
  first.ar_service = "80";
  first.ar_request = &hints;
  second = first;
  second.ar_name = "no.such.name.invalid";
  struct gaicb* list[] = {&first, NULL, &second};
  printf("lookups: %d", getaddrinfo_a(GAI_WAIT, list, 3, NULL));
  printf(" %d %d", gai_error(&first), gai_error(&second) == EAI_NONAME);
  printf(" %d\n", first.ar_result && first.ar_result->ai_addrlen == 16);
  freeaddrinfo(first.ar_result);
  struct sigevent event = by_thread(99);
  const int status = getaddrinfo_a(GAI_NOWAIT, list, 1, &event);
  sem_wait(&told);
  printf("later: %d, %d, cancel: %d\n", status, gai_error(&first), gai_cancel(&first) == EAI_ALLDONE);
  freeaddrinfo(first.ar_result);
  event = by_signal(20);
  signals = 0;
  getaddrinfo_a(GAI_NOWAIT, list, 1, &event);
  wait_for_signals(1);
  printf("signal: SI_ASYNCNL %d, value %d\n", code == SI_ASYNCNL, number);
  freeaddrinfo(first.ar_result);
}

static void timer(void)
{
  timer_t id;
  struct sigevent event = by_thread(3);
  const struct itimerspec again = {{3600, 0}, {0, 1000000}}, never = {{0, 0}, {0, 0}};
  timer_create(CLOCK_MONOTONIC, &event, &id);
  timer_settime(id, 0, &again, NULL);
  sem_wait(&told);
  timer_settime(id, 0, &never, NULL);
  timer_delete(id);
}

int main(void)
{
  setvbuf(stdout, NULL, _IOLBF, 0);
  sem_init(&told, 0, 0);
  struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigaction(SIGRTMIN + 3, &action, NULL);
  files();
  errors();
  pipes();
  cancel_all();
  notifications();
  lookups();
  timer();
  return 0;
}
