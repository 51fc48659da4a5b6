#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# scenario.sh NAME UMWELT PROGRAM: runs that something happens to from outside. Succeeds if the run ends as it should.
set -u
umwelt=$2 program=$3
case $1 in
closed-pipe)
  "$umwelt" run -np 2 "$program" chatter | head -n 1 >/dev/null
  [ "${PIPESTATUS[0]}" = 141 ]
  ;;
trace-refused) # a run that does not begin leaves no trace
  directory=$(mktemp -d)
  "$umwelt" run --trace "$directory/trace.csv" --nic speeed=1 -np 2 "$program"
  [ $? = 121 ] && rmdir "$directory"
  ;;
trace-deadlock) # one that ends badly leaves a whole one
  directory=$(mktemp -d)
  trap 'rm -r "$directory"' EXIT
  "$umwelt" run --trace "$directory/trace.pftrace" -np 2 "$program" deadlock
  [ $? = 122 ] && [ "$(ls "$directory")" = trace.pftrace ] && grep -aq waiting "$directory/trace.pftrace"
  ;;
watched-in-a-script) # a debugger that a script waits for watches what stands in for the rank
  if ! gdb -q -batch -ex run --args true 2>&1 | grep -q "exited normally"; then
    echo "2 ranks: not completed, since there is no gdb, or it may not trace" >&2
    exit 0
  fi
  "$umwelt" run -np 2 sh -c "gdb -q -batch -ex run $program; true"
  ;;
esac
