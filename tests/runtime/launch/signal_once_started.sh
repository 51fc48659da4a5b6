#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# signal_once_started.sh SIGNAL COMMAND...: sends the signal when a rank of the command, `misbehave endless`, is in its loop: to the
# command alone, and INT to all processes of its group as a terminal does. Ends as the command does, within ten seconds.
set -u
signal=$1
shift
export MISBEHAVE_STARTED=$TMPDIR/started
# job control: a group of its own; without it a script's background jobs ignore SIGINT
set -m
"$@" &
pid=$!
for ((i = 0; i < 1000; ++i)); do
  [ ! -e "$MISBEHAVE_STARTED" ] || break
  sleep 0.05
done
rm "$MISBEHAVE_STARTED" || exit 1
process=$pid
[ "$signal" != INT ] || process=-$pid
kill -s "$signal" -- "$process"
(sleep 10 && kill -KILL -- -$pid && echo "still there 10 s after the signal" >&2) &
late=$!
wait $pid
code=$?
kill -- -$late
exit $code
