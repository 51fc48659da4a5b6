#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
#   hpcc.sh UMWELT INPUT [OPTION...]
#
# The distribution's HPC Challenge on 4 simulated nodes with a small matrix: all of its sections run, its own checks
# pass, and what it measures between two nodes is what a BXI fabric does (about 2 us, 11 to 12 GB/s), or with measured
# computing, which depends on this machine, no better than that.
set -euo pipefail
umwelt=$1
input=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
sed -e 's/@N@/200/' -e 's/@P@/2/' -e 's/@Q@/2/' "$input" >hpccinf.txt
timeout --kill-after=5 "${UMWELT_TEST_TIMEOUT:-120}" "$umwelt" run -q -np 4 "$@" hpcc </dev/null

problems=0
complain() {
  echo "hpccoutf.txt: $1"
  problems=1
}
grep -q '^Success=1$' hpccoutf.txt || complain "expected Success=1, got $(grep '^Success' hpccoutf.txt || echo nothing)"
! grep FAILED hpccoutf.txt || complain "expected no FAILED, got the lines above"
for section in MPIRandomAccess StarRandomAccess SingleRandomAccess MPIRandomAccess_LCG PTRANS StarDGEMM SingleDGEMM \
  StarSTREAM SingleSTREAM MPIFFT StarFFT SingleFFT LatencyBandwidth HPL; do
  grep -q "^End of $section section" hpccoutf.txt || complain "expected section $section to end, got no such line"
done
between() { # between NAME LOW HIGH
  local value
  value=$(sed -n "s/^$1=//p" hpccoutf.txt)
  awk -v v="${value:-0}" -v low="$2" -v high="$3" 'BEGIN { exit !(v >= low && v <= high) }' ||
    complain "expected $1 between $2 and $3, got ${value:-nothing}"
  echo "$1=$value"
}
if [[ " $* " == *" --cpu measured "* ]]; then
  between MinPingPongLatency_usec 1 1000
  between MaxPingPongLatency_usec 1.2 1000
  between MinPingPongBandwidth_GBytes 0.01 12.5
  between MaxPingPongBandwidth_GBytes 0.01 12.5
else
  between MinPingPongLatency_usec 1 3
  between MaxPingPongLatency_usec 1.2 3
  between MinPingPongBandwidth_GBytes 4 12.5
  between MaxPingPongBandwidth_GBytes 4 12.5
fi
# Which section it was
((problems == 0)) || grep -nE 'ailed|rrors|residual|^End of|Success' hpccoutf.txt
exit $problems
