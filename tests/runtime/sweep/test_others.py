# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files for other tools (runtime/sweep/others): what they make of points is what `umwelt run` says of them."""
from __future__ import annotations

import csv
import json
import shutil
import subprocess
import unittest

from support import HERE, STAND_IN, Case

FILES = HERE.parents[2] / "runtime" / "sweep" / "others"
POINTS = [(ranks, size) for ranks in (2, 4) for size in (8, 1024)]


def needs(tool: str):
    return unittest.skipUnless(shutil.which(tool), f"no {tool}")


class Others(Case):
    def setUp(self) -> None:
        super().setUp()
        # Some of these tools write below the home directory.
        self.environment |= {"UMWELT": str(STAND_IN), "UMWELT_PROGRAM": str(self.directory / "app"),
                             "HOME": str(self.directory)}  # fmt: skip

    def call(self, *words: object) -> str:
        done = subprocess.run([str(word) for word in words], cwd=self.directory, env=self.environment,
                              capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def expected(self) -> list[list[int]]:
        """The table as the command itself makes it."""
        rows = []
        for ranks, size in POINTS:
            self.call(STAND_IN, "run", "--quiet", "--cpu", "none", "-np", ranks, "--report", "report.json",
                      self.environment["UMWELT_PROGRAM"], size)  # fmt: skip
            report = json.loads((self.directory / "report.json").read_text(encoding="utf-8"))
            rows.append([ranks, size, report["simulated_ps"], report["totals"]["messages"]])
        return rows

    @staticmethod
    def rows(text: str) -> list[list[int]]:
        return sorted([int(cell) for cell in row] for row in list(csv.reader(text.split()))[1:])

    @needs("snakemake")
    def test_snakemake(self):
        settings = [f"umwelt={STAND_IN}", f"program={self.environment['UMWELT_PROGRAM']}", "ranks=2,4", "sizes=8,1024"]
        self.call("snakemake", "--snakefile", FILES / "Snakefile", "--cores", "2", "--config", *settings)
        self.assertEqual(self.rows((self.directory / "results.csv").read_text(encoding="utf-8")), self.expected())

    @needs("jube")
    def test_jube(self):
        shutil.copy(FILES / "jube.yaml", self.directory)
        self.call("jube", "run", "jube.yaml")
        table = self.call("jube", "result", "runs", "--analyse")
        self.assertEqual(self.rows(table[table.index("ranks,size") :]), self.expected())

    @needs("reframe")
    def test_reframe(self):
        ranks, size = POINTS[-1]
        file = FILES / "reframe_umwelt.py"
        output = self.call("reframe", "--config-file", file, "--checkpath", file, "--run",
                           "--setvar", f"program={self.environment['UMWELT_PROGRAM']}",
                           "--setvar", f"ranks={ranks}", "--setvar", f"size={size}")  # fmt: skip
        self.assertIn(f"simulated: {self.expected()[-1][2]} ps", output)


if __name__ == "__main__":
    unittest.main()
