# SPDX-License-Identifier: LGPL-2.1-or-later
"""One program of the matrix: packages, inputs, the native run, the simulated one, the comparison."""
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from matrix import catalogue, measure, results

HERE = pathlib.Path(__file__).resolve().parents[1]


class Unusable(Exception):
    pass


class Failed(Exception):
    """Its first argument is for the table, the others are details."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    program: catalogue.Program
    good: bool
    verdict: str
    native: measure.Run | None = None
    simulated: measure.Run | None = None
    simulated_seconds: float | None = None
    details: tuple[str, ...] = ()
    skipped: bool = False


def last_lines(path: pathlib.Path, count: int = 8) -> tuple[str, ...]:
    try:
        return tuple(path.read_text(errors="replace").splitlines()[-count:])
    except OSError:
        return ()


def missing(packages: list[str]) -> list[str]:
    def status(package: str) -> str:
        query = ["dpkg-query", "--show", "--showformat=${db:Status-Status}", package]
        return subprocess.run(query, capture_output=True, text=True, check=False).stdout

    return [package for package in packages if status(package) != "installed"]


class Runner:
    def __init__(self, umwelt: str, options: list[str], install: bool, keep: str | None):
        self.umwelt, self.options, self.install = os.path.abspath(umwelt), options, install
        if not os.access(self.umwelt, os.X_OK):
            raise Unusable(
                f"{umwelt}: expected Umwelt's command, got no such program. Next step: "
                "cmake --preset release && cmake --build --preset release, or --umwelt FILE"
            )
        self.keep = pathlib.Path(keep).resolve() if keep else None
        if self.keep:
            self.keep.mkdir(parents=True, exist_ok=True)

    def run(self, program: catalogue.Program) -> Outcome:
        work = pathlib.Path(tempfile.mkdtemp(prefix=f"{program.name}-", dir=self.keep))
        runs: dict[str, measure.Run] = {}
        try:
            program = catalogue.located(program, str(HERE / "programs"))
            self.packages(program)
            self.inputs(program, work)
            seen = {}
            for way in ("native", "simulated"):
                shutil.copytree(work / "inputs", work / way, symlinks=True)
                command = self.native(program) if way == "native" else self.simulated(program, work)
                runs[way] = measure.run(command, str(work / way), self.environment(program), "stdout", program.seconds)
                if runs[way].timed_out or runs[way].code != 0:
                    what = f"over {program.seconds} s" if runs[way].timed_out else f"exit code {runs[way].code}"
                    raise Failed(
                        f"**{way}: {what}**",
                        *last_lines(work / way / "stdout.txt"),
                        *last_lines(work / way / "stdout.err"),
                    )
                seen[way] = self.results(program, work / way)
            verdict = results.compare(seen["native"], seen["simulated"], program.tolerance)
            report = json.loads((work / "report.json").read_text())
            return Outcome(
                program,
                verdict.good,
                verdict.text,
                runs["native"],
                runs["simulated"],
                report["simulated_ps"] * 1e-12,
                verdict.details,
            )
        except catalogue.NotBuilt as reason:
            return Outcome(
                program, False, f"skipped without `{program.from_environment}`", details=(str(reason),), skipped=True
            )
        except catalogue.Unusable as error:
            return Outcome(program, False, "**not there**", details=(str(error),))
        except Failed as failure:
            return Outcome(
                program, False, failure.args[0], runs.get("native"), runs.get("simulated"), None, failure.args[1:]
            )
        finally:
            if not self.keep:
                shutil.rmtree(work, ignore_errors=True)

    def packages(self, program: catalogue.Program) -> None:
        needed = missing(program.packages)
        if not needed:
            return
        if not self.install:
            raise Failed("**packages missing**", " ".join(needed))
        command = [
            "apt-get",
            "-q",
            "-o",
            "DPkg::Lock::Timeout=600",
            "-o",
            "Acquire::Retries=3",
            "install",
            "-y",
            "--no-install-recommends",
            *needed,
        ]
        done = subprocess.run(
            command,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise Failed("**packages do not install**", *done.stderr.splitlines()[-5:])

    def inputs(self, program: catalogue.Program, work: pathlib.Path) -> None:
        (work / "inputs").mkdir()
        done = self.shell(program.prepare, work / "inputs", program)
        if done.returncode != 0:
            raise Failed("**inputs cannot be made**", *(done.stdout + done.stderr).splitlines()[-8:])

    def results(self, program: catalogue.Program, directory: pathlib.Path) -> str:
        done = self.shell(program.results, directory, program)
        if done.returncode != 0:
            raise Failed(
                f"**{directory.name}: no results**",
                *done.stderr.splitlines()[-5:],
                *last_lines(directory / "stdout.txt"),
                *last_lines(directory / "stdout.err"),
            )
        return done.stdout

    def shell(self, script: str, directory: pathlib.Path, program: catalogue.Program) -> subprocess.CompletedProcess:
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=directory,
            env=self.environment(program),
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )

    @staticmethod
    def environment(program: catalogue.Program) -> dict[str, str]:
        return {
            **os.environ,
            "LC_ALL": "C",
            "OMP_NUM_THREADS": str(program.threads),
            "OPENBLAS_NUM_THREADS": "1",
            **program.environment,
        }

    def native(self, program: catalogue.Program) -> list[str]:
        launcher = {
            "Open MPI": ["mpirun", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none"],
            "MPICH": ["mpiexec.mpich"],
            "sockets": ["mpirun", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none"],
        }[program.mpi]
        return [*launcher, "-np", str(program.ranks), *program.command]

    def simulated(self, program: catalogue.Program, work: pathlib.Path) -> list[str]:
        return [
            self.umwelt,
            "run",
            "-q",
            "--report",
            str(work / "report.json"),
            "-np",
            str(program.ranks),
            *(["-N", str(program.per_node)] if program.per_node > 1 else []),
            *(["--cpus-per-rank", str(program.threads)] if program.threads > 1 else []),
            *program.options,
            *self.options,
            *program.command,
        ]
