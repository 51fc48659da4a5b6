# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs points one after the other, several at a time: the same here and in a task of Slurm. One thread, one poll(2):
runs are processes, and a signal that asks them to die with this one (execution.py) goes by thread."""
from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from . import provenance
from .errors import SweepError
from .execution import Attempt
from .store import Planned, Store, given_up


class Stopped(Exception):
    """By a signal."""

    def __init__(self, number: int) -> None:
        super().__init__(f"signal {number}")
        self.number = number


@contextlib.contextmanager
def stop_signals() -> Iterator[Callable[[], int]]:
    """Tells which of Ctrl-C, SIGTERM and SIGHUP has come, if any; poll(2) is woken by them."""
    come: list[int] = []
    reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    before = {
        number: signal.signal(number, lambda got, _: come.append(got))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    woken = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)

    def number() -> int:
        return come[0] if come else 0

    number.descriptor = reader  # type: ignore[attr-defined]
    try:
        yield number
    finally:
        signal.set_wakeup_fd(woken)
        for one, handler in before.items():
            signal.signal(one, handler)
        os.close(reader)
        os.close(writer)


class Changed(SweepError):
    """A program is another than when the sweep began."""


def context(store: Store, umwelt: str) -> tuple[str, dict[str, Any]]:
    """What results of this process have in common."""
    meta = store.meta
    made_of = provenance.files(umwelt, meta["programs"], [*meta["inputs"], *meta["other_files"]])
    for role, files in meta["files"].items():
        for path, digest in files.items():
            now = made_of.get(role, {}).get(path)
            if now is not None and now != digest and role != "libraries":
                raise Changed(
                    path,
                    f"the file that the sweep began with (sha256 {digest[:12]})",
                    f"{now[:12]}",
                    "put it back, or begin another sweep: results of two programs do not belong together",
                )
    value = {
        "files": made_of,
        "environment": provenance.environment(),
        "umwelt": meta["umwelt"],
        "git": meta["git"],
        "directory": meta["directory"],
    }
    return provenance.key_of(value), value


class Worker:
    def __init__(
        self,
        store: Store,
        umwelt: str,
        job: dict[str, Any] | None = None,
        told: Callable[[Planned, str], None] = lambda point, kind: None,
    ) -> None:
        self._store = store
        self._umwelt = umwelt
        self._told = told
        key, value = context(store, umwelt)
        store.share("contexts", key, value)
        machine = provenance.host()
        host = provenance.key_of(machine)
        store.share("hosts", host, machine)
        who: dict[str, Any] = {"host": machine["name"]}
        if job:
            who["job"] = job
        self._shared = {"keys": {"context": key, "host": host}, "who": who}

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
                        attempt = running.pop(descriptor)
                        poll.unregister(descriptor)
                        kind = attempt.finish()
                        self._told(attempt.point, kind)
                        if kind not in ("completed", "twice"):
                            known = attempts.setdefault(attempt.point.number, [])
                            known.append({"kind": kind})
                            if not given_up(known, retries):
                                again.append(attempt.point)
                raise Stopped(stopped())
            finally:
                self._end(running)

    @staticmethod
    def _ended(poll: select.poll, running: dict[int, Attempt]) -> list[int]:
        times = [when for attempt in running.values() if (when := attempt.tend()) is not None]
        patience = max(0.0, min(times) - time.monotonic()) * 1000 + 1 if times else 1000.0
        return [descriptor for descriptor, _ in poll.poll(patience) if descriptor in running]

    @staticmethod
    def _end(running: dict[int, Attempt]) -> None:
        """Whatever still runs is ended, and not said to have failed."""
        for attempt in running.values():
            attempt.stop("interrupted")
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
