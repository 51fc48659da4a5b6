#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# run.sh CASE UMWELT PROGRAM PROJECT: --power and what belongs to it.
set -u
case=$1 umwelt=$2 program=$3 project=$4
here=$(dirname "$(readlink -f "$0")")
. "$here/../cases.sh"
# Nodes of 4 cores: P(0) = 100 W, P(n) = 120 + 20 n W; half as fast 80, 90 + 10 n.
cat >power.yaml <<'EOF'
nodes:
- off: 5 W
  states:
  - {frequency: 2 GHz, idle: 100 W, epsilon: 120 W, computing: 200 W, communicating: 180 W}
  - {frequency: 1 GHz, idle: 80 W, epsilon: 90 W, computing: 130 W, communicating: 120 W}
EOF
cat >work.yaml <<'EOF'
kernels:
- {name: work, function: void work(long n), action: skip, duration: 1ms * n}
- {name: hot_work, function: void hot_work(long n), action: skip, duration: 1ms * n}
EOF
run() { # CODE ARGUMENTS OF umwelt run..., which end with the program's steps
  expect "$1" "$umwelt" run --cpu none --platform fat_tree:cores=4 --kernels work.yaml --report report.json "${@:2}"
}
is() { # PYTHON EXPRESSION OF e (energy) AND r (the report) that is true
  python3 -c "
import json, sys
from math import isclose, fsum
def near(a, b, tolerance=1e-6): return isclose(a, b, rel_tol=tolerance)
r = json.load(open('report.json')); e = r.get('energy')
sys.exit(not ($1))" || fail "expected: $1; got: $(python3 -c "
import json; e = json.load(open('report.json')).get('energy'); print(json.dumps(e, indent=1))")"
}
refuse() { # PATTERN ARGUMENTS OF umwelt run...
  run 121 "${@:2}" "$program" c1
  tr '\n' ' ' <stderr | grep -qE -- "$1" || fail "${*:2}: expected: $1"
}
integral() { # the joules of a part of watts.csv, or of all
  python3 - "$@" <<'EOF'
import csv, math, sys
rows = list(csv.DictReader(open('watts.csv')))
end = int(rows[-1]['time_ps'])
assert rows[-1]['part'] == 'end'
parts = {}
for row in rows[:-1]:
    parts.setdefault(row['part'], []).append((int(row['time_ps']), float(row['watts'])))
sums = {part: math.fsum(w * (u - t) * 1e-12 for (t, w), u in zip(steps, [t for t, _ in steps[1:]] + [end]))
        for part, steps in parts.items()}
print(repr(math.fsum(sums.values())) if len(sys.argv) < 2 else repr(sums[sys.argv[1]]))
EOF
}

case $case in
by_hand)
  # 2 ranks on a node: both compute for 1 s (160 W), then one (140 W), then both sleep (100 W).
  run 0 -np 2 -N 2 --power power.yaml "$program" c1000 0:c1000 1:s1000 s1000
  is 'near(e["joules"], 160 + 140 + 100, 1e-4) and e["peak_watts"] == 160'
  is 'near(e["ranks"][0]["joules"], 80 + 90 + 50, 1e-4) and near(e["ranks"][1]["joules"], 80 + 50 + 50, 1e-4)'
  is 'near(e["average_watts"], e["joules"] / (r["simulated_ps"] * 1e-12))'
  grep -q 'energy 400' stderr || fail "expected it in the summary"
  # the same on two nodes; and a second thread
  run 0 -np 2 -N 1 --power power.yaml "$program" c1000 0:c1000 1:s1000 s1000
  is 'near(e["joules"], 2 * 140 + 140 + 100 + 200, 1e-4) and e["peak_watts"] == 280 and len(e["nodes"]) == 2'
  run 0 -np 1 --power power.yaml --cpus-per-rank 2 "$program" t1000
  is 'near(e["joules"], 140, 1e-4)'
  ;;
sums)
  for how in "--workers 0" "--workers 0" "--workers 2"; do
    # shellcheck disable=SC2086
    run 0 -q $how -np 6 -N 3 --power power.yaml --power-trace watts.csv --dvfs 7ms:0=1 "$program" \
      c3 0:c5 1:s4 2:h7 4:t3 s2 5:c9 c2
    [ -e first.json ] || cp report.json first.json && [ -e first.csv ] || cp watts.csv first.csv
    cmp first.json report.json || fail "$how: expected the same report"
    cmp first.csv watts.csv || fail "$how: expected the same trace"
  done
  is "near(e['joules'], $(integral), 1e-9)"
  for node in 0 1; do
    is "near(e['nodes'][$node]['joules'], $(integral bxi$node 2>/dev/null || integral node$node), 1e-9)"
  done
  is 'near(e["joules"], fsum(n["joules"] for n in e["nodes"]), 1e-12)'
  is 'near(e["joules"], fsum(n["joules"] for n in e["ranks"]) + e["activities"]["without ranks"], 1e-12)'
  is 'near(e["nodes_joules"], fsum(e["activities"].values()), 1e-12)'
  ;;
states)
  run 0 -np 1 --power power.yaml --dvfs 1GHz "$program" c1000
  is 'near(r["simulated_ps"], 2e12, 1e-4) and near(e["joules"], 2 * 100, 1e-4) and e["nodes"][0]["state"] == "1GHz"'
  run 0 -np 1 --power power.yaml --dvfs 1 --cpu fixed=1ms "$program" s0 s0 s0
  cp report.json slow.json
  run 0 -np 1 --power power.yaml --cpu fixed=1ms "$program" s0 s0 s0
  is 'near(json.load(open("slow.json"))["simulated_ps"], 2 * r["simulated_ps"], 1e-2)'
  # a burst goes on as it began, the next one does not
  run 0 -np 2 -N 1 --power power.yaml --dvfs 500ms:0=1GHz "$program" c1000 s1 c1000
  is 'near(r["ranks"][0]["finished_ps"], 3.001e12, 1e-4) and near(r["ranks"][1]["finished_ps"], 2.001e12, 1e-4)'
  is 'near(e["nodes"][0]["joules"], 0.5 * 140 + 2.5 * 100 + 0.08, 1e-4) and e["changes"][0]["at_ps"] == 500000000000'
  grep -q 'DVFS state 1GHz on 1 node from 500' stderr || fail "expected the change in the summary"
  ;;
caps)
  run 0 -np 1 --power power.yaml --power-cap 139W "$program" c1000
  is 'near(r["simulated_ps"], 2e12, 1e-4) and e["peak_watts"] == 100 and e["nodes"][0]["cap_watts"] == 139'
  run 0 -np 1 --power power.yaml --power-cap 140 "$program" c1000
  is 'near(r["simulated_ps"], 1e12, 1e-4) and e["peak_watts"] == 140'
  run 0 -np 2 -N 1 --power power.yaml --power-cap 1=100 --dvfs 1ms:2GHz "$program" c1000 c1000
  is 'near(r["ranks"][0]["finished_ps"], 2e12, 1e-4) and near(r["ranks"][1]["finished_ps"], 4e12, 1e-4)'
  refuse 'power-cap 99.*at least 100 W for node .* 1 cores, got 99 W' --power power.yaml --power-cap 99
  refuse 'at least 110 W for node .* 2 cores' --power power.yaml --power-cap 100 -np 2 -N 2
  # where fewer busy cores draw more, those count
  cat >falling.yaml <<'EOF'
nodes:
- states:
  - {frequency: 2 GHz, idle: 100 W, computing: [130 W, 120 W, 115 W, 110 W]}
  - {frequency: 1 GHz, idle: 80 W, computing: [112 W, 110 W, 105 W, 100 W]}
EOF
  run 0 -np 4 -N 4 --power falling.yaml --power-cap 115 "$program" 0:c1000
  is 'e["nodes"][0]["state"] == "1GHz" and e["peak_watts"] == 112'
  ;;
kernels)
  echo 'kernels: {hot_work: 240 W}' >>power.yaml
  run 0 -np 2 -N 2 --power power.yaml "$program" c1000 h1000 0:c500 1:h500
  is 'near(e["joules"], 160 + (160 + 2 * 40 / 4) + 0.5 * (160 + 40 / 4), 1e-4)'
  is 'near(e["ranks"][0]["hot_work"], 40, 1e-4) and near(e["ranks"][1]["hot_work"], 60, 1e-4)'
  cp report.json first.json
  run 0 -q --workers 2 -np 2 -N 2 --power power.yaml "$program" c1000 h1000 0:c500 1:h500
  cmp first.json report.json || fail "expected the same in worker processes"
  run 0 -np 1 --power power.yaml --dvfs 1 "$program" h1000 # 80 + (240 - 100) (130 - 80) / (200 - 100) = 150 on all
  is 'near(e["joules"], 2 * (100 + (150 - 130) / 4), 1e-4)'
  sed -i s/hot_work/hot_wrok/ power.yaml
  refuse "kernels: expected kernels that --kernels has, got 'hot_wrok'.*'hot_work'" --power power.yaml
  ;;
xml)
  cat >platform.xml <<'EOF'
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="z" routing="Full">
    <host id="a" speed="100Mf,50Mf" core="4" pstate="0">
      <prop id="wattage_per_state" value="100:120:200, 80:90:130"/>
      <prop id="wattage_off" value="5"/>
    </host>
    <host id="b" speed="100Mf,50Mf" core="4" pstate="1">
      <prop id="wattage_per_state" value="100:120:200, 80:90:130"/>
    </host>
    <link id="l" bandwidth="1GBps" latency="1us"><prop id="wattage_range" value="10:30"/></link>
    <route src="a" dst="b"><link_ctn id="l"/></route>
  </zone>
</platform>
EOF
  run 0 --platform platform.xml -np 2 -N 1 "$program" c1000
  is 'near(r["ranks"][0]["finished_ps"], 1e12, 1e-4) and near(r["ranks"][1]["finished_ps"], 2e12, 1e-4)'
  is 'near(e["nodes_joules"], 140 + 100 + 2 * 100, 1e-4) and near(e["links_joules"], 2 * 10, 1e-4)'
  is 'e["source"] == "properties of the platform"'
  run 0 --platform platform.xml --power none -np 2 -N 1 "$program" c1000
  is 'e is None and near(r["simulated_ps"], 1e12, 1e-4)'
  run 0 --platform platform.xml -np 2 -N 1 --dvfs 0 "$program" c1000
  is 'near(r["simulated_ps"], 1e12, 1e-4)'
  sed 's/100:120:200, 80:90:130/100:120:200/' platform.xml >wrong.xml
  refuse "wattage_per_state of host 'a' is '100:120:200' instead of .* of which it has 2" --platform wrong.xml
  sed '0,/wattage_per_state/s//something_else/' platform.xml >wrong.xml
  refuse "host 'a' has no property wattage_per_state, others have" --platform wrong.xml
  sed 's/value="10:30"/value="10"/' platform.xml >wrong.xml
  refuse "wattage_range of link 'l' is '10' instead of IDLE:BUSY" --platform wrong.xml
  ;;
network)
  cat >>power.yaml <<'EOF'
network:
  nic: {idle: 8 W, per_byte: 2 nJ, per_message: 1 uJ}
  link: {idle: 1 W, busy: 2 W}
  switch: {idle: 100 W, per_byte: 1 nJ}
EOF
  run 0 -np 2 -N 1 --power power.yaml --power-trace watts.csv ptlbench put_waitack --size 65536 --count 16
  # What always goes, and what a MiB and its headers take; both NICs have a message of the other each time.
  is '0 < e["switches_joules"] % (100 * r["simulated_ps"] * 1e-12) - (1 << 20) * 1e-9 < 3e-4'
  is 'e["links_joules"] > 4 * r["simulated_ps"] * 1e-12 and all(link["joules"] > 0 for link in e["links"])'
  is 'near(e["nics_joules"], 16 * r["simulated_ps"] * 1e-12 + 2 * (1 << 20) * 2e-9 + 34e-6)'
  is 'near(e["joules"], e["nodes_joules"] + e["links_joules"] + e["switches_joules"] + e["nics_joules"], 1e-12)'
  is "near(e['joules'], $(integral), 1e-9)"
  is "near(e['links_joules'], $(integral links), 1e-9) and near(e['switches_joules'], $(integral switches), 1e-9)"
  is 'e["peak_watts"] >= e["average_watts"] and e["peak_watts"] > e["nodes_peak_watts"] + 100 + 2 * 8'
  cp report.json all.json
  sed -n '/^network:/,$p' power.yaml >network.yaml # what nodes draw is not known
  run 0 -np 2 -N 1 --power network.yaml --power-trace watts.csv ptlbench put_waitack --size 65536 --count 16
  is 'e["joules"] == e["nics_joules"] + e["links_joules"] + e["switches_joules"] and "nodes" not in e'
  is 'all(json.load(open("all.json"))["energy"][key] == e[key] for key in ("nics_joules", "links_joules"))'
  is "e['peak_watts'] >= e['average_watts'] > 0 and near(e['joules'], $(integral), 1e-9)"
  grep -q 'of the network, what nodes draw is not known' stderr || fail "expected it in the summary"
  ;;
money)
  echo 'cost: {node_hour: 3.6, kwh: 0.36, pue: 2, currency: USD}' >>power.yaml
  run 0 -np 2 -N 1 --power power.yaml "$program" c1000
  is 'e["currency"] == "USD" and near(e["node_hours"], 2 / 3600, 1e-4)'
  is 'near(e["cost"], 2 * 0.001 + 280 * 1e-7 * 2, 1e-4)'
  run 0 -np 2 -N 1 --node-hour 1.8GBP "$program" c1000
  is 'e["currency"] == "GBP" and near(e["cost"], 0.001, 1e-4) and "joules" not in e'
  grep -q 'cost 0.001 GBP' stderr || fail "expected it in the summary"
  ;;
refused)
  refuse 'nothere.yaml: expected a readable power file' --power nothere.yaml
  refuse "a DVFS state of node .*: 2GHz, 1GHz, or a number from 0 to 1, got '3GHz'" --power power.yaml --dvfs 3GHz
  refuse "got '2'" --power power.yaml --dvfs 2
  refuse 'dvfs.*expected.*nodes.*' --power power.yaml --dvfs 99999=1GHz
  refuse 'a machine whose power is known' --dvfs 1GHz
  refuse 'a machine whose power is known' --power-cap 100
  refuse 'a machine whose power is known' --power-trace watts.csv
  refuse 'a machine whose power is known' --power-phases
  refuse 'WATTS' --power power.yaml --power-cap much
  refuse 'WATTS' --power power.yaml --power-cap 0
  refuse 'what a node costs' --node-hour free
  echo 'cost: {kwh: 0.3}' >price.yaml
  refuse 'price.yaml, cost: kwh: expected what something draws, nodes: or network:, got neither' --power price.yaml
  refuse 'one run' --power power.yaml --power-trace watts.csv --repeat 2
  refuse 'a file of its own' --power power.yaml --power-trace report.json
  refuse 'power-trace' --power power.yaml --power-trace /nowhere/watts.csv
  [ ! -e watts.csv ] || fail "expected that nothing is left of a trace of no run"
  ;;
unreached)
  run 0 -np 1 --power power.yaml --dvfs 10s:1GHz "$program" c1
  grep -q -- '--dvfs 10s:1GHz: never came to that' stderr || fail "expected to be told"
  is 'e["not_reached"] == ["--dvfs 10s:1GHz"] and e["changes"] == []'
  run 0 --platform "$project/platforms/taurus/taurus.xml" --power "$project/platforms/taurus/power.yaml" \
    --dvfs 2.3GHz -np 2 -N 1 "$program" c1000
  is 'e["nodes"][0]["state"] == "2.3GHz" and len(e["nodes"]) == 2'
  ;;
phases)
  for how in "--workers 0" "--workers 2"; do
    # shellcheck disable=SC2086
    run 0 $how -np 2 -N 1 --power power.yaml --power-phases "$program"
    [ -e first.json ] || cp report.json first.json
    cmp first.json report.json || fail "$how: expected the same report"
  done
  grep -q 'energy by phase: before .* %, 1 .* %, 0 .* %' stderr || fail "expected the phases in the summary"
  is 'list(e["phases"]) == ["before", "1", "0"] and all(joules > 0 for joules in e["phases"].values())'
  is 'near(fsum(e["phases"].values()), e["nodes_joules"], 1e-9) and e["activities"]["waiting"] > 0'
  # as long as the messages of a phase take on two nodes, of which at least one waits and draws 120 + 60 / 4 W
  is 'e["phases"]["1"] < e["phases"]["0"] < e["phases"]["before"]'
  ;;
traces)
  for trace in run.otf2 run.paje run.pftrace; do
    run 0 -q -np 2 -N 1 --cpu fixed=200ns --power power.yaml --power-trace watts.csv --trace "$trace" "$program"
  done
  watts=$(grep -c ',node0,' watts.csv)
  [ "$watts" -gt 100 ] || fail "expected the power of node0 in watts.csv, got $watts lines"
  [ "$(grep -cE '^9 .* W n0 ' run.paje)" = "$watts" ] || fail "expected $watts values of it in run.paje"
  otf2-print run.otf2 >otf2 2>&1
  ! grep -i 'out of order' otf2 || fail "expected definitions in order"
  [ "$(grep -cE '^METRIC +2305843009213693952 .*"power"' otf2)" = "$watts" ] ||
    fail "expected $watts values of it in run.otf2"
  grep -qa 'nodes: power' run.pftrace || fail "expected the power of nodes in run.pftrace"
  ;;
*) fail "unknown case $case" ;;
esac
