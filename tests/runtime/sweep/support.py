# SPDX-License-Identifier: LGPL-2.1-or-later
"""What tests of `umwelt sweep` have in common. $UMWELT_SWEEP is the directory of the package; without it that of the
source tree is taken."""
from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = pathlib.Path(os.environ.get("UMWELT_SWEEP", HERE.parents[2] / "runtime" / "sweep"))
STAND_IN = HERE / "stand_in.py"
sys.dont_write_bytecode = True
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(PACKAGE.parent))

from sweep.errors import SweepError  # noqa: E402
from sweep.known import Umwelt  # noqa: E402

UMWELT = Umwelt(str(STAND_IN))  # what it says of itself is asked once

DESIGN = """\
program: ./app
arguments: "{size}"
options: {np: "{ranks}", cpu: none}
factors:
  ranks: [2, 4]
  size: [8, 16, 32]
"""


class Case(unittest.TestCase):
    """With a directory of its own, and a program `app` in it that is never run."""

    def setUp(self) -> None:
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="umwelt-sweep-test-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        program = self.write("app", "#!/bin/sh\n")
        program.chmod(0o755)
        self.log = self.directory / "log"
        self.umwelt = UMWELT
        self.environment = {**os.environ, "STAND_IN_LOG": str(self.log)}

    def write(self, name: str, text: str) -> pathlib.Path:
        path = self.directory / name
        path.write_text(text, encoding="utf-8")
        return path

    def design(self, text: str = DESIGN) -> pathlib.Path:
        return self.write("design.yaml", text)

    def command(self, *words: object) -> list[str]:
        return [sys.executable, "-B", str(PACKAGE), str(STAND_IN), *(str(word) for word in words)]

    def sweep(self, *words: object, code: int | None = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(self.command(*words), cwd=self.directory, env=self.environment, capture_output=True,
                              text=True, check=False, stdin=subprocess.DEVNULL)  # fmt: skip
        if code is not None:
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def runs(self) -> list[str]:
        """What the stand-in was asked to run, so far."""
        return self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []

    def fails(self, pattern: str, function, *arguments) -> None:
        with self.assertRaisesRegex(SweepError, pattern):
            function(*arguments)
