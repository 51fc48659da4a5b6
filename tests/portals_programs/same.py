#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""same.py UMWELT ABI PROGRAM TRANSLATED: a program, and the same source compiled for another Portals ABI, do the same
on two ranks, on seven, on those of one node and in worker processes: the same messages at the same simulated times."""
import json
import pathlib
import subprocess
import sys
import tempfile

umwelt, abi, *programs = sys.argv[1:]
with tempfile.TemporaryDirectory() as work:
    for options in ["-np", "2"], ["-np", "7"], ["-np", "4", "-N", "2"], ["-np", "4", "--workers", "2"]:
        reports, outputs = [], []
        for program, choice in zip(programs, ("auto", abi)):
            file = pathlib.Path(work) / "report.json"
            command = [umwelt, "run", "-q", "--cpu", "none", *options]
            command += ["--portals-abi", choice, "--report", file, program]
            run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            if run.returncode != 0:
                sys.exit(f"{command}: exit code {run.returncode}\n{run.stdout}")
            reports.append(json.loads(file.read_text()))
            del reports[-1]["programs"]  # by name
            outputs.append(run.stdout)
        if outputs[0] != outputs[1]:
            sys.exit(f"{options}: other output:\n{outputs[0]}\n{outputs[1]}")
        for key in reports[0].keys() | reports[1].keys():
            if reports[0].get(key) != reports[1].get(key):
                sys.exit(f"{options}: another {key}:\n{reports[0].get(key)}\n{reports[1].get(key)}")
