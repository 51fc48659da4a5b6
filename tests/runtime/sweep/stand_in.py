#!/usr/bin/python3 -SEB
# SPDX-License-Identifier: LGPL-2.1-or-later
"""In the place of umwelt, for tests of what is around it: it answers what a sweep asks, and a "run" comes to numbers
that follow from its arguments. The last argument says what else happens: fail, once (fails the first time), slow, big,
die, deadlock, usage, silent. Each run is a line of the file $STAND_IN_LOG."""
import json
import os
import sys
import time

HELP = """Usage: umwelt run [options]
  -np, -n, -c N                 number of ranks
  -N, --npernode N              ranks per node
  --mca KEY VALUE               Open MPI parameter
  -x NAME[=VALUE]               set a variable
  --platform SPEC               simulated machine
  --cpu POLICY                  simulated time
  --report FILE                 write
  --nic KEY=VALUE|@FILE         parameter
  --node KEY=VALUE|@FILE        parameter
  --seed N                      seed
  --mpi-calls                   follow calls
  --report-details              links, time lines
  --oversubscribe               slots are no limit
  -q, --quiet                   no summary
"""
MODELS = [
    {"name": "bxi", "parameters": [{"key": "pci_latency", "default": "200ns"}, {"key": "issue", "default": "60ns"}]},
    {"name": "node", "parameters": [{"key": "cores", "default": "2"}]},
]
PLATFORMS = [{"name": "bxi", "parameters": "leaf=24 spines=24"}]


def number(words):
    """The same for the same words, and different for most others."""
    value = 17
    for letter in "\0".join(words):
        value = (value * 31 + ord(letter)) % 1_000_003
    return value


def run(words):
    report = words[words.index("--report") + 1]
    rest = [word for word in words if word not in ("--report", report, "--quiet")]
    if log := os.environ.get("STAND_IN_LOG"):
        with open(log, "a", encoding="utf-8") as file:
            file.write(" ".join(rest) + "\n")
    what = words[-1]
    if pause := os.environ.get("STAND_IN_SECONDS"):
        time.sleep(float(pause))
    if what == "once":
        if not os.path.exists(os.environ["STAND_IN_LOG"] + ".failed"):
            open(os.environ["STAND_IN_LOG"] + ".failed", "w", encoding="utf-8").close()
            what = "fail"
    if what == "slow":
        time.sleep(60)
    if what == "big":
        held = bytearray(300 << 20)
        held[::4096] = b"x" * len(held[::4096])
        time.sleep(60)
    if what == "die":
        os.kill(os.getpid(), 9)
    codes = {"fail": 3, "deadlock": 122, "usage": 121}
    if what in codes:
        print("the program's own line\n" f"umwelt: {what} as asked", file=sys.stderr)
        if what == "deadlock":  # as Umwelt tells where ranks wait
            print("\n".join(f"  rank {rank} in MPI_Recv" for rank in range(30)), file=sys.stderr)
        sys.exit(codes[what])
    read = [word for word in rest if not word.startswith("NOBODY_READS_IT=")]
    base = number([os.path.basename(word) for word in read])  # wherever the program lies
    print(f"result: {base / 7:.3f} units")
    if os.path.exists("input.txt"):
        print("input:", open("input.txt", encoding="utf-8").read().strip())
    if what == "silent":
        return
    ranks = [{"rank": r, "host": f"n{r}", "compute_ps": base + r, "messages_sent": r} for r in range(2)]
    value = {
        "report_version": 1, "ending": "completed", "exit_code": 0, "simulated_ps": 10**9 + base, "seed": 0,
        "totals": {"messages": base % 97}, "ranks": ranks,
        "mpi_calls": {
            "functions": [{"name": "MPI_Send", "calls": 2, "bytes": 8, "time_ps": base, "waited_ps": 1, "late_ps": 0}],
            "messages": [{"from": 0, "to": 1, "messages": 2, "bytes": 8}], "waited_ps": {"sends": 1},
        },
    }  # fmt: skip
    if "--report-details" in words:
        link = {"name": "n0 up", "class": "node", "bandwidth_Bps": 1e10, "latency_ps": 100000, "from": 0, "to": 1}
        value["links"] = {"bin_ps": 10**6, "links": [link | {"bytes": 6000, "bytes_per_bin": [5000, 0, 1000]}]}
    with open(report, "w", encoding="utf-8") as file:
        json.dump(value, file)


def main(words):
    if words == ["--version"]:
        print("umwelt 0.0 (stand-in)")
    elif words == ["run", "--help"]:
        print(HELP, end="")
    elif words[1:] == ["--json"]:
        print(json.dumps({"models": MODELS, "platforms": PLATFORMS}[words[0]]))
    elif words[0] == "run":
        run(words[1:])
    else:
        sys.exit(121)


main(sys.argv[1:])
