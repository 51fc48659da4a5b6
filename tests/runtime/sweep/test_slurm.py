# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sweeps by a real Slurm, of this machine alone."""
import os
import subprocess
import unittest

from cluster import cluster, missing
from faults import simulated
from support import DESIGN, Case

from sweep.store import Store


@unittest.skipIf(missing(), missing())
class Slurm(Case):
    @classmethod
    def setUpClass(cls) -> None:
        cls.cluster = cls.enterClassContext(cluster())

    def setUp(self) -> None:
        super().setUp()
        self.environment = {**self.cluster.environment, "STAND_IN_LOG": str(self.log)}
        self.store = Store(self.directory / "design.sweep")

    def submissions(self) -> int:
        return len(list((self.store.path / "slurm").glob("*.sh")))

    def test_two_submissions_and_the_same_bits_as_without(self):
        self.design(DESIGN + "replicates: 3\nslurm: {tasks: 4, at_once: 2}\n")
        done = self.sweep("design.yaml", "--slurm", "--wait")
        self.assertIn("18 points in 4 tasks", done.stdout)
        self.assertIn("18 of 18 points completed", done.stdout)
        self.assertEqual(self.submissions(), 2)
        self.sweep("design.yaml", "-o", "here")
        self.assertEqual(simulated(self.store.path), simulated(self.directory / "here"))

    def test_failed_points_are_told_and_others_complete(self):
        self.design("program: ./app\narguments: '{what}'\nfactors: {what: [a, b, fail, deadlock]}\n"
                    "run: {retries: 1}\nslurm: {tasks: 2}\n")  # fmt: skip
        done = self.sweep("design.yaml", "--slurm", "--wait", code=3)
        self.assertIn("2 of 4 points completed, 1 deadlock, 1 failed", done.stdout)
        self.assertEqual(self.submissions(), 2)

    def test_nothing_else_while_slurm_has_jobs(self):
        self.design("program: ./app\narguments: '{what}'\nfactors: {what: [slow, ok]}\nslurm: {tasks: 1}\n"
                    "run: {timeout: 50, retries: 0}\n")  # fmt: skip
        self.environment["STAND_IN_SECONDS"] = "3"
        self.sweep("design.yaml", "--slurm", "--dry-run", "--no-first-runs")
        self.design((self.directory / "design.yaml").read_text().replace("tasks: 1", "tasks: 1, time: 5, memory: 9MiB"))
        self.sweep("design.yaml", "--slurm")
        done = self.sweep("--resume", "design.sweep", code=121)
        self.assertIn("expected no jobs of this sweep with Slurm, got job", done.stderr)
        name = done.stderr.split("scancel --name=")[1].split()[0].rstrip(")")
        subprocess.run(["scancel", f"--name={name}"], env=self.environment, check=True)
        while subprocess.run(["squeue", "--noheader"], env=self.environment, capture_output=True, check=True).stdout:
            pass
        self.sweep("--resume", "design.sweep", "-j", 2, code=3)
        self.assertEqual(len(self.store.completed()), 1)

    def test_jobs_that_slurm_holds_are_told(self):
        self.design(DESIGN + "slurm: {tasks: 1, time: 60, memory: 9MiB, options: [--hold]}\n")
        self.sweep("design.yaml", "--slurm")
        done = self.sweep("status", "design.sweep", code=3)
        self.assertRegex(done.stdout, r"Slurm: 2 held \(JobHeldUser\); scontrol release")
        subprocess.run(["scancel", "--me"], env=self.environment, check=True)

    def test_a_job_that_slurm_refuses(self):
        self.design(DESIGN + "slurm: {partition: none, tasks: 2, time: 60, memory: 9MiB}\n")
        done = self.sweep("design.yaml", "--slurm", code=125)
        self.assertIn("sbatch: expected Slurm to take it, got sbatch: error: invalid partition specified: none",
                      done.stderr)  # fmt: skip


class NoSlurm(Case):
    def test_is_said(self):
        self.design()
        self.environment["PATH"] = os.path.dirname(os.__file__)
        done = self.sweep("design.yaml", "--slurm", code=121)
        self.assertIn("sbatch: expected Slurm's command in PATH, got none", done.stderr)


if __name__ == "__main__":
    unittest.main()
