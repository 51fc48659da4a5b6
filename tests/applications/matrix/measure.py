# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a command with a time limit and says what it took: CPU time of all of its processes, wall-clock, memory."""
import dataclasses
import os
import pathlib
import resource
import signal
import subprocess
import time


@dataclasses.dataclass(frozen=True)
class Run:
    code: int        # exit code; negative: killed by that signal
    timed_out: bool
    cpu: float       # s, of all processes
    wall: float      # s
    memory: int      # bytes, the largest sum seen of what its processes have for themselves (Pss)


def processes_below(root: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = pathlib.Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has ended
            children.setdefault(int(fields[1]), []).append(int(entry))
    found, left = [], [root]
    while left:
        process = left.pop()
        found.append(process)
        left += children.get(process, [])
    return found


def memory_of(root: int) -> int:
    total = 0
    for process in processes_below(root):
        try:
            for line in pathlib.Path("/proc", str(process), "smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) * 1024
        except OSError:
            continue
    return total


def cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(command: list[str], directory: str, environment: dict[str, str], output: str, seconds: int) -> Run:
    """Output and errors go to files OUTPUT.txt and OUTPUT.err in the directory; input is empty."""
    before, begin = cpu_of_children(), time.monotonic()
    memory, next_look, timed_out = 0, 0.0, False
    with open(f"{directory}/{output}.txt", "wb") as out, open(f"{directory}/{output}.err", "wb") as err:
        child = subprocess.Popen(command, cwd=directory, env=environment, stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=err, start_new_session=True)
        while child.poll() is None:
            elapsed = time.monotonic() - begin
            if not timed_out and elapsed > seconds:
                timed_out = True
                os.killpg(child.pid, signal.SIGTERM)
            elif timed_out and elapsed > seconds + 10:
                os.killpg(child.pid, signal.SIGKILL)
            if elapsed >= next_look:  # a look at many mappings costs
                memory = max(memory, memory_of(child.pid))
                next_look = elapsed + min(1.0, 0.1 + elapsed / 4)
            time.sleep(0.02)
    return Run(child.returncode, timed_out, cpu_of_children() - before, time.monotonic() - begin, memory)
