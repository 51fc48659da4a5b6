// SPDX-License-Identifier: LGPL-2.1-or-later
// streams PORT [6]: TCP between rank 0, which serves, and rank 1, case by case. Prints what was found; the same
// natively.
#include "peer.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

static int port, listener;

// A connection between the two ranks, either end.
static int connection(void)
{
  if (own_rank() == 1)
    return connected_socket(host_of(0), port);
  const int fd = accept(listener, NULL, NULL);
  CHECK(fd >= 0);
  return fd;
}

static void wait_for(int fd)
{
  char byte;
  CHECK(recv(fd, &byte, 1, 0) == 1);
}

static void go(int fd)
{
  CHECK(send(fd, "g", 1, 0) == 1);
}

static void expect_end(int fd)
{
  char byte;
  CHECK(recv(fd, &byte, 1, 0) == 0);
}

static void names(void)
{
  const int fd = connection();
  union address own, peer;
  socklen_t own_length = sizeof own, peer_length = sizeof peer;
  CHECK(getsockname(fd, &own.generic, &own_length) == 0 && own_length == address_length());
  CHECK(getpeername(fd, &peer.generic, &peer_length) == 0 && peer.generic.sa_family == family);
  union address told;
  send_all(fd, &own, sizeof own);
  receive_all(fd, &told, sizeof told);
  CHECK(port_of(&told) == port_of(&peer) && same_host(&told, &peer));
  CHECK(port_of(own_rank() == 0 ? &own : &peer) == port);
  const union address named = address_of(host_of(0), port);
  CHECK(same_host(own_rank() == 0 ? &own : &peer, &named));
  int type = 0, domain = 0, listening = 1;
  socklen_t length = sizeof type;
  CHECK(getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM);
  CHECK(getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == family);
  CHECK(getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &length) == 0 && listening == 0);
  struct tcp_info info;
  memset(&info, 0xff, sizeof info);
  length = sizeof info;
  CHECK(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 &&
        length > offsetof(struct tcp_info, tcpi_total_retrans));
  CHECK(info.tcpi_state == TCP_ESTABLISHED && info.tcpi_snd_mss > 500 &&
        (!simulated() || info.tcpi_total_retrans == 0));
  char control[16] = "";
  length = sizeof control;
  CHECK(getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, control, &length) == 0 && length == sizeof control && *control);
  CHECK(setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "nonesuch", 8) == -1 && errno == ENOENT);
  CHECK(setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4) == 0);
  CHECK(getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, control, &length) == 0 && strcmp(control, "reno") == 0);
  static const int defaults[][2] = {{TCP_KEEPIDLE, 7200}, {TCP_KEEPINTVL, 75}, {TCP_KEEPCNT, 9}, {TCP_NODELAY, 0}};
  for (int i = 0; i < 4; ++i) {
    int value = -1;
    length = sizeof value;
    CHECK(getsockopt(fd, IPPROTO_TCP, defaults[i][0], &value, &length) == 0 && value == defaults[i][1]);
  }
  if (own_rank() == 0) {
    int reuse = 0;
    CHECK(getsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &reuse, &length) == 0 && reuse == 1);
    length = sizeof info;
    CHECK(getsockopt(listener, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 && info.tcpi_state == TCP_LISTEN);
  }
  go(fd); // the other end closes no earlier
  wait_for(fd);
  close(fd);
}

// Pieces of all sizes, put together and taken apart in every way there is.
static void pieces(void)
{
  const int fd = connection();
  if (own_rank() == 1) {
    char first[] = "one ", second[] = "two ", third[] = "three";
    const struct iovec parts[] = {{first, 4}, {second, 4}, {third, 5}};
    CHECK(writev(fd, parts, 3) == 13);
    const struct msghdr message = {.msg_iov = (struct iovec*)parts, .msg_iovlen = 3};
    CHECK(sendmsg(fd, &message, 0) == 13);
    CHECK(write(fd, "x", 0) == 0);
    char name[] = "/tmp/umwelt-streams.XXXXXX";
    const int file = mkstemp(name);
    CHECK(file >= 0 && unlink(name) == 0);
    CHECK(write(file, "0123456789", 10) == 10);
    off_t offset = 2;
    CHECK(sendfile(fd, file, &offset, 5) == 5 && offset == 7);
    close(file);
    wait_for(fd);
  } else {
    char text[64] = "";
    CHECK(recv(fd, text, 13, MSG_WAITALL | MSG_PEEK) > 0 && text[0] == 'o');
    receive_all(fd, text, 4);
    char left[3], right[6];
    const struct iovec parts[] = {{left, 3}, {right, 6}};
    CHECK(recv(fd, NULL, 0, 0) == 0);
    ssize_t n = readv(fd, parts, 2);
    CHECK(n == 9 && memcmp(left, "two", 3) == 0 && memcmp(right, " three", 6) == 0);
    CHECK(recv(fd, text, 18, MSG_WAITALL) == 18);
    CHECK(memcmp(text, "one two three23456", 18) == 0);
    CHECK(recv(fd, text, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
    go(fd);
  }
  close(fd);
}

// More than fits on the way, in one call.
static void much(void)
{
  const size_t size = 8 << 20;
  const int fd = connection();
  unsigned char* const data = malloc(size);
  if (own_rank() == 1) {
    for (size_t i = 0; i < size; ++i)
      data[i] = (unsigned char)(i * 7 + (i >> 11));
    CHECK(send(fd, data, size, 0) == (ssize_t)size);
    CHECK(shutdown(fd, SHUT_WR) == 0);
    wait_for(fd);
  } else {
    receive_all(fd, data, size);
    for (size_t i = 0; i < size; ++i)
      CHECK(data[i] == (unsigned char)(i * 7 + (i >> 11)));
    expect_end(fd);
    go(fd);
  }
  free(data);
  close(fd);
}

static void ends(void)
{
  int fd = connection(); // one half is closed, the other goes on
  if (own_rank() == 1) {
    send_all(fd, "last", 4);
    CHECK(shutdown(fd, SHUT_WR) == 0);
    CHECK(send(fd, "x", 1, MSG_NOSIGNAL) == -1 && errno == EPIPE);
    char text[6];
    receive_all(fd, text, 6);
    CHECK(memcmp(text, "answer", 6) == 0);
    expect_end(fd);
  } else {
    char text[4];
    receive_all(fd, text, 4);
    expect_end(fd);
    send_all(fd, "answer", 6);
  }
  close(fd);

  fd = connection(); // what was sent to one who has closed
  if (own_rank() == 1) {
    wait_for(fd);
    expect_end(fd);
    CHECK(send(fd, "x", 1, MSG_NOSIGNAL) == 1);
    struct pollfd descriptor = {fd, POLLIN, 0};
    ssize_t n;
    do { // until the other side's refusal has come back
      usleep(1000);
      n = send(fd, "x", 1, MSG_NOSIGNAL);
    } while (n == 1);
    CHECK(errno == EPIPE || errno == ECONNRESET);
    CHECK(poll(&descriptor, 1, 0) == 1 && (descriptor.revents & POLLHUP));
    CHECK(send(fd, "x", 1, MSG_NOSIGNAL) == -1 && errno == EPIPE);
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    CHECK(write(fd, "x", 1) == -1 && errno == EPIPE);
    signal(SIGPIPE, before);
  } else
    go(fd);
  close(fd);

  fd = connection(); // the last of its descriptors closes it
  if (own_rank() == 0) {
    const int copy = dup(fd);
    close(fd);
    send_all(copy, "c", 1);
    const int other = fcntl(copy, F_DUPFD_CLOEXEC, 0);
    CHECK(other >= 0 && dup2(other, copy) == copy);
    send_all(copy, "d", 1);
    close(copy);
    close(other);
  } else {
    wait_for(fd);
    wait_for(fd);
    expect_end(fd);
    close(fd);
  }
}

static atomic_int stop;

// Has been told that there is nothing more, and asks again.
static void* ask_again(void* argument)
{
  const int fd = *(const int*)argument;
  static long rounds;
  char byte;
  for (; !stop; ++rounds) {
    struct pollfd descriptor = {fd, POLLIN, 0};
    CHECK(poll(&descriptor, 1, -1) == 1 && descriptor.revents & POLLIN);
    CHECK(recv(fd, &byte, 1, MSG_PEEK) == 0);
  }
  return &rounds;
}

// A thread that asks again and again is no progress; PyTorch's store has one.
static void ended(void)
{
  int fd = connection();
  if (own_rank() == 1) {
    close(fd);
    return;
  }
  pthread_t thread;
  void* rounds;
  CHECK(pthread_create(&thread, NULL, ask_again, &fd) == 0);
  usleep(300000);
  stop = 1;
  CHECK(pthread_join(thread, &rounds) == 0);
  CHECK(!simulated() || *(const long*)rounds < 100000);
  close(fd);
}

static void without_waiting(void)
{
  const int fd = connection();
  char byte;
  int on = 1;
  CHECK(ioctl(fd, FIONBIO, &on) == 0 && (fcntl(fd, F_GETFL) & O_NONBLOCK));
  if (own_rank() == 0) {
    char* const data = calloc(1, 65536);
    size_t sent = 0;
    ssize_t n;
    while ((n = send(fd, data, 65536, 0)) > 0) // the reader waits until it is told how much there is
      sent += (size_t)n;
    CHECK(errno == EAGAIN && sent > 65536);
    struct pollfd descriptor = {fd, POLLOUT, 0};
    CHECK(poll(&descriptor, 1, 0) == 0);
    const int told = connection();
    send_all(told, &sent, sizeof sent);
    CHECK(poll(&descriptor, 1, -1) == 1 && descriptor.revents == POLLOUT);
    wait_for(told);
    close(told);
    free(data);
  } else {
    const int told = connection();
    size_t sent, received = 0;
    receive_all(told, &sent, sizeof sent);
    int waiting = 0;
    CHECK(ioctl(fd, FIONREAD, &waiting) == 0 && waiting > 0);
    char* const data = malloc(100000);
    while (received < sent) {
      const ssize_t n = recv(fd, data, 100000, 0);
      if (n > 0)
        received += (size_t)n;
      else {
        CHECK(n < 0 && errno == EAGAIN);
        struct pollfd descriptor = {fd, POLLIN, 0};
        CHECK(poll(&descriptor, 1, -1) == 1);
      }
    }
    CHECK(recv(fd, &byte, 1, 0) == -1 && errno == EAGAIN);
    go(told);
    free(data);
    close(told);
  }
  close(fd);

  if (own_rank() == 1) { // connect without waiting
    const union address address = address_of(host_of(0), port);
    const int late = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    CHECK(fcntl(late, F_GETFD) == FD_CLOEXEC);
    const int result = connect(late, &address.generic, address_length());
    CHECK(result == 0 || errno == EINPROGRESS);
    struct pollfd descriptor = {late, POLLOUT, 0};
    CHECK(poll(&descriptor, 1, 10000) == 1 && descriptor.revents == POLLOUT);
    int error = -1;
    socklen_t length = sizeof error;
    CHECK(getsockopt(late, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0);
    CHECK(send(late, "x", 1, 0) == 1);
    close(late);
  } else {
    struct pollfd descriptor = {listener, POLLIN, 0};
    CHECK(poll(&descriptor, 1, -1) == 1);
    const int late = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    CHECK(late >= 0 && (fcntl(late, F_GETFL) & O_NONBLOCK) && fcntl(late, F_GETFD) == FD_CLOEXEC);
    descriptor.fd = late;
    CHECK(poll(&descriptor, 1, -1) == 1);
    CHECK(recv(late, &byte, 1, 0) == 1);
    close(late);
    const int lonely = listening_socket(0);
    fcntl(lonely, F_SETFL, O_NONBLOCK);
    CHECK(accept(lonely, NULL, NULL) == -1 && errno == EAGAIN);
    close(lonely);
  }
}

static void waiting(void)
{
  const int fd = connection(), other = connection();
  if (own_rank() == 1) {
    wait_for(other);
    go(fd);
    wait_for(other);
    go(fd);
    wait_for(other);
    usleep(20000);
    go(fd);
    wait_for(other);
  } else {
    const int epfd = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = fd}, found[4];
    CHECK(epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &event) == 0);
    CHECK(epoll_wait(epfd, found, 4, 0) == 0);
    go(other);
    CHECK(epoll_wait(epfd, found, 4, -1) == 1 && found[0].data.fd == fd && found[0].events == EPOLLIN);
    CHECK(epoll_wait(epfd, found, 4, 0) == 0); // it was told once
    wait_for(fd);
    go(other);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(fd, &set);
    FD_SET(other, &set);
    CHECK(select((fd > other ? fd : other) + 1, &set, NULL, NULL, NULL) == 1 && FD_ISSET(fd, &set) &&
          !FD_ISSET(other, &set));
    wait_for(fd);
    const struct timeval limit = {0, 5000};
    CHECK(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
    go(other);
    char byte;
    const double begin = now();
    CHECK(recv(fd, &byte, 1, 0) == -1 && errno == EAGAIN);
    CHECK(now() - begin >= 0.004);
    const struct timeval none = {0, 0};
    CHECK(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none) == 0);
    wait_for(fd);
    go(other);
    close(epfd);
  }
  close(fd);
  close(other);
}

static void as_stream(void)
{
  const int fd = connection();
  FILE* const stream = fdopen(fd, "r+");
  CHECK(stream && fileno(stream) == fd);
  char line[64];
  if (own_rank() == 1) {
    fprintf(stream, "line %d\n", 1);
    fflush(stream);
    CHECK(fgets(line, sizeof line, stream) && strcmp(line, "line 2\n") == 0);
  } else {
    CHECK(fgets(line, sizeof line, stream) && strcmp(line, "line 1\n") == 0);
    fseek(stream, 0, SEEK_CUR);
    fprintf(stream, "line %d\n", 2);
    fflush(stream);
    CHECK(!fgets(line, sizeof line, stream) && feof(stream));
  }
  CHECK(fclose(stream) == 0);
}

static void refusals(void)
{
  const union address nobody = address_of(host_of(0), port + 1);
  const struct sockaddr* const address = &nobody.generic;
  int fd = socket(family, SOCK_STREAM, 0);
  char byte;
  CHECK(recv(fd, &byte, 1, 0) == -1 && errno == ENOTCONN);
  CHECK(send(fd, &byte, 1, MSG_NOSIGNAL) == -1 && (errno == ENOTCONN || errno == EPIPE));
  CHECK(shutdown(fd, SHUT_RD) == -1 && errno == ENOTCONN);
  CHECK(connect(fd, address, 3) == -1 && errno == EINVAL);
  CHECK(connect(fd, address, address_length()) == -1 && errno == ECONNREFUSED);
  close(fd);
  fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (connect(fd, address, address_length()) == -1 && errno == EINPROGRESS) {
    struct pollfd descriptor = {fd, POLLOUT, 0};
    CHECK(poll(&descriptor, 1, 10000) == 1 && (descriptor.revents & (POLLERR | POLLHUP)));
    int error = 0;
    socklen_t length = sizeof error;
    CHECK(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0);
    errno = error;
  }
  CHECK(errno == ECONNREFUSED);
  close(fd);
  fd = socket(family, SOCK_STREAM, 0);
  const union address elsewhere = address_of(family == AF_INET6 ? "2001:db8::1" : "192.0.2.1", 0);
  CHECK(bind(fd, &elsewhere.generic, address_length()) == -1 && errno == EADDRNOTAVAIL);
  if (own_rank() == 0) {
    const union address taken = any_address(port);
    CHECK(bind(fd, &taken.generic, address_length()) == -1 && errno == EADDRINUSE);
  }
  const union address any = any_address(0);
  CHECK(bind(fd, &any.generic, address_length()) == 0);
  CHECK(bind(fd, &any.generic, address_length()) == -1 && errno == EINVAL);
  CHECK(accept(fd, NULL, NULL) == -1 && errno == EINVAL);
  close(fd);
  CHECK(socket(family, SOCK_STREAM, IPPROTO_UDP) == -1 && errno == EPROTONOSUPPORT);
  fd = open("/dev/null", O_RDWR);
  CHECK(send(fd, "x", 1, 0) == -1 && errno == ENOTSOCK);
  CHECK(listen(fd, 1) == -1 && errno == ENOTSOCK);
  const int lonely = dup2(fd, 900 + own_rank()); /* ranks share numbers: a lower one may be somebody else's at once */
  close(fd);
  close(lonely);
  CHECK(send(lonely, "x", 1, 0) == -1 && errno == EBADF);
}

// The same socket tries again, as programs do that wait for their server: at a port where nobody listens, at a place
// there is no way to, and at the right one.
static void again(void)
{
  const union address right = address_of(host_of(0), port), wrong = address_of(host_of(0), port + 1);
  if (own_rank() == 0) {
    for (int i = 0; i < 2; ++i) {
      char text[6] = "";
      const int fd = accept(listener, NULL, NULL);
      receive_all(fd, text, 5);
      CHECK(strcmp(text, "right") == 0); // and nothing before it
      expect_end(fd);
      close(fd);
    }
    return;
  }
  const int own = socket(family, SOCK_STREAM, 0), late = socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0);
  const int size = 100000;
  int before = 0, after = 0;
  socklen_t length = sizeof size;
  CHECK(setsockopt(own, SOL_SOCKET, SO_SNDBUF, &size, sizeof size) == 0);
  CHECK(getsockopt(own, SOL_SOCKET, SO_SNDBUF, &before, &length) == 0);
  const union address nowhere = address_of(family == AF_INET6 ? "ff02::1%1" : "255.255.255.255", port);
  for (int i = 0; i < 3; ++i) {
    CHECK(connect(own, &wrong.generic, address_length()) == -1 && errno == ECONNREFUSED);
    CHECK(connect(own, &nowhere.generic, address_length()) == -1 && errno == ENETUNREACH);
  }
  CHECK(connect(own, &right.generic, address_length()) == 0);
  CHECK(connect(own, &right.generic, address_length()) == -1 && errno == EISCONN);
  CHECK(getsockopt(own, SOL_SOCKET, SO_SNDBUF, &after, &length) == 0 && after == before);
  send_all(own, "right", 5);
  close(own);

  for (int i = 0; i < 2; ++i) {
    int error = connect(late, &wrong.generic, address_length()) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
      struct pollfd descriptor = {late, POLLOUT, 0};
      CHECK(poll(&descriptor, 1, 10000) == 1);
      if (i == 0) // the next call tells of it
        error = connect(late, &right.generic, address_length()) == 0 ? 0 : errno;
      else
        CHECK(getsockopt(late, SOL_SOCKET, SO_ERROR, &error, &length) == 0);
    }
    CHECK(error == ECONNREFUSED);
  }
  CHECK(connect(late, &right.generic, address_length()) == -1 && errno == ECONNABORTED); // as Linux has it, once
  if (connect(late, &right.generic, address_length()) != 0) {
    CHECK(errno == EINPROGRESS);
    struct pollfd descriptor = {late, POLLOUT, 0};
    CHECK(poll(&descriptor, 1, 10000) == 1 && descriptor.revents == POLLOUT);
  }
  send_all(late, "right", 5);
  close(late);
}

int main(int argc, char** argv)
{
  port = argc > 1 ? atoi(argv[1]) : 5301;
  choose_family(argc, argv, 2);
  if (own_rank() == 0)
    listener = listening_socket(port);
  static const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {{"names", names},     {"pieces", pieces},       {"much", much},
               {"ends", ends},       {"ended", ended},         {"without waiting", without_waiting},
               {"waiting", waiting}, {"as stream", as_stream}, {"refusals", refusals},
               {"again", again}};
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; ++i) {
    cases[i].run();
    if (own_rank() == 0)
      printf("[0] %s: as expected\n", cases[i].name);
    fflush(stdout);
  }
  const int last = connection(); // both are through
  if (own_rank() == 0)
    wait_for(last);
  else
    go(last);
  close(last);
  return 0;
}
