# SPDX-License-Identifier: LGPL-2.1-or-later
"""Ctrl-C, SIGTERM and SIGHUP: they end a sweep, which first ends its runs and takes away what it has begun to write."""
from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator


class Stopped(Exception):
    """By a signal."""

    def __init__(self, number: int) -> None:
        super().__init__(f"signal {number}")
        self.number = number


def heeded() -> list[int]:
    """Signals that stop a sweep; not those that whoever started it has it ignore (nohup)."""
    ours = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    return [number for number in ours if signal.getsignal(number) is not signal.SIG_IGN]


@contextlib.contextmanager
def stop_signals() -> Iterator[Callable[[], int]]:
    """Tells which of Ctrl-C, SIGTERM and SIGHUP has come, if any; poll(2) is woken by them."""
    come: list[int] = []
    reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    before = {number: signal.signal(number, lambda got, _: come.append(got)) for number in heeded()}
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


def raise_signals() -> None:
    """They come as exceptions, for all but who runs points (stop_signals)."""

    def stop(number: int, frame: object) -> None:
        raise Stopped(number)

    for number in heeded():
        signal.signal(number, stop)
