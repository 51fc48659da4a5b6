# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files that are there as a whole or not at all, whatever happens meanwhile: written under another name, brought to
the disk, then given their own."""
from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import pathlib
import socket
from typing import Any

from .errors import FAILURE, SweepError

_counter = itertools.count()


def commit(path: pathlib.Path, content: bytes, replace: bool = False) -> bool:
    """False if somebody else's file of that name was there first, which stays as it is (unless `replace`): nothing is
    counted twice."""
    temporary = path.with_name(f".{path.name}.{socket.gethostname()}.{os.getpid()}.{next(_counter)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            os.replace(temporary, path)
        elif not _give_name(temporary, path):
            return False
        _sync_directory(path.parent)
        return True
    except OSError as error:
        raise SweepError(
            str(path),
            "it to be written",
            error.strerror or str(error),
            "make room or give permission, then umwelt sweep --resume: nothing is lost",
            FAILURE,
        ) from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def commit_json(path: pathlib.Path, value: Any, replace: bool = False) -> bool:
    return commit(path, json.dumps(value, separators=(",", ":"), sort_keys=True).encode(), replace)


def _give_name(temporary: pathlib.Path, path: pathlib.Path) -> bool:
    """link(2) refuses a name that is taken, rename(2) does not; where there are no hard links the latter has to do."""
    try:
        os.link(temporary, path)
        return True
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK):
            raise
    if path.exists():
        return False
    os.rename(temporary, path)
    return True


def _sync_directory(path: pathlib.Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_json(path: pathlib.Path) -> Any:
    """Nothing if it is not there or not whole: a machine that lost power may leave such a file."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
