#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# what_if.sh CASE UMWELT PTLBENCH [MACHINE]: --latency-factor, --bandwidth-factor, --compute-factor, --fault,
# profiles of a platform and --model zero in whole runs, on simulated time.
set -u
case=$1 umwelt=$2 ptlbench=$3 machine=${4-}
. "$(dirname "$(readlink -f "$0")")/../cases.sh"
run() { expect "$1" "$umwelt" run -np 2 --report r.json "${@:2}" </dev/null; } # CODE OPTIONS...
value() { # EXPRESSION of the report r
  python3 -c "import json; r = json.load(open('${2:-r.json}')); print($1)"
}
pingpong() { run 0 --cpu none "$@" "$ptlbench" reply --sizes 8 --duration 1ms; }
column() { tail -n 1 stdout | awk -F, "{print int(\$$1 * 1000 + 0.5)}"; } # NUMBER of ptlbench's table, us: in ns
round_trip() { # OPTIONS...: ns, half of it
  pingpong "$@"
  column NF
}
near() { # GOT EXPECTED PERCENT WHAT
  python3 -c "import sys; sys.exit(abs($1 - $2) > $2 * $3 / 100)" || fail "$4: $1 instead of $2"
}
case $case in
ones) # change nothing
  pingpong
  cp r.json plain.json
  pingpong --latency-factor 1 --bandwidth-factor 1 --bandwidth-factor '*=1' --compute-factor 1
  cmp plain.json r.json || fail "expected the same bytes"
  ! grep -q 'what if' stderr || fail "nothing is to be said of them"
  ;;
latency)
  near "$(round_trip --model delay --nic latency=1us)" 1001 3 "delay"
  near "$(round_trip --model delay --nic latency=1us --latency-factor 10)" 10001 3 "delay, ten times"
  grep -q '  what if: latency x 10$' stderr || fail "the summary does not say so"
  [ "$(value "r['factors']")" = "[{'of': 'latency', 'links': '', 'factor': 10.0}]" ] || fail "nor does the report"
  plain=$(round_trip --platform crossbar:lat=1us)
  slow=$(round_trip --platform crossbar:lat=1us --latency-factor 10)
  near "$slow" "$((plain + 18000))" 3 "bxi, two links of 1 us"
  far=$(round_trip --platform crossbar:lat=1us --latency-factor 'bxi? up=10')
  near "$far" "$((plain + 9000))" 3 "bxi, one of them"
  ;;
bandwidth)
  timed() { run 0 --cpu none --model delay --nic bandwidth=1GB/s "$@" "$ptlbench" put_waitack --sizes 1MiB --count 10; }
  timed
  cp r.json plain.json
  timed --bandwidth-factor 0.1
  more=$(($(value "r['simulated_ps']") - $(value "r['simulated_ps']" plain.json)))
  near "$more" "$((10 * 9 * 1048576 * 1000))" 3 "ten messages of 1 MiB with a tenth of 1 GB/s"
  ;;
compute)
  timed() { run 0 --cpu fixed=8us "$@" "$ptlbench" put_waitack --sizes 8 --count 100; }
  timed
  cp r.json plain.json
  timed --compute-factor 4
  compute="sum(rank['compute_ps'] for rank in r['ranks'])"
  near "$(value "$compute")" "$(value "$compute // 4" plain.json)" 5 "bursts"
  grep -q '  what if: compute x 4$' stderr || fail "the summary does not say so"
  ;;
zero)
  run 0 --cpu none --model zero "$ptlbench" put_waitack --sizes 1MiB --count 100
  # Reads of the clock are all there is, 25 ns each; over bxi a message takes 98 us.
  [ "$(column 4)" -lt 1000 ] || fail "100 messages take $(column 4) ns"
  ;;
fault)
  near "$(round_trip --model delay --nic latency=1us --fault 'link=bxi1 up:at=4500us:for=50us')" 1001 10 "in between"
  [ "$(value "r['faults']['delayed'], r['faults']['links'][0]['for_ps']")" = "1 50000000" ] || fail "the report"
  grep -q "links failed: 'bxi1 up' (1 link) at 4.500 ms for 50.00 us" stderr || fail "the summary"
  ;;
profile) # of a platform's file, and of a shared object: as --fault
  platform() { # ATTRIBUTE: of both directions
    cat <<END
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full">
  <host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
  <link id="cable" bandwidth="12.5GBps" latency="100ns" sharing_policy="SPLITDUPLEX" ${1:-}/>
  <route src="a" dst="b"><link_ctn id="cable" direction="UP"/></route>
</zone></platform>
END
  }
  platform >plain.xml
  platform 'state_file="state"' >failing.xml
  printf '%s\n' '0.0045 0' '0.0046 1' >state
  for model in bxi flow delay loggp piecewise; do
    how=(--cpu none --model $model)
    run 0 "${how[@]}" --platform ./plain.xml "$ptlbench" put_waitack --sizes 1MiB --count 60
    cp r.json plain.json
    run 0 "${how[@]}" --platform ./plain.xml --fault 'link=cable_*:at=4500us:for=100us' "$ptlbench" put_waitack \
      --sizes 1MiB --count 60
    cp r.json fault.json
    run 0 "${how[@]}" --platform ./failing.xml "$ptlbench" put_waitack --sizes 1MiB --count 60
    same="r['simulated_ps'], [r['faults'][key] for key in ('rerouted', 'delayed', 'delayed_ps', 'resent', 'failed')]"
    [ "$(value "$same")" = "$(value "$same" fault.json)" ] || fail "$model: $(value "$same")"
    [ "$(value "r['simulated_ps']")" -gt "$(value "r['simulated_ps']" plain.json)" ] || fail "$model: nothing failed"
  done
  MACHINE=fails_later run 0 --cpu none --model flow --platform "$machine" "$ptlbench" put_waitack --sizes 1MiB \
    --count 60
  grep -q "links failed: 'first_DOWN' (1 link) at 4.500 ms for 100.0 us" stderr || fail "the summary"
  [ "$(value "r['faults']['failed'], r['faults']['resent'] > 0")" = "0 True" ] || fail "$(value "r['faults']")"
  # Not a millisecond, after which the NIC sends again: into the next failure, until it gives up.
  printf '%s\n' 'PERIODICITY 0.0013' '0.0001 0' '0.0002 1' >state
  run 0 --cpu none --platform ./failing.xml "$ptlbench" put_waitack --sizes 1MiB --count 60
  grep -q "'cable_UP' (1 link) at 100.0 us for 100.0 us and 99999 times more" stderr || fail "$(cat stderr)"
  run 121 --fabric packet --platform ./failing.xml "$ptlbench" reply
  grep -q 'fabric packet: expected links that do not fail' stderr || fail "a fabric that cannot"
  ;;
wrong)
  run 121 --latency-factor 'leaf*=2' "$ptlbench" reply
  grep -q "got 'leaf\*', which fits none. The nearest are 'bxi0 up'" stderr || fail "nearest names"
  run 121 --model delay --latency-factor 'bxi0 up=2' "$ptlbench" reply
  grep -q 'model delay does not look at links' stderr || fail "a model that cannot"
  run 121 --fault 'link=bxi1 up:at=1us' "$ptlbench" reply
  grep -q 'got none from bxi1 to bxi0' stderr || grep -q 'got none from bxi0 to bxi1' stderr || fail "for good"
  run 121 --fabric packet --fault 'link=bxi1 up:at=1us:for=1us' "$ptlbench" reply
  grep -q 'fabric packet: expected links that do not fail, got --fault' stderr || fail "a fabric that cannot"
  run 121 --fault 'link=bxi7 up:at=1us:for=1us' "$ptlbench" reply
  grep -q "The nearest are 'bxi0 up', 'bxi1 up'" stderr || fail "nearest link"
  ;;
esac
