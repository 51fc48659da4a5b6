/* SPDX-License-Identifier: LGPL-2.1-or-later
 * deny ERROR CALL... -- COMMAND [ARGUMENT...]: the command, with these system calls failing with that error (EPERM or
 * ENOSYS), as under the seccomp filter of a container. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
  const char* name;
  unsigned number;
} calls[] = {
    {"personality", SYS_personality},
    {"userfaultfd", SYS_userfaultfd},
    {"perf_event_open", SYS_perf_event_open},
    {"ptrace", SYS_ptrace},
    {"process_vm_readv", SYS_process_vm_readv},
    {"process_vm_writev", SYS_process_vm_writev},
    {"mbind", SYS_mbind},
    {"get_mempolicy", SYS_get_mempolicy},
    {"set_mempolicy", SYS_set_mempolicy},
    {"sched_setaffinity", SYS_sched_setaffinity},
    {"membarrier", SYS_membarrier},
    {"io_uring_setup", SYS_io_uring_setup},
    {"unshare", SYS_unshare},
    {"setns", SYS_setns},
    {"kcmp", SYS_kcmp},
    {"mount", SYS_mount},
    {"name_to_handle_at", SYS_name_to_handle_at},
    {"pidfd_open", SYS_pidfd_open},
    {"mlock", SYS_mlock},
    {"inotify_init1", SYS_inotify_init1},
    {"shmget", SYS_shmget},
    {"rseq", SYS_rseq},
    {"memfd_create", SYS_memfd_create},
    {"eventfd2", SYS_eventfd2},
    {"timer_create", SYS_timer_create},
    {"clone3", SYS_clone3},
    {"prlimit64", SYS_prlimit64},
};

enum { most_calls = sizeof calls / sizeof calls[0] };

static int number_of(const char* name)
{
  for (unsigned i = 0; i < most_calls; ++i)
    if (strcmp(calls[i].name, name) == 0)
      return (int)calls[i].number;
  return -1;
}

int main(int argc, char** argv)
{
  struct sock_filter code[2 * most_calls + 2];
  unsigned short length = 0;
  if (argc < 4)
    return 125;
  const unsigned error = strcmp(argv[1], "ENOSYS") == 0 ? ENOSYS : EPERM;
  code[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  char** word = argv + 2;
  for (; *word != NULL && strcmp(*word, "--") != 0; ++word) {
    const int number = number_of(*word);
    if (number < 0 || length > 2 * most_calls - 1) {
      fprintf(stderr, "deny: %s: expected one of its system calls\n", *word);
      return 125;
    }
    code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
  }
  code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_fprog filter = {length, code};
  if (*word == NULL || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    perror("deny");
    return 125;
  }
  execvp(word[1], word + 1);
  perror(word[1]);
  return 127;
}
