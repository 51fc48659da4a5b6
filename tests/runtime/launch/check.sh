#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# check.sh CODE PATTERN COMMAND...: runs the command and checks its exit code, that its standard error matches the
# extended regular expression, and that it leaves no process and no file behind.
set -u
expected=$1 pattern=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tmp"
ls /dev/shm >"$work/shm" 2>/dev/null
export TMPDIR=$work/tmp UMWELT_TEST_MARK=$work
"$@" >"$work/out" 2>"$work/err" </dev/null
code=$?
status=0
complain() {
  echo "FAILED: $*"
  status=1
}
[ "$code" = "$expected" ] || complain "exit code $code, expected $expected"
tr '\n' ' ' <"$work/err" | grep -qE -- "$pattern" || complain "standard error does not match: $pattern"
# the janitor may take a moment after a kill -9, and what other tests run natively has its own memory there for a while
for _ in 1 2 3 4 5 6 7 8 9 10; do
  left=$(ls -A "$work/tmp")
  processes=$(grep -lzs "UMWELT_TEST_MARK=$work" /proc/[0-9]*/environ | grep -v "/$$/" | grep -v "/self/" | tr '\n' ' ')
  alive=""
  for file in $processes; do
    pid=${file#/proc/}
    pid=${pid%/environ}
    [ "$pid" = "$$" ] || [ ! -e "/proc/$pid/exe" ] ||
      alive="$alive $pid:$(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline")"
  done
  shared=$(ls /dev/shm 2>/dev/null | grep -vxFf "$work/shm" | grep umwelt | tr '\n' ' ')
  [ -n "$left$alive$shared" ] || break
  sleep 0.2
done
[ -z "$left" ] || complain "files left: $left"
[ -z "$alive" ] || complain "processes left:$alive"
[ -z "$shared" ] || complain "left in /dev/shm: $shared"
if [ $status != 0 ]; then
  echo "--- command: $*"
  echo "--- standard output"; tail -n 20 "$work/out"
  echo "--- standard error"; tail -n 40 "$work/err"
fi
exit $status
