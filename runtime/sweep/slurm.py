# SPDX-License-Identifier: LGPL-2.1-or-later
"""Points run by Slurm: one job array whose tasks take several points each, and a collector that starts when all of
them have ended, however they did. What a task did is in the store (store.py), point by point, so nothing here has to
be remembered for the results to be whole; jobs are found again by their name."""
from __future__ import annotations

import contextlib
import math
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from typing import Any

from . import estimate, provenance
from .commit import commit, commit_json, read_json
from .errors import OK, SweepError, plural
from .gather import gather
from .known import Umwelt
from .quantities import shown_seconds
from .signals import Stopped
from .status import live, status
from .store import Planned, Store, lock
from .sweeps import outcome, recover, tell
from .worker import Worker, context, inside

_TASK_SECONDS = 600.0  # what a task should take: long beside its start, short beside what is lost with it
_LEAST_TASKS = 8
_LOCK_PATIENCE = 60  # seconds
# Whoever is killed (137: SIGKILL) is started again at once, within the job: it goes on with what is missing.
_SCRIPT = """\
#!/bin/sh
for attempt in 1 2 3; do
  {command}
  code=$?
  [ $code = 137 ] || exit $code
done
exit 137
"""
# Slurm's states of a task that left a point behind, as kinds of failures.
_STATES = {
    "NODE_FAIL": "node_failed",
    "OUT_OF_MEMORY": "memory",
    "TIMEOUT": "task_timeout",
    "CANCELLED": "interrupted",
    "PREEMPTED": "interrupted",
    "DEADLINE": "task_timeout",
}


def _ask(*command: str, patience: float = 120) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=patience, check=False)
    except FileNotFoundError:
        raise SweepError(
            command[0],
            "Slurm's command in PATH",
            "none",
            "run it on a machine that submits to Slurm, or here: without --slurm",
        ) from None
    except subprocess.TimeoutExpired:
        raise SweepError(
            command[0], "an answer of Slurm", f"none within {patience:g} s", "sinfo tells whether Slurm is up", 125
        ) from None
    if done.returncode != 0:
        submits = command[0] == "sbatch"
        raise SweepError(
            command[0],
            "Slurm to take it" if submits else "an answer of Slurm",
            done.stderr.strip().replace("\n", "; ") or f"exit code {done.returncode}",
            "change `slurm:` in the design, then umwelt sweep --resume DESIGN.yaml --slurm; or ask sinfo"
            if submits
            else "sinfo tells whether Slurm is up",
            125,
        )
    return done.stdout


def job_name(store: Store) -> str:
    return f"umwelt-{store.meta['created']:.6f}"


def _submissions(store: Store) -> list[pathlib.Path]:
    return sorted((store.path / "slurm").glob("[0-9]*.json"), key=lambda path: int(path.stem))


def tasks(store: Store) -> dict[str, str] | None:
    """States of what Slurm has of this sweep, by job and task; nothing instead if there is none that answers."""
    if not _submissions(store):
        return {}
    with contextlib.suppress(SweepError):
        form = "--format=%F_%K|%T|%r"
        lines = _ask("squeue", "--noheader", "--array", form, f"--name={job_name(store)}").splitlines()
        return {name: _waiting_state(state, reason) for name, state, reason in (line.split("|", 2) for line in lines)}
    return None


def _waiting_state(state: str, reason: str) -> str:
    """Slurm also holds what it could not start (JobHeldAdmin); nobody goes on with that but an administrator."""
    return f"held ({reason.strip()})" if "held" in reason.lower() else state.lower()


def check_idle(store: Store) -> None:
    """Nothing of this sweep may be with Slurm when points are given out again. Where Slurm does not answer (another
    machine, a cluster that is gone), it goes on unless somebody is seen to run a point."""
    if not _submissions(store):
        return
    name = job_name(store)
    try:
        there = _ask("squeue", "--noheader", "--format=%i", f"--name={name}").split()
    except SweepError as error:
        if running := live(store, lambda: None, lambda: False):
            raise SweepError(
                str(store.path),
                "nobody who works on it",
                f"a task of Slurm, which does not answer here, that runs point {min(running)}",
                f"where squeue answers: scancel --name={name}; whoever is dead counts as such after some minutes",
            ) from None
        print(
            f"umwelt sweep: warning: jobs of this sweep may still be with Slurm (squeue --name={name}), which does not "
            f"answer here: {error}",
            file=sys.stderr,
        )
        return
    if there:
        raise SweepError(
            str(store.path),
            "no jobs of this sweep with Slurm",
            f"job {', '.join(there[:3])}",
            f"wait for them (umwelt sweep status {store.path}), or scancel --name={name}",
        )


def image_of(store: Store) -> dict[str, str] | None:
    """The image that points are to run in, and its hash (of one that has no file: nothing)."""
    name = store.meta["slurm"].get("image")
    if not name:
        return None
    if "://" in name:
        return {name: ""}
    if not pathlib.Path(name).is_file():
        raise SweepError(
            name, "the image of `slurm: {image: }`", "no such file", "a relative path is one from where the design lies"
        )
    return {name: provenance.hash_file(pathlib.Path(name))}


def _check(store: Store, umwelt: Umwelt) -> dict[str, str] | None:
    """What tasks would find wrong, all of them; tells the image."""
    image = image_of(store)
    if image:
        inside(store)
        if shutil.which("apptainer") is None:
            print("umwelt sweep: warning: no apptainer in PATH here; nodes need one for `image:`", file=sys.stderr)
    context(store, umwelt.path, image)
    return image


def start(store: Store, umwelt: Umwelt) -> int:
    """Submits what is missing. The caller holds the lock."""
    _ask("sbatch", "--version")
    recover(store)
    missing, _ = store.remaining()
    if not missing:
        states = gather(store)
        tell(store, states)
        return outcome(states)
    image = _check(store, umwelt)
    array, collector, count = _submit(store, umwelt, missing, 1, image)
    print(
        f"{store.path}: {plural(len(missing), 'point')} in {plural(count, 'task')}: job {array}, collector "
        f"{collector}. How far it is: umwelt sweep status {store.path}"
    )
    return OK


def _most_tasks() -> int:
    match = re.search(r"^MaxArraySize\s*=\s*(\d+)", _ask("scontrol", "show", "config"), re.M)
    return max(1, (int(match[1]) if match else 1001) - 1)


def _at_once(store: Store) -> int:
    """Points that a task runs at the same time."""
    return min(store.meta["run"]["jobs"], store.meta["slurm"]["cpus"])


def needs(store: Store, points: list[int], guess: dict[str, Any], most: int) -> tuple[int, float, int]:
    """Tasks, and what each asks for: seconds, bytes. What is estimated doubles each time that Slurm found it too
    little; what the design says does not."""
    spec = store.meta["slurm"]
    each = guess.get("seconds", 0.0)
    count = spec["tasks"] or max(_LEAST_TASKS, math.ceil(len(points) * each / _TASK_SECONDS))
    count = min(count, len(points), most)
    known = store.attempts()

    def times(kind: str) -> int:
        """How often at most that came of one of these points."""
        return max(sum(_by_slurm(one, kind) for one in known.get(number, [])) for number in points)

    work = max(each * math.ceil(len(points) / count), guess.get("longest", each))
    seconds = spec["time"] or max(300.0, 4 * work + 120) * 2 ** times("task_timeout")
    memory = spec["memory"] or max(256 << 20, 2 * guess.get("memory", 0)) * _at_once(store) * 2 ** times("memory")
    return count, seconds, memory


def _by_slurm(failure: dict[str, Any], kind: str) -> bool:
    return failure.get("kind") == kind and "limit" not in failure and bool(failure.get("who", {}).get("job"))


def estimated(store: Store) -> bool:
    """Whether the design leaves to Umwelt what it asks of Slurm."""
    return any(store.meta["slurm"][key] is None for key in ("tasks", "time", "memory"))


def _submit(
    store: Store, umwelt: Umwelt, points: list[int], round_: int, image: dict[str, str] | None
) -> tuple[str, str, int]:
    """Two submissions: the array and its collector."""
    spec = store.meta["slurm"]
    guess = read_json(store.path / "slurm" / "estimate.json") or {}
    if not guess and estimated(store):
        guess = estimate.first_runs(store, umwelt, points, image)
        commit_json(store.path / "slurm" / "estimate.json", guess, replace=True)
    count, seconds, memory = needs(store, points, guess, _most_tasks())
    number = len(_submissions(store)) + 1
    base = store.path.resolve() / "slurm" / str(number)
    record = {"points": points, "tasks": count, "round": round_, "submitted": time.time(), "image": image}
    record |= {"seconds": seconds, "memory": memory}
    commit_json(base.with_suffix(".json"), record, replace=True)
    output = str(base).replace("%", "%%")  # Slurm has patterns there
    limit = f"%{spec['at_once']}" if spec["at_once"] else ""
    array = _sbatch(
        store,
        umwelt,
        "_task",
        number,
        seconds,
        f"{output}.%a.out",
        [
            f"--array=0-{count - 1}{limit}",
            f"--cpus-per-task={spec['cpus']}",
            "--requeue",
            f"--mem={math.ceil(memory / 2**20)}M",
        ],
    )
    collector = _sbatch(
        store,
        umwelt,
        "_collect",
        number,
        max(600.0, len(points) / 50),
        f"{output}.collector.out",
        [f"--dependency=afterany:{array}"],
    )
    commit_json(base.with_suffix(".json"), {**record, "array": array, "collector": collector}, replace=True)
    return array, collector, count


def _sbatch(
    store: Store, umwelt: Umwelt, what: str, number: int, seconds: float, output: str, options: list[str]
) -> str:
    spec = store.meta["slurm"]
    package = pathlib.Path(__file__).resolve().parent
    words = [sys.executable, "-B", str(package), umwelt.path, what, str(store.path.resolve()), str(number)]
    script = store.path.resolve() / "slurm" / f"{number}.{what.strip('_')}.sh"
    commit(script, _SCRIPT.format(command=shlex.join(words)).encode(), replace=True)
    for key in ("partition", "account"):
        if spec[key]:
            options = [*options, f"--{key}={spec[key]}"]
    answer = _ask(
        "sbatch",
        "--parsable",
        f"--job-name={job_name(store)}",
        f"--output={output}",
        "--open-mode=append",
        f"--chdir={store.meta['directory']}",
        f"--time={max(1, math.ceil(seconds / 60))}",
        *options,
        *spec["options"],
        str(script),
    )
    return answer.strip().split(";")[0]


def task(store: Store, umwelt: Umwelt, number: str) -> int:
    """A task of the array: its share of the points."""
    record = read_json(store.path / "slurm" / f"{number}.json")
    index = int(os.environ.get("SLURM_ARRAY_TASK_ID", "0"))
    restart = int(os.environ.get("SLURM_RESTART_COUNT", "0"))
    job = {"id": os.environ.get("SLURM_ARRAY_JOB_ID", ""), "task": index, "restart": restart}
    _before_restart(store, job)
    missing, _ = store.remaining()
    mine = set(record["points"][index :: record["tasks"]]) & set(missing)

    def done(point: Planned, kind: str) -> None:
        print(f"point {point.number}: {kind}", flush=True)

    worker = Worker(store, umwelt.path, job, done, record.get("image"), lambda signal_: _why_stopped(store, signal_))
    try:
        worker.run(store.points(sorted(mine)), _at_once(store))
    except Stopped as stopped:
        return 128 + stopped.number
    return OK


def _why_stopped(store: Store, number: int) -> tuple[str, str]:
    """SIGTERM comes from scancel, from a preemption, and when a task's time is over: Slurm says which. Its answer must
    come soon, for SIGKILL comes, too (KillWait)."""
    if number != signal.SIGTERM or not (job := os.environ.get("SLURM_JOB_ID")):
        return "interrupted", f"stopped by signal {number}"
    try:
        said = _ask("scontrol", "--oneliner", "show", "job", job, patience=5)
        over = re.search(r"\bReason=TimeLimit\b|\bJobState=(TIMEOUT|DEADLINE)\b", said) is not None
    except SweepError:
        over = time.time() >= float(os.environ.get("SLURM_JOB_END_TIME") or "inf")
    return ("task_timeout", _time_is_over(store)) if over else ("interrupted", "Slurm ended its task")


def _time_is_over(store: Store) -> str:
    given = store.meta["slurm"]["time"]
    limit = f" ({shown_seconds(given)})" if given else ""
    return f"its task came to the end of its time with Slurm{limit}: raise `slurm: {{time: }}` in the design"


def _before_restart(store: Store, job: dict[str, Any]) -> None:
    """What a task had begun before it was killed and started again, by its script or, if its node failed, by Slurm:
    nobody is left of that."""
    for number, marker, who in store.running():
        other = who.get("who", {}).get("job", {})
        if (other.get("id"), other.get("task")) == (job["id"], job["task"]):
            if not store.result_path(number).exists():
                store.commit_failure(
                    number,
                    {
                        "point": number,
                        "kind": "node_failed" if other["restart"] < job["restart"] else "interrupted",
                        "who": who.get("who", {}),
                        "began": who.get("began"),
                        "reason": "its task was killed and started again",
                    },
                )
            marker.unlink(missing_ok=True)


def _state(job: dict[str, Any]) -> str:
    """What Slurm says of a task; it forgets them after some minutes (MinJobAge)."""
    with contextlib.suppress(SweepError):
        match = re.search(
            r"JobState=(\w+)", _ask("scontrol", "--oneliner", "show", "job", f"{job['id']}_{job['task']}")
        )
        return match[1] if match else "UNKNOWN"
    return "UNKNOWN"


def collect(store: Store, umwelt: Umwelt, number: str) -> int:
    """After all tasks: what they left is told, what is missing is submitted again, everything gathered."""
    record = read_json(store.path / "slurm" / f"{number}.json")
    states: dict[str, str] = {}

    def lost(marker: dict[str, Any]) -> tuple[str, str]:
        job = marker.get("who", {}).get("job")
        if not job:
            return "interrupted", "whoever ran it was killed"
        key = f"{job['id']}_{job['task']}"
        state = states.setdefault(key, _state(job))
        kind = _STATES.get(state, "lost")
        reason = f"Slurm's task {key} ended as {state} on {marker['who'].get('host', '?')}"
        return kind, f"{reason}: {_time_is_over(store)}" if kind == "task_timeout" else reason

    with _patient_lock(store.path):
        recover(store, lost)
        missing, _ = store.remaining()
        found = gather(store)
        tell(store, found)
        for key, state in sorted(states.items()):
            print(f"task {key}: {state}")
        fewer = len(missing) < len(record["points"])
        if missing and not _cancelled(store, record) and (fewer or record["round"] <= store.meta["run"]["retries"]):
            again = record["round"] + (not fewer)
            array, collector, count = _submit(store, umwelt, missing, again, record.get("image"))
            print(
                f"{plural(len(missing), 'point')} again in {plural(count, 'task')}: job {array}, collector {collector}"
            )
    return outcome(found)


def _cancelled(store: Store, record: dict[str, Any]) -> bool:
    """By the user, who does not want it to go on."""
    with contextlib.suppress(SweepError):
        return "JobState=CANCELLED" in _ask("scontrol", "--oneliner", "show", "job", str(record.get("array", "")))
    return False


@contextlib.contextmanager
def _patient_lock(path: pathlib.Path):
    until = time.monotonic() + _LOCK_PATIENCE
    while True:
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(lock(path))
            except SweepError:
                if time.monotonic() > until:
                    raise
                time.sleep(1)
                continue
            yield
            return


def wait(store: Store) -> int:
    """Until Slurm has no job of this sweep any more."""
    try:
        _wait(store)
    except Stopped as stopped:
        print(
            f"umwelt sweep: {stopped}: nobody waits any more; Slurm goes on with it: umwelt sweep status {store.path}",
            file=sys.stderr,
        )
        return 128 + stopped.number
    states = gather(store)
    tell(store, states)
    return outcome(states)


def _wait(store: Store) -> None:
    last = 0.0
    while (there := tasks(store)) != {}:
        if there is None:
            time.sleep(2)
            continue
        if sys.stderr.isatty() and time.monotonic() - last > 2:
            last = time.monotonic()
            found = status(store)
            left = shown_seconds(found.get("seconds_left", 0.0))
            print(f"\r\033[K{found['completed']} of {found['points']} points, {left} left", end="", file=sys.stderr)
        time.sleep(0.5)
