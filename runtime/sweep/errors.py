# SPDX-License-Identifier: LGPL-2.1-or-later
"""What can go wrong, and exit codes: those of runtime/base/exit_codes.h, so that all of Umwelt's commands agree."""
from __future__ import annotations

import difflib
from collections.abc import Iterable

OK = 0
CHANGED = 1  # `check`: something is different
INCOMPLETE = 3  # points are missing or failed
USAGE = 121
FAILURE = 125


class SweepError(Exception):
    """An error that is told in one piece: object, what was expected, what is there, the next step."""

    def __init__(self, what: str, expected: str, got: str, step: str = "", code: int = USAGE) -> None:
        text = f"{what}: expected {expected}, got {got}"
        super().__init__(text + (f". Next step: {step}" if step else ""))
        self.code = code


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that looks most like `word`; empty if none does."""
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return found[0] if found else ""


def unknown(what: str, word: str, known: Iterable[str], kind: str) -> SweepError:
    names = sorted(known)
    close = nearest(word, names)
    step = f"the nearest known one is '{close}'" if close else f"known are: {', '.join(names)}"
    return SweepError(what, f"a known {kind}", f"'{word}'", step)


def plural(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"
