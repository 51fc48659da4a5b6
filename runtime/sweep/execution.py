# SPDX-License-Identifier: LGPL-2.1-or-later
"""One attempt at a point: a process of `umwelt run` in a directory of its own, and what became of it."""
from __future__ import annotations

import contextlib
import ctypes
import os
import pathlib
import shutil
import signal
import subprocess
import time
from typing import Any

from . import metrics, provenance
from .commit import read_json
from .errors import FAILURE, SweepError
from .points import fill
from .store import Planned, Store

_GRACE = 5.0  # seconds between SIGTERM and SIGKILL
_ROOM = 1 << 20  # bytes
_READ = 1 << 16  # bytes of standard error, from either end
_LOOK = 0.5  # seconds between two looks at memory
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)
# Umwelt's exit codes (runtime/base/exit_codes.h) and what they mean for a sweep.
_KINDS = {
    121: "wrong_use",
    122: "deadlock",
    124: "timeout",
    125: "umwelt_failed",
    126: "wrong_use",
    127: "not_found",
    137: "killed",
}


def _die_with_parent() -> None:
    """In the child: a sweep that is killed leaves no runs behind. SIGTERM lets Umwelt clean up."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _oom_kills() -> int:
    with contextlib.suppress(OSError):
        for line in pathlib.Path("/proc/vmstat").read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0


def _memory(session: int) -> int:
    """Bytes of all processes of a session; what they share counts once, for the one who has most of it."""
    own = shared = 0
    page = os.sysconf("SC_PAGE_SIZE")
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                if os.getsid(int(entry.name)) != session:
                    continue
                resident, common = (int(word) for word in pathlib.Path(entry.path, "statm").read_text().split()[1:3])
                own += resident - common
                shared = max(shared, common)
    return (own + shared) * page


def told(errors: str) -> str:
    """The line of standard error that says what went wrong: the first that Umwelt itself wrote, else the last one."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    own = (line for line in lines if line.startswith("umwelt") or ": expected " in line)
    return next(own, lines[-1] if lines else "")


def _last(path: pathlib.Path) -> str:
    """The last lines of standard error; before them the one that says what went wrong, if that is not among them."""
    with open(path, "rb") as file:
        begin = file.read(_READ)
        file.seek(max(len(begin), os.fstat(file.fileno()).st_size - _READ))
        text = (begin + file.read(_READ)).decode(errors="replace").strip()
    last = "\n".join(text.splitlines()[-20:])[-4000:]
    line = told(text)[:1000]
    return last if line in last else f"{line}\n...\n{last}"


def _check_room(path: pathlib.Path) -> None:
    """A run that finds the disk full would count as failed, and is not at fault."""
    there = os.statvfs(path)
    if there.f_bavail * there.f_frsize < _ROOM or (there.f_files and not there.f_favail):
        raise SweepError(
            str(path),
            f"room for a point ({_ROOM:,} bytes)",
            f"{there.f_bavail * there.f_frsize:,}",
            "make room, then umwelt sweep --resume: nothing is lost",
            FAILURE,
        )


class Attempt:
    def __init__(self, store: Store, point: Planned, umwelt: str, shared: dict[str, Any]) -> None:
        meta = store.meta
        _check_room(store.path)
        self.point = point
        self._store = store
        self._meta = meta
        self._shared = shared  # context, host, job, image
        self._limit = meta["run"]["memory"]
        self._timeout = meta["run"]["timeout"]
        self._stopped: str | None = None
        self.why_interrupted = ("interrupted", "stopped from outside")  # kind and reason, if it is
        self._kill_at: float | None = None
        self._look_at = 0.0
        self._peak = 0
        self._ooms = _oom_kills()
        self._began = time.time()
        self._clock = time.monotonic()
        self._load = provenance.load()
        self._marker = store.begin(point.number, {"began": self._began, "who": shared["who"]})
        self.directory = store.path / "work" / self._marker.name
        # Umwelt is in the image, too, wherever it lies there.
        inside = shared.get("inside")
        start = [*inside, f"--pwd={self.directory.resolve()}", shared["image"], "umwelt"] if inside else [umwelt]
        self.command = [*start, "run", "--quiet", "--report", "report.json", *point.arguments]
        self._prepare()
        with open(self._out, "wb") as out, open(self._err, "wb") as err, open(os.devnull, "rb") as nothing:
            self._process = subprocess.Popen(
                self.command,
                stdin=nothing,
                stdout=out,
                stderr=err,
                cwd=self.directory,
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )
        self.descriptor = os.pidfd_open(self._process.pid)

    def _prepare(self) -> None:
        """The point's directory, with templates filled and inputs linked."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self._out, self._err = (self.directory / f".umwelt-{name}" for name in ("output", "errors"))
        values = {
            **self.point.levels,
            "seed": str(self.point.seed),
            "replicate": str(self.point.replicate),
            "point": str(self.point.number),
        }
        for name, text in self._meta["templates"].items():
            path = self.directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(fill(text, values), encoding="utf-8")
        for name in self._meta["inputs"]:
            (self.directory / pathlib.Path(name).name).symlink_to(name)

    def beat(self) -> None:
        """Whoever sees only the files sees by this that somebody runs it (Store.fresh)."""
        with contextlib.suppress(OSError):
            os.utime(self._marker)

    @property
    def by_limit(self) -> bool:
        """Whether it was ended by a limit of the design."""
        return self._stopped in ("timeout", "memory")

    def tend(self) -> float | None:
        """Limits of time and memory; tells when to look again."""
        now = time.monotonic()
        if self._kill_at is not None:
            if now >= self._kill_at:
                self._signal(signal.SIGKILL)
                return None
            return self._kill_at
        if self._timeout is not None and now - self._clock >= self._timeout:
            return self.stop("timeout")
        if now >= self._look_at:
            # Young processes grow fast; whoever has run for minutes is looked at less often.
            self._look_at = now + max(_LOOK if self._limit is None else 0.1, (now - self._clock) / 50)
            self._peak = max(self._peak, _memory(self._process.pid))
            if self._limit is not None and self._peak > self._limit:
                return self.stop("memory")
        times = [self._look_at] if self._timeout is None else [self._look_at, self._clock + self._timeout]
        return min(times)

    def stop(self, why: str) -> float:
        self._stopped = self._stopped or why
        self._signal(signal.SIGTERM)
        self._kill_at = time.monotonic() + _GRACE
        return self._kill_at

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def finish(self) -> str:
        """When the process has ended: what became of it is committed. Tells the kind."""
        _, status, usage = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        os.close(self.descriptor)
        self._signal(signal.SIGKILL)  # whatever is left of its group
        self._peak = max(self._peak, usage.ru_maxrss * 1024)
        wall = time.monotonic() - self._clock
        code = self._process.returncode
        entry: dict[str, Any] = {
            "point": self.point.number,
            "began": self._began,
            "ended": time.time(),
            **self._shared["keys"],
            "who": self._shared["who"],
            "exit_code": code,
            "host_metrics": {
                "wall_s": wall,
                "cpu_s": usage.ru_utime + usage.ru_stime,
                "memory": self._peak,
                **{f"host.{key}": value for key, value in self._load.items()},
            },
        }
        kind, reason, found = self._outcome(code)
        if found is None:
            if self._stopped == "interrupted":
                kind, reason = self.why_interrupted
            if self._stopped == "memory":
                entry["limit"] = self._limit
            self._commit_failure(entry, kind, reason)
            return kind
        entry["host_metrics"] |= found.pop("host_metrics")
        if self._meta["run"]["keep"]:
            self._keep(self._meta["run"]["keep"])
        kind = "completed" if self._store.commit_result(self.point.number, {**entry, **found}) else "twice"
        self._clear()
        return kind

    def _outcome(self, code: int) -> tuple[str, str, dict[str, Any] | None]:
        if self._stopped == "timeout":
            return "timeout", f"it ran longer than {self._timeout:g} s", None
        if self._stopped == "memory":
            return "memory", f"it had {self._peak:,} bytes, more than {self._limit:,}", None
        if code != 0:
            if code in (-9, 137) and _oom_kills() > self._ooms:
                return "memory", "the kernel killed it: this machine was out of memory", None
            kind = "killed" if code < 0 else _KINDS.get(code, "failed")
            return kind, f"signal {-code}" if code < 0 else f"exit code {code}", None
        report = read_json(self.directory / "report.json")
        if not isinstance(report, dict) or report.get("ending") != "completed":
            return "no_report", "exit code 0, but the report does not say that it completed", None
        try:
            output = self._out.read_text(errors="replace") if self._meta["metrics"] else ""
            printed = metrics.printed(self._meta["metrics"], output)
        except metrics.Missing as problem:
            return "no_metric", str(problem), None
        return (
            "completed",
            "",
            {
                "metrics": {**metrics.of_report(report), **printed},
                "host_metrics": metrics.of_host(report),
                "functions": metrics.functions(report),
                "pairs": metrics.pairs(report),
                "links": metrics.links(report),
            },
        )

    def _commit_failure(self, entry: dict[str, Any], kind: str, reason: str) -> None:
        with contextlib.suppress(OSError):
            entry["errors"] = _last(self._err)
        self._store.commit_failure(self.point.number, {**entry, "kind": kind, "reason": reason})
        self._clear()

    def _keep(self, what: list[str]) -> None:
        target = self._store.kept(self.point.number)
        target.mkdir(parents=True, exist_ok=True)
        wanted = {
            "report": ["report.json"],
            "output": [self._out.name, self._err.name],
            "files": [entry.name for entry in os.scandir(self.directory) if not entry.name.startswith(".umwelt-")],
        }
        for name in {name for one in what for name in wanted[one]}:
            source = self.directory / name
            if source.is_symlink() or not source.exists():
                continue
            if source.is_dir():
                shutil.copytree(source, target / name, symlinks=True, dirs_exist_ok=True)
            else:
                shutil.copyfile(source, target / name.removeprefix(".umwelt-"))

    def _clear(self) -> None:
        """The marker goes last: what it stands for is committed."""
        shutil.rmtree(self.directory, ignore_errors=True)
        with contextlib.suppress(FileNotFoundError):
            self._marker.unlink()
