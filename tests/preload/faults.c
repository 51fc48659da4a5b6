/* SPDX-License-Identifier: LGPL-2.1-or-later
 * What becomes of a process with handlers for faults, one way for each argument: its output, and how it ends. */
#undef NDEBUG
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int* volatile nowhere; /* null; volatile: the compiler must not know */
static volatile int deepest = 1 << 30;
static char alternate[1 << 16];

static void say(const char* text)
{
  (void)!write(STDOUT_FILENO, text, strlen(text));
}

__attribute__((noinline)) static int overflow(int depth)
{
  volatile char frame[1024];
  frame[0] = (char)depth;
  return depth == deepest ? 0 : overflow(depth + 1) + frame[0];
}

static void returns(int number)
{
  say(number == SIGABRT ? "SIGABRT\n" : "handler\n");
}

static void raises(int number)
{
  say("handler\n");
  signal(number, SIG_DFL);
  raise(number);
  say("blocked until the handler is over\n");
}

static void faults(int number)
{
  say("handler\n");
  *nowhere = number;
}

static void faults_again(int number)
{
  *nowhere = number;
}

static void leaves(int number)
{
  say("handler\n");
  _exit(number);
}

static void install(int number, void (*handler)(int), int flags)
{
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(number, &action, NULL);
}

static void closed_pipe(void)
{
  int ends[2];
  sigset_t set;
  const struct timespec none = {0, 0};
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  sigprocmask(SIG_BLOCK, &set, NULL);
  if (pipe(ends) != 0 || close(ends[0]) != 0 || write(ends[1], "", 1) != -1)
    abort();
  printf("blocked SIGPIPE: %s\n", sigtimedwait(&set, NULL, &none) == SIGPIPE ? "taken" : "lost");
}

int main(int argc, char** argv)
{
  const char* how = argc > 1 ? argv[1] : "";
  say(how);
  say("\n");
  stack_t stack, old;
  memset(&stack, 0, sizeof stack);
  stack.ss_sp = alternate;
  stack.ss_size = sizeof alternate;
  if (strcmp(how, "raises") == 0) {
    install(SIGSEGV, raises, 0);
    *nowhere = 1;
  } else if (strcmp(how, "faults") == 0) {
    install(SIGSEGV, faults, 0);
    *nowhere = 1;
  } else if (strcmp(how, "faults_again") == 0) {
    install(SIGSEGV, faults_again, SA_NODEFER);
    *nowhere = 1;
  } else if (strcmp(how, "blocked") == 0) {
    sigset_t set;
    sigfillset(&set);
    sigprocmask(SIG_SETMASK, &set, NULL);
    install(SIGSEGV, returns, 0);
    *nowhere = 1;
  } else if (strcmp(how, "ignored") == 0) {
    signal(SIGSEGV, SIG_IGN);
    *nowhere = 1;
  } else if (strcmp(how, "overflow") == 0) {
    install(SIGSEGV, returns, 0);
    overflow(0);
  } else if (strcmp(how, "overflow_without_stack") == 0) {
    install(SIGSEGV, returns, SA_ONSTACK);
    overflow(0);
  } else if (strcmp(how, "overflow_on_stack") == 0) {
    install(SIGSEGV, leaves, SA_ONSTACK);
    sigaltstack(&stack, NULL);
    sigaltstack(NULL, &old);
    say(old.ss_sp == alternate && old.ss_flags == 0 ? "alternate stack\n" : "none\n");
    overflow(0);
  } else if (strcmp(how, "assert") == 0) {
    install(SIGABRT, returns, 0);
    assert(nowhere);
  } else if (strcmp(how, "closed_pipe") == 0) {
    closed_pipe();
  }
  return 0;
}
