#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# sandbox.sh CASE UMWELT DENY PROGRAM: what containers take away (ci/README.md, "In a container"). The program's output
# and simulated time have to be those without, or the run is refused, and it is said what for.
set -u
case=$1 umwelt=$2 deny=$3 program=$4
work=$(mktemp -d)
control=/sys/fs/cgroup/memory/umwelt-test-$$
trap 'cd /; rm -rf "$work"; [ ! -d "$control" ] || rmdir "$control"' EXIT
cd "$work" || exit 1
fail() {
  echo "FAILED: $*"
  head -c 2000 stdout stderr
  exit 1
}
skip() {
  echo "skipped: $*"
  exit 77
}
mkdir temporary && chmod 777 . temporary
export TMPDIR=$work/temporary
left_behind() { # nothing may be
  [ -z "$(ls -A temporary)" ] || fail "left in TMPDIR: $(ls -A temporary)"
}
run() { # WORKERS COMMAND...: the program, started by the command; standard output and simulated time to `result`
  local workers=$1
  shift
  "$@" timeout --kill-after=5 100 "$umwelt" run --cpu none --workers "$workers" -np 4 "$program" </dev/null \
    >stdout 2>stderr || fail "$*: exit code $?"
  { sort stdout; grep -o '^  simulated [0-9.]* [a-z]*s' stderr; } >result
  grep -q simulated result || fail "$*: no summary"
  left_behind
}
same() { # COMMAND...: as without it
  for workers in ${worker_processes:-0 2}; do
    run "$workers" env
    mv result expected
    run "$workers" "$@"
    diff expected result || fail "$* with $workers worker processes"
  done
}
refused() { # NAME CODE COMMAND...: before anything starts
  "${@:3}" </dev/null >stdout 2>stderr
  local code=$?
  [ $code = "$2" ] || fail "$*: exit code $code, expected $2"
  cat stdout stderr | grep -q -- "$1" || fail "$*: $1 is not named"
  left_behind
}
own_mounts() {
  unshare --mount bash -c "$1" bash "${@:2}"
}
case $case in
shared_memory | read_only) unshare --mount true 2>/dev/null || skip "unshare --mount is not allowed" ;;
esac
case $case in
calls) # what profiles of containers refuse, and more
  calls=(personality userfaultfd perf_event_open ptrace mbind get_mempolicy set_mempolicy sched_setaffinity membarrier
    io_uring_setup unshare setns kcmp mount name_to_handle_at pidfd_open mlock inotify_init1 shmget rseq)
  same "$deny" EPERM "${calls[@]}" --
  worker_processes=0
  same "$deny" EPERM "${calls[@]}" process_vm_readv process_vm_writev --
  refused "process_vm_readv(2).*--workers 0" 126 "$deny" EPERM process_vm_readv -- \
    "$umwelt" run --workers 2 -np 4 "$program"
  ;;
old_kernel)
  same "$deny" ENOSYS clone3 userfaultfd pidfd_open rseq membarrier io_uring_setup --
  ;;
needed_calls)
  for call in memfd_create eventfd2 timer_create clone3 prlimit64; do
    refused "${call%2}.*: Operation not permitted" 126 "$deny" EPERM $call -- "$umwelt" run -np 2 "$program"
    refused "FAIL.*${call%2}" 125 "$deny" EPERM $call -- "$umwelt" doctor
  done
  ;;
shared_memory) # nothing fits into /dev/shm
  same own_mounts 'mount -t tmpfs -o size=4k,ro tmpfs /dev/shm && exec "$@"'
  ;;
read_only) # but for TMPDIR
  mkdir root
  same own_mounts 'mount --rbind / root && mount -o remount,bind,ro root && mount -t tmpfs tmpfs "root$TMPDIR" &&
    mount -t proc proc root/proc && exec chroot root "$@"'
  refused "expected a directory for temporary files" 125 own_mounts 'mount --rbind / root &&
    mount -o remount,bind,ro root && mount -t proc proc root/proc && exec chroot root "$@"' \
    "$umwelt" run -np 2 "$program"
  ;;
nobody) # no capability, no account
  as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all --inh-caps=-all)
  "${as_nobody[@]}" test -x "$program" -a -x "$umwelt" 2>/dev/null || skip "nobody may not read the build directory"
  same "${as_nobody[@]}"
  "${as_nobody[@]}" "$umwelt" doctor >stdout 2>stderr || fail "doctor: exit code $?"
  ;;
memory) # a container of 1 GiB
  { mkdir "$control" && echo $((1 << 30)) >"$control/memory.limit_in_bytes"; } 2>/dev/null ||
    skip "no control group of its own"
  confined() { bash -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' bash "$control" "$@"; }
  same confined
  refused "memory of the control group" 126 confined "$umwelt" run -np 1000 "$program"
  ;;
esac
