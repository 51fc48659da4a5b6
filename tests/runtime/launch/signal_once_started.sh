#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# signal_once_started.sh SIGNAL[:TIMES] SECONDS COMMAND...: sends the signal when rank 0 of the command, `misbehave
# endless...`, is in its loop: to the command alone, and INT to all processes of its group as a terminal does. Ends as
# the command does, which has so many seconds.
set -u
signal=${1%:*} times=1 seconds=$2
[[ $1 != *:* ]] || times=${1#*:}
shift 2
export MISBEHAVE_STARTED=$TMPDIR/started
# job control: a group of its own; without it a script's background jobs ignore SIGINT
set -m
"$@" &
pid=$!
for ((i = 0; i < 1000; ++i)); do
  [ ! -e "$MISBEHAVE_STARTED" ] || break
  sleep 0.05
done
rm "$MISBEHAVE_STARTED" || {
  kill -KILL -- -$pid
  exit 1
}
process=$pid
[ "$signal" != INT ] || process=-$pid
for ((i = 0; i < times; ++i)); do
  kill -s "$signal" -- "$process" 2>/dev/null
done
(sleep "$seconds" && kill -KILL -- -$pid && echo "still there $seconds s after the signal" >&2) &
late=$!
wait $pid
code=$?
kill -- -$late
exit $code
