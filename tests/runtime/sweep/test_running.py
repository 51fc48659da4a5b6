# SPDX-License-Identifier: LGPL-2.1-or-later
"""Running points here: what becomes of those that fail, going on after any interruption."""
import collections
import json
import os
import pathlib
import random
import signal
import subprocess
import time
import unittest

from support import DESIGN, Case

from sweep.store import Store

ENDINGS = "program: ./app\narguments: '{what}'\nfactors: {what: [ok, %s]}\n"


class Base(Case):
    def failures(self) -> list[dict]:
        return [one for entries in Store(self.directory / "design.sweep").attempts().values() for one in entries]

    def alive(self) -> list[str]:
        """Processes that this test left."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                try:
                    if f"STAND_IN_LOG={self.log}".encode() in (entry / "environ").read_bytes():
                        found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
                except OSError:
                    pass
        return found

    def wait_for(self, condition, patience: float = 60) -> None:
        until = time.monotonic() + patience
        while not condition():
            self.assertLess(time.monotonic(), until, "it did not come")
            time.sleep(0.02)


class Running(Base):
    def test_all_points_once(self):
        self.design()
        done = self.sweep("design.yaml", "--jobs", 2)
        self.assertIn("design.sweep: 6 of 6 points completed", done.stdout)
        self.assertEqual(len(set(self.runs())), 6)
        self.assertEqual(len(self.runs()), 6)
        self.assertEqual(
            sorted(os.listdir(self.directory / "design.sweep")),
            ["contexts", "design.yaml", "hosts", "lock", "plan.db", "results", "results.db", "running"],
        )

    def test_templates_and_inputs_are_in_the_points_directory(self):
        self.write("in.txt", "size={size} other={else}")
        self.design(DESIGN + "templates: {input.txt: in.txt}\nmetrics: {n: 'input: size=([0-9]+) other={else}'}\n")
        self.sweep("design.yaml")
        results = [json.loads(path.read_bytes()) for _, path in Store(self.directory / "design.sweep").results()]
        self.assertEqual(sorted(one["metrics"]["n"] for one in results), [8, 8, 16, 16, 32, 32])

    def test_failure_is_repeated_then_given_up(self):
        self.design(ENDINGS % "fail" + "run: {retries: 2}\n")
        done = self.sweep("design.yaml", code=3)
        self.assertEqual([one["kind"] for one in self.failures()], ["failed"] * 3)
        self.assertEqual(self.failures()[0]["errors"], "umwelt: fail as asked")
        self.assertIn("1 of 2 points completed, 1 failed", done.stdout)
        count = len(self.runs())
        self.sweep("--resume", "design.sweep", code=3)
        self.assertEqual(len(self.runs()), count)
        self.sweep("--resume", "--again", "design.sweep", code=3)
        self.assertEqual(len(self.runs()), count + 3)

    def test_what_failed_once_completes(self):
        self.design(ENDINGS % "once")
        self.sweep("design.yaml")
        self.assertEqual(len(self.failures()), 1)

    def test_what_would_come_again_is_not_repeated(self):
        self.design(ENDINGS % "deadlock, usage" + "run: {retries: 5}\n")
        self.sweep("design.yaml", code=3)
        self.assertEqual(sorted(one["kind"] for one in self.failures()), ["deadlock", "wrong_use"])

    def test_time(self):
        self.design(ENDINGS % "slow" + "run: {timeout: 2, retries: 0}\n")
        self.sweep("design.yaml", code=3)
        self.assertEqual([one["kind"] for one in self.failures()], ["timeout"])

    def test_memory(self):
        self.design(ENDINGS % "big" + "run: {memory: 200MiB, retries: 0}\n")
        self.sweep("design.yaml", code=3)
        self.assertEqual([one["kind"] for one in self.failures()], ["memory"])

    def test_run_without_report(self):
        self.design(ENDINGS % "silent" + "run: {retries: 0}\n")
        self.sweep("design.yaml", code=3)
        self.assertEqual([one["kind"] for one in self.failures()], ["no_report"])

    def test_metric_that_is_not_printed(self):
        self.design(DESIGN + "metrics: {gflops: 'GFLOPS ([0-9.]+)'}\nrun: {retries: 0}\n")
        self.sweep("design.yaml", code=3)
        self.assertIn("expected 'GFLOPS ([0-9.]+)' in what the program printed", self.failures()[0]["reason"])

    def test_a_sweep_is_not_begun_twice(self):
        self.design()
        self.sweep("design.yaml")
        done = self.sweep("design.yaml", code=121)
        self.assertIn("go on with it: umwelt sweep --resume design.sweep", done.stderr)

    def test_another_design_is_not_gone_on_with(self):
        self.design()
        self.sweep("design.yaml")
        self.design(DESIGN + "seed: 1\n")
        self.assertIn("expected the design that design.sweep was begun with",
                      self.sweep("design.yaml", "--resume", code=121).stderr)  # fmt: skip

    def test_another_program_is_not_gone_on_with(self):
        self.design(ENDINGS % "fail")
        self.sweep("design.yaml", code=3)
        self.write("app", "#!/bin/sh\nexit\n")
        done = self.sweep("--resume", "--again", "design.sweep", code=121)
        self.assertIn("app: expected the file that the sweep began with", done.stderr)

    def test_two_at_once_are_refused(self):
        self.design(ENDINGS % "slow" + "run: {timeout: 20, retries: 0}\n")
        first = subprocess.Popen(self.command("design.yaml"), cwd=self.directory, env=self.environment,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        try:
            self.wait_for(lambda: any("slow" in line for line in self.runs()))
            done = self.sweep("--resume", "design.sweep", code=121)
            self.assertIn(f"no other sweep in this directory, got one that runs (process {first.pid}", done.stderr)
        finally:
            first.terminate()
            self.assertEqual(first.wait(), 128 + signal.SIGTERM)
        self.assertEqual([one["kind"] for one in self.failures()], ["interrupted"])
        self.assertFalse(self.alive())

    def test_dry_run(self):
        self.design(DESIGN + "replicates: 10\n")
        done = self.sweep("design.yaml", "--dry-run")
        self.assertRegex(done.stdout, r"design: 60 runs: 6 rows of a full design, 10 replicates of each, random order")
        self.assertRegex(done.stdout, r"(?m)^ +2 +30 +[0-9.]+ s +[0-9.]+ MiB$")
        self.assertIn("in all about", done.stdout)
        self.assertEqual(len(self.runs()), 2)
        self.assertFalse((self.directory / "design.sweep").exists())
        self.sweep("design.yaml", "--dry-run", "--no-first-runs")
        self.assertEqual(len(self.runs()), 2)


class Kills(Base):
    def test_kill_at_random_moments_loses_and_repeats_nothing(self):
        """20 times kill -9, each after another number of runs: what was committed stays, and never runs again."""
        sizes = ", ".join(str(size) for size in range(1, 76))
        self.design(f"program: ./app\narguments: '{{size}}'\nfactors: {{size: [{sizes}]}}\n")
        self.environment["STAND_IN_SECONDS"] = "0.01"
        store = Store(self.directory / "design.sweep")
        drawer = random.Random(1)
        committed: dict[int, bytes] = {}
        words: tuple = ("design.yaml", "--jobs", 2)
        for kill in range(20):
            before = len(self.runs())
            process = subprocess.Popen(self.command(*words), cwd=self.directory, env=self.environment,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
            enough = before + drawer.randint(1, 3)
            self.wait_for(lambda: len(self.runs()) >= enough or process.poll() is not None)
            time.sleep(drawer.random() * 0.05)
            process.kill()
            process.wait()
            self.wait_for(lambda: not self.alive())  # runs die with the sweep
            now = {number: path.read_bytes() for number, path in store.results()}
            self.assertLessEqual(committed.items(), now.items(), f"after kill {kill}")
            for content in now.values():
                json.loads(content)
            committed = now
            words = ("--resume", "design.sweep", "--jobs", 2)
        counted = collections.Counter(self.runs())
        missing = 75 - len(committed)
        before = len(self.runs())
        self.sweep("--resume", "design.sweep", "--jobs", 2)
        self.assertEqual(len(self.runs()) - before, missing)
        self.assertEqual(len(store.completed()), 75)
        finished = {next(iter(line.split()[::-1])) for line in counted}
        self.assertLessEqual({str(number + 1) for number in committed}, finished)
        self.assertFalse(list((self.directory / "design.sweep").glob("results/*/.*")))
        self.assertFalse((self.directory / "design.sweep" / "work").exists())


if __name__ == "__main__":
    unittest.main()
