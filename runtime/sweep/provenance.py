# SPDX-License-Identifier: LGPL-2.1-or-later
"""What one needs to know to repeat a point: which files it was made of, on what machine it ran."""
from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pathlib
import platform
import re
import shutil
import socket
import subprocess
from collections.abc import Iterable
from typing import Any

# Variables that programs, MPI libraries and Umwelt look at.
_MATTERS = re.compile(
    r"(OMPI_|OPAL_|PMIX_|PMI_|MPICH_|MPIR_|UCX_|UMWELT_|OMP_|GOMP_|KMP_|OPENBLAS_|MKL_|BLIS_|LD_|"
    r"GLIBC_TUNABLES|MALLOC_|PYTHON|LANG$|LC_|PATH$|TMPDIR$|SHELL$)"
)


def hash_file(path: pathlib.Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def key_of(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def environment() -> dict[str, str]:
    return {name: value for name, value in sorted(os.environ.items()) if _MATTERS.match(name)}


def _said(*command: str, cwd: pathlib.Path | None = None) -> str:
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=20, check=False, cwd=cwd, errors="replace"
        )
        if done.returncode == 0:
            return done.stdout
    return ""


def libraries(program: pathlib.Path) -> list[pathlib.Path]:
    """Shared libraries as the dynamic linker finds them now; none of a script."""
    found: list[pathlib.Path] = []
    with open(program, "rb") as file:
        if file.read(4) != b"\x7fELF":
            return found
    for line in _said("ldd", str(program)).splitlines():
        if match := re.search(r"(?:=>\s*|^\s*)(/\S+) \(0x", line):
            found.append(pathlib.Path(match[1]).resolve())
    return found


def where_is(name: str) -> str | None:
    """Where a program is: in PATH, or there."""
    return shutil.which(name) or (name if pathlib.Path(name).is_file() else None)


def files(umwelt: str, programs: Iterable[str], inputs: Iterable[str]) -> dict[str, dict[str, str]]:
    """SHA-256 of everything that decides what comes out: role, then path and hash."""
    command = pathlib.Path(umwelt)
    parts = {command, *(command.resolve().parent.parent / "lib" / "umwelt").glob("*.so*")}
    roles: dict[str, set[pathlib.Path]] = {"umwelt": parts, "programs": set(), "libraries": set(), "inputs": set()}
    for name in programs:
        if found := where_is(name):
            roles["programs"].add(pathlib.Path(found))
    for program in (*roles["programs"], command):
        roles["libraries"] |= set(libraries(program))
    roles["inputs"] |= {pathlib.Path(name) for name in inputs}
    return {
        role: {str(path): hash_file(path) for path in sorted(paths) if path.is_file()} for role, paths in roles.items()
    }


def git(directory: pathlib.Path) -> dict[str, Any] | None:
    revision = _said("git", "rev-parse", "HEAD", cwd=directory).strip()
    if not revision:
        return None
    changed = _said("git", "status", "--porcelain", "--untracked-files=no", cwd=directory)
    return {"revision": revision, "changed": bool(changed.strip())}


def host() -> dict[str, Any]:
    """The machine, as far as it stays the same."""
    processor = ""
    with contextlib.suppress(OSError):
        if match := re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M):
            processor = match[1]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "name": socket.gethostname(),
        "processor": processor,
        "processors": os.cpu_count(),
        "memory": memory,
        "kernel": platform.release(),
        "lstopo": _said("lstopo", "--of", "xml", "-") or None,
    }


def load() -> dict[str, float]:
    """The machine at this moment: load of the last minute, frequency of its processors (MHz)."""
    found = {"load": os.getloadavg()[0]}
    with contextlib.suppress(OSError):
        rates = [
            float(text) for text in re.findall(r"^cpu MHz\s*: (\S+)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
        ]
        if rates:
            found["mhz"] = round(sum(rates) / len(rates), 1)
    return found
