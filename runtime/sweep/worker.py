# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs points one after the other, several at a time: the same here and in a task of Slurm. One thread, one poll(2):
runs are processes, and a signal that asks them to die with this one (execution.py) goes by thread."""
from __future__ import annotations

import contextlib
import os
import pathlib
import select
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from . import provenance
from .errors import SweepError
from .execution import Attempt
from .signals import Stopped, stop_signals
from .store import BEAT, Planned, Store, given_up


class Changed(SweepError):
    """A program is another than when the sweep began."""


def check_files(store: Store, made_of: dict[str, dict[str, str]], inside: bool = False) -> None:
    """That all is there and as it was when the sweep began. `inside`: programs may be in an image alone."""
    meta = store.meta
    for role, files in meta["files"].items():
        now = made_of.get(role, {})
        for path, digest in files.items():
            if role == "libraries":  # another machine may have others
                continue
            got = now.get(path)
            if got is None and role in ("umwelt", "programs"):  # the same one elsewhere does as well
                others = {now[one] for one in now if os.path.basename(one) == os.path.basename(path)}
                got = digest if digest in others else next(iter(others), None)
            if got != digest:
                raise Changed(
                    path,
                    f"the file that the sweep began with (sha256 {digest[:12]})",
                    got[:12] if got else "none",
                    "put it back, or begin another sweep: results of two programs do not belong together",
                )
    for program in meta["programs"]:
        if not inside and not provenance.where_is(program):
            raise Changed(
                program,
                "a program, as when the sweep began",
                "none",
                "it may be in the image alone: --slurm" if meta["slurm"].get("image") else "put it back",
            )


def context(store: Store, umwelt: str, image: dict[str, str] | None = None) -> tuple[str, dict[str, Any]]:
    """What results of this process have in common. `image`: the one that they run in, and its hash."""
    meta = store.meta
    made_of = provenance.files(umwelt, meta["programs"], [*meta["inputs"], *meta["other_files"]])
    check_files(store, made_of, image is not None)
    value = {
        "files": made_of | ({"image": image} if image and all(image.values()) else {}),
        "image": next(iter(image)) if image else None,
        "environment": provenance.environment(),
        "umwelt": meta["umwelt"],
        "git": meta["git"],
        "directory": meta["directory"],
    }
    return provenance.key_of(value), value


# What an image has itself.
_OF_IMAGES = {"/", *(a + b for a in ("", "/usr", "/usr/local") for b in ("/bin", "/sbin", "/lib", "/lib64")), "/etc"}


def inside(store: Store) -> list[str]:
    """The command that starts points in an image: what they need of this machine is at the same place there."""
    meta = store.meta
    files = [*meta["inputs"], *meta["other_files"], *(name for name in meta["programs"] if "/" in name)]
    wanted = {str(store.path.resolve()), meta["directory"], os.path.dirname(meta["design"])}
    wanted |= {os.path.dirname(path) for name in files for path in (os.path.abspath(name), os.path.realpath(name))}
    there = sorted(pathlib.Path(name) for name in wanted - _OF_IMAGES if os.path.isdir(name))
    bound = [path for path in there if not any(other in path.parents for other in there)]
    for path in bound:
        if "," in str(path) or ":" in str(path):
            raise SweepError(str(path), "a path that apptainer --bind can take", "',' or ':' in it", "rename it")
    return ["apptainer", "exec", *(f"--bind={path}" for path in bound)]


class Worker:
    def __init__(
        self,
        store: Store,
        umwelt: str,
        job: dict[str, Any] | None = None,
        told: Callable[[Planned, str], None] = lambda point, kind: None,
        image: dict[str, str] | None = None,
        why_stopped: Callable[[int], tuple[str, str]] | None = None,
    ) -> None:
        """`image`: what points run in (Apptainer), and its hash. `why_stopped`: kind and reason of points that a
        signal ended."""
        self._store = store
        self._umwelt = umwelt
        self._told = told
        self._why_stopped = why_stopped
        key, value = context(store, umwelt, image)
        store.share("contexts", key, value)
        machine = provenance.host()
        host = provenance.key_of(machine)
        store.share("hosts", host, machine)
        who: dict[str, Any] = {"host": machine["name"]}
        if job:
            who["job"] = job
        self._shared: dict[str, Any] = {"keys": {"context": key, "host": host}, "who": who}
        if image:
            self._shared |= {"image": next(iter(image)), "inside": inside(store)}
        self._beat = 0.0

    def run(self, points: Iterator[Planned], jobs: int) -> None:
        retries = self._store.meta["run"]["retries"]
        again: deque[Planned] = deque()
        attempts = self._store.attempts()
        running: dict[int, Attempt] = {}
        with stop_signals() as stopped:
            poll = select.poll()
            poll.register(stopped.descriptor, select.POLLIN)  # type: ignore[attr-defined]
            try:
                while not stopped():
                    while len(running) < jobs and (point := next(points, None) or (again and again.popleft())):
                        if not self._store.result_path(point.number).exists():  # somebody else may have been faster
                            attempt = Attempt(self._store, point, self._umwelt, self._shared)
                            running[attempt.descriptor] = attempt
                            poll.register(attempt.descriptor, select.POLLIN)
                    if not running:
                        return
                    for descriptor in self._ended(poll, running):
                        if stopped():  # the signal may have been for the runs, too
                            break
                        attempt = running.pop(descriptor)
                        poll.unregister(descriptor)
                        kind = attempt.finish()
                        self._told(attempt.point, kind)
                        if kind not in ("completed", "twice"):
                            known = attempts.setdefault(attempt.point.number, [])
                            known.append({"kind": kind})
                            if not given_up(known, retries) and not self._too_small(attempt, kind):
                                again.append(attempt.point)
                raise Stopped(stopped())
            finally:
                self._end(running, stopped())

    def _too_small(self, attempt: Attempt, kind: str) -> bool:
        """A task of Slurm that has too little memory has that the next time, too: the collector asks for more."""
        return kind == "memory" and "job" in self._shared["who"] and not attempt.by_limit

    def _ended(self, poll: select.poll, running: dict[int, Attempt]) -> list[int]:
        now = time.monotonic()
        if now >= self._beat:
            self._beat = now + BEAT
            for attempt in running.values():
                attempt.beat()
        times = [self._beat]
        times += [when for attempt in running.values() if (when := attempt.tend()) is not None]
        patience = max(0.0, min(times) - time.monotonic()) * 1000 + 1
        return [descriptor for descriptor, _ in poll.poll(patience) if descriptor in running]

    def _end(self, running: dict[int, Attempt], number: int) -> None:
        """Whatever still runs is ended, and not said to have failed."""
        for attempt in running.values():
            attempt.stop("interrupted")
        if running and number and self._why_stopped:
            why = self._why_stopped(number)  # while they end
            for attempt in running.values():
                attempt.why_interrupted = why
        poll = select.poll()
        for descriptor in running:
            poll.register(descriptor, select.POLLIN)
        while running:
            for attempt in running.values():
                attempt.tend()
            for descriptor, _ in poll.poll(100):
                poll.unregister(descriptor)
                attempt = running.pop(descriptor)
                with contextlib.suppress(SweepError):
                    attempt.finish()
