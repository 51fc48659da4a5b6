# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sweeps by a real Slurm, of this machine alone."""
import itertools
import json
import os
import shutil
import signal
import subprocess
import time
import unittest
from unittest import mock

from cluster import cluster, missing
from faults import simulated
from support import DESIGN, STAND_IN, Case

from sweep import execution
from sweep.store import Store
from sweep.worker import Worker


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

    def test_a_directory_whose_name_slurm_takes_for_a_pattern(self):
        self.design(DESIGN + "slurm: {tasks: 1, time: 60, memory: 9MiB}\n")
        self.sweep("design.yaml", "-o", "100%j%%a", "--slurm", "--wait")
        logs = sorted(path.name for path in (self.directory / "100%j%%a" / "slurm").glob("*.out"))
        self.assertEqual(logs, ["1.0.out", "1.collector.out"])

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


FAKES = {
    "sbatch": 'for word; do echo "$word"; done >>sbatch.log; echo 7',
    "squeue": "cat squeue.txt",
    "scontrol": "cat scontrol.txt",
    # The image is the last word before "umwelt", which is in there.
    "apptainer": 'echo "$PWD $@" >>apptainer.log; while [ "$1" != umwelt ]; do shift; done; exec "$@"',
}


class Asked(Case):
    """What Slurm and Apptainer are asked, by stand-ins for them; no daemons."""

    def setUp(self) -> None:
        super().setUp()
        (self.directory / "bin").mkdir()
        for name, text in FAKES.items():
            self.write(f"bin/{name}", f"#!/bin/sh\nhere={self.directory}\n{self._placed(text)}\n").chmod(0o755)
        (self.directory / "bin" / "umwelt").symlink_to(STAND_IN)
        self.write("squeue.txt", "")
        self.write("scontrol.txt", "JobState=COMPLETING Reason=None")
        self.environment["PATH"] = f"{self.directory}/bin:{self.environment['PATH']}"
        self.environment |= {"SLURM_JOB_ID": "7", "SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": "0"}
        self.store = Store(self.directory / "design.sweep")

    @staticmethod
    def _placed(text: str) -> str:
        for name in ("sbatch.log", "squeue.txt", "scontrol.txt", "apptainer.log"):
            text = text.replace(name, f'"$here/{name}"')
        return text

    def asked(self, option: str) -> list[str]:
        """Values of an option of sbatch, of all submissions."""
        lines = (self.directory / "sbatch.log").read_text(encoding="utf-8").splitlines()
        return [line.partition("=")[2] for line in lines if line.startswith(f"--{option}=")]

    def failed(self, kind: str, **more: object) -> None:
        who = {"job": {"id": "7", "task": 0, "restart": 0}}
        for number in range(6):
            self.store.commit_failure(number, {"point": number, "kind": kind, "who": who, **more})

    def test_memory_for_all_points_at_once_doubles_when_it_was_too_little(self):
        self.design(DESIGN + "run: {jobs: 4, retries: 9}\nslurm: {cpus: 3}\n")
        self.sweep("design.yaml", "--slurm")
        self.failed("memory")
        self.sweep("--resume", "design.sweep", "--slurm")
        self.failed("memory")
        self.failed("memory", limit=1)  # one of the design, which Slurm has no part in
        self.sweep("--resume", "design.sweep", "--slurm")
        self.assertEqual(self.asked("mem"), ["768M", "1536M", "3072M"])
        self.assertEqual(set(self.asked("cpus-per-task")), {"3"})

    def test_a_task_with_too_little_memory_leaves_the_point_to_one_with_more(self):
        self.design("program: ./app\narguments: '{n} die'\nfactors: {n: [1, 2]}\n"
                    "run: {retries: 2}\nslurm: {tasks: 1, time: 60, memory: 9MiB}\n")  # fmt: skip
        self.sweep("design.yaml", "--slurm")
        job = {"id": "7", "task": 0, "restart": 0}
        for who, expected in ((job, 1), (None, 4)):  # here it is tried as often as the design says
            with mock.patch.object(execution, "_oom_kills", itertools.count().__next__):
                Worker(self.store, str(STAND_IN), who).run(self.store.points(), 1)
            self.assertEqual([[one["kind"] for one in entries] for entries in self.store.attempts().values()],
                             [["memory"] * expected] * 2)  # fmt: skip
            self.store.forgive()

    def test_time_doubles_when_it_was_too_little_but_not_that_of_the_design(self):
        self.design(DESIGN + "run: {retries: 9}\n")
        self.sweep("design.yaml", "--slurm")
        self.failed("task_timeout")
        self.sweep("--resume", "design.sweep", "--slurm")
        self.design(DESIGN + "run: {retries: 9}\nslurm: {time: 3min}\n")
        self.sweep("--resume", "design.yaml", "--slurm")
        self.assertEqual(self.asked("time")[::2], ["5", "10", "3"])  # the others are the collectors'

    def stopped(self, **environment: str) -> dict:
        """The failure of a point whose task got SIGTERM."""
        self.design("program: ./app\narguments: '{n} slow'\nfactors: {n: [1, 2]}\n"
                    "slurm: {tasks: 1, time: 5, memory: 9MiB}\n")  # fmt: skip
        self.sweep("design.yaml", "--slurm")
        process = subprocess.Popen(self.command("_task", "design.sweep", "1"), cwd=self.directory,
                                   env=self.environment | environment, stdout=subprocess.DEVNULL)  # fmt: skip
        while not self.runs():
            self.assertIsNone(process.poll())
            time.sleep(0.02)
        process.terminate()
        self.assertEqual(process.wait(), 128 + signal.SIGTERM)
        (failures,) = self.store.attempts().values()
        self.assertEqual(len(failures), 1)
        return failures[0]

    def test_the_end_of_a_tasks_time(self):
        self.write("scontrol.txt", "JobId=7 JobState=COMPLETING Reason=TimeLimit Dependency=(null)")
        failure = self.stopped()
        self.assertEqual(failure["kind"], "task_timeout")
        self.assertIn("its time with Slurm (5.0 s): raise `slurm: {time: }` in the design", failure["reason"])

    def test_a_task_that_was_cancelled_is_no_attempt(self):
        self.assertEqual(self.stopped(SLURM_JOB_END_TIME="1")["kind"], "interrupted")

    def test_without_an_answer_the_time_tells(self):
        self.write("bin/scontrol", "#!/bin/sh\n[ $2 = config ]\n")
        self.assertEqual(self.stopped(SLURM_JOB_END_TIME="1")["kind"], "task_timeout")

    def test_points_run_in_the_image_with_their_directories(self):
        self.write("umwelt.sif", "image")
        self.design(DESIGN + "slurm: {image: umwelt.sif, tasks: 1, time: 60, memory: 9MiB}\n")
        elsewhere = self.directory / "elsewhere"
        elsewhere.mkdir()
        done = subprocess.run(self.command("../design.yaml", "--slurm"), cwd=elsewhere, env=self.environment,
                              capture_output=True, text=True, check=True)  # fmt: skip
        self.assertNotIn("apptainer", done.stderr)
        store = elsewhere / "design.sweep"
        self.sweep("_task", store, "1")
        self.assertEqual(len(Store(store).completed()), 6)
        for line in (self.directory / "apptainer.log").read_text(encoding="utf-8").splitlines():
            where, *words = line.split()
            self.assertTrue(where.startswith(f"{store}/work/"))
            self.assertEqual(words[:6], ["exec", f"--bind={self.directory}", f"--pwd={where}",
                                         f"{self.directory}/umwelt.sif", "umwelt", "run"])  # fmt: skip
        context = next(iter(Store(store).shared("contexts").values()))
        self.assertEqual(list(context["files"]["image"]), [f"{self.directory}/umwelt.sif"])

    def test_an_image_that_is_not_there(self):
        (self.directory / "bin" / "apptainer").unlink()
        self.design(DESIGN + "slurm: {image: umwelt.sif, tasks: 1, time: 60, memory: 9MiB}\n")
        done = self.sweep("design.yaml", "--slurm", code=121)
        self.assertIn(f"{self.directory}/umwelt.sif: expected the image of `slurm: {{image: }}`, got no such file",
                      done.stderr)  # fmt: skip
        self.assertFalse(self.asked("array"))
        self.write("umwelt.sif", "image")
        said = self.sweep("--resume", "design.sweep", "--slurm").stderr
        if shutil.which("apptainer") is None:  # in no other directory of PATH either
            self.assertIn("warning: no apptainer in PATH", said)

    def test_nothing_is_submitted_with_another_program(self):
        self.design(DESIGN + "slurm: {tasks: 1, time: 60, memory: 9MiB}\n")
        self.sweep("design.yaml", "--slurm")
        (self.directory / "app").unlink()
        done = self.sweep("--resume", "design.sweep", "--slurm", code=121)
        self.assertIn("app: expected the file that the sweep began with", done.stderr)
        self.assertEqual(len(self.asked("array")), 1)

    def test_what_dry_run_tells_of_tasks(self):
        self.design(DESIGN + "run: {jobs: 2}\nslurm: {cpus: 2, tasks: 3, time: 5min}\n")
        done = self.sweep("design.yaml", "--slurm", "--dry-run")
        self.assertIn("by Slurm: 3 tasks, each of 5.0 min at most, 512 MiB", done.stdout)
        self.assertFalse((self.directory / "sbatch.log").exists())

    def test_where_slurm_does_not_answer_it_goes_on_unless_somebody_runs_a_point(self):
        self.design(DESIGN + "slurm: {tasks: 1, time: 60, memory: 9MiB}\n")
        self.sweep("design.yaml", "--slurm")
        for failing in ("#!/bin/sh\nexit 1\n", None):
            (self.directory / "bin" / "squeue").unlink()
            if failing:
                self.write("bin/squeue", failing).chmod(0o755)
            else:
                self.environment["PATH"] = os.path.dirname(os.__file__)
            marker = self.store.begin(0, {})
            marker.write_text(json.dumps({"machine": "another", "who": {"job": {"id": "7", "task": 0}}}))
            done = self.sweep("--resume", "design.sweep", code=121)
            self.assertIn("expected nobody who works on it, got a task of Slurm", done.stderr)
            os.utime(marker, (1, 1))
            done = self.sweep("--resume", "design.sweep")
            self.assertIn("warning: jobs of this sweep may still be with Slurm ", done.stderr)
        self.assertEqual(len(self.store.completed()), 6)


class NoSlurm(Case):
    def test_is_said(self):
        self.design()
        self.environment["PATH"] = os.path.dirname(os.__file__)
        done = self.sweep("design.yaml", "--slurm", code=121)
        self.assertIn("sbatch: expected Slurm's command in PATH, got none", done.stderr)


if __name__ == "__main__":
    unittest.main()
