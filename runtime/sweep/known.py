# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the installed Umwelt knows: options of `umwelt run`, parameters of models and platforms. Asked from the command
itself, so that nothing has to be kept in step with it."""
from __future__ import annotations

import functools
import json
import re
import subprocess
from dataclasses import dataclass

from .errors import FAILURE, SweepError

# What a point decides for itself, or what would make it another program.
RESERVED = {
    "report": "each point has a report of its own",
    "repeat": "say `replicates:`",
    "help": "say `umwelt run --help`",
    "h": "say `umwelt run --help`",
    "version": "say `umwelt --version`",
    "V": "say `umwelt --version`",
    "x": "say `environment:`",
    "wdir": "each point has a directory of its own; say `templates:` and `inputs:`",
    "wd": "each point has a directory of its own; say `templates:` and `inputs:`",
    "timeout": "say `run: {timeout: ...}`",
    "ctl": "nobody is there to ask",
    "o": "it is of `umwelt kernels`",
    "output": "it is of `umwelt kernels`",
    "force": "it is of `umwelt kernels`",
    "least": "it is of `umwelt kernels`",
    "functions": "it is of `umwelt kernels`",
}
_LINE = re.compile(r"^  (-{1,2}[a-zA-Z][\w-]*(?:, -{1,2}[a-zA-Z][\w-]*)*)(.*)$")


@dataclass(frozen=True)
class Umwelt:
    """The command, and what it says of itself."""

    path: str

    def say(self, *arguments: str) -> str:
        try:
            done = subprocess.run([self.path, *arguments], capture_output=True, text=True, timeout=60, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SweepError(self.path, "the command umwelt", str(error), "install Umwelt again", FAILURE) from None
        if done.returncode != 0:
            raise SweepError(
                f"{self.path} {' '.join(arguments)}",
                "an answer",
                done.stderr.strip() or f"exit code {done.returncode}",
                "umwelt doctor",
                FAILURE,
            )
        return done.stdout

    @functools.cached_property
    def version(self) -> str:
        return self.say("--version").strip()

    @functools.cached_property
    def options(self) -> dict[str, int]:
        """Names without dashes, and how many values each takes."""
        found: dict[str, int] = {}
        for line in self.say("run", "--help").splitlines():
            if match := _LINE.match(line):
                values = (
                    2
                    if match[2].startswith(" KEY VALUE")
                    else int(match[2][:1] == " " and match[2][1:2] not in ("", " "))
                )
                for name in match[1].split(","):
                    found.setdefault(name.strip().lstrip("-"), values)
        return found

    @functools.cached_property
    def models(self) -> dict[str, dict[str, str]]:
        """Of every model, and of the nodes ('node'): parameters and their defaults."""
        return {
            entry["name"]: {p["key"]: str(p["default"]) for p in entry.get("parameters", [])}
            for entry in json.loads(self.say("models", "--json"))
        }

    @functools.cached_property
    def platforms(self) -> dict[str, dict[str, str]]:
        return {
            entry["name"]: dict(word.partition("=")[::2] for word in entry["parameters"].split())
            for entry in json.loads(self.say("platforms", "--json"))
        }
