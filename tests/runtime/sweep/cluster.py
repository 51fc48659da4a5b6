# SPDX-License-Identifier: LGPL-2.1-or-later
"""Slurm on this machine alone: munged, slurmctld and slurmd in a private directory, for as long as a `with` lasts.

usage: cluster.py COMMAND...    runs the command with such a Slurm
"""
from __future__ import annotations

import contextlib
import ctypes
import os
import pathlib
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel", "sinfo")

CONFIGURATION = """\
ClusterName=umwelt
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmctldPort={controller}
SlurmdPort={daemon}
AuthType=auth/munge
AuthInfo=socket={directory}/munge.socket
CredType=cred/munge
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd.pid
SlurmctldLogFile={directory}/slurmctld.log
SlurmdLogFile={directory}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=0,bf_interval=1,defer
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
SlurmctldTimeout=30
SlurmdTimeout={timeout}
KillWait=2
MinJobAge=300
MaxArraySize=1001
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=16000 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
"""


def missing() -> str:
    """Why there is no Slurm here; empty if there can be."""
    if os.geteuid() != 0:
        return "Slurm's daemons need root here"
    absent = [name for name in PROGRAMS if shutil.which(name, path=_path()) is None]
    return f"not installed: {', '.join(absent)} (packages slurm-wlm and munge)" if absent else ""


def _path() -> str:
    return os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _end_with_this() -> None:
    """In a daemon: if this process is killed, it ends, too (PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


class Cluster:
    def __init__(self, cpus: int, timeout: int) -> None:
        # Short: names of sockets have 108 characters at most.
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="umw-slurm-", dir="/tmp"))
        self.processes: dict[str, subprocess.Popen] = {}
        self.host = socket.gethostname().split(".")[0]
        controller, daemon = _free_ports(2)
        for name in ("state", "spool"):
            (self.directory / name).mkdir()
        key = self.directory / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o600)
        configuration = self.directory / "slurm.conf"
        configuration.write_text(
            CONFIGURATION.format(
                host=self.host,
                controller=controller,
                daemon=daemon,
                directory=self.directory,
                cpus=cpus,
                timeout=timeout,
            )
        )
        self.environment = {**os.environ, "SLURM_CONF": str(configuration), "PATH": _path()}
        for name in list(self.environment):
            if name.startswith("SLURM_") and name != "SLURM_CONF":
                del self.environment[name]

    def start(self, name: str) -> None:
        d = self.directory
        command = {
            "munged": [
                "munged",
                "--foreground",
                "--force",
                f"--socket={d}/munge.socket",
                f"--key-file={d}/munge.key",
                f"--pid-file={d}/munge.pid",
                f"--seed-file={d}/munge.seed",
                f"--log-file={d}/munge.log",
            ],
            "slurmctld": ["slurmctld", "-D", "-i"],
            "slurmd": ["slurmd", "-D", "-N", self.host],
        }[name]
        with open(d / f"{name}.out", "ab") as log:
            self.processes[name] = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self.environment,
                start_new_session=True,
                preexec_fn=_end_with_this,
            )

    def kill(self, name: str) -> None:
        """kill -9 of the daemon alone, as if it had crashed."""
        self.processes[name].kill()
        self.processes[name].wait()

    def _ask(self, *words: str) -> list[str]:
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True, check=False)
        return done.stdout.split() if done.returncode == 0 else []

    def set_right(self) -> bool:
        """As an administrator does: a controller that was killed may start a job again that has ended without its
        knowledge. The node refuses that, gets no more jobs ("Duplicate jobid"), and the job is held (Slurm 22.05)."""
        state = self._ask("sinfo", "--noheader", "--format=%T")
        drained = bool(state) and state[0].startswith("drain")
        if drained:
            self._ask("scontrol", "update", f"NodeName={self.host}", "State=RESUME")
        jobs = self._ask("squeue", "--noheader", "--array", "--states=PENDING", "--format=%i/%r")
        held = [job.split("/")[0] for job in jobs if job.endswith("/launch")]  # "launch failed requeued held"
        for job in held:
            self._ask("scontrol", "release", job)
        return drained or bool(held)

    def wait_until_up(self, patience: float = 30) -> None:
        until = time.monotonic() + patience
        while time.monotonic() < until:
            state = self._ask("sinfo", "--noheader", "--format=%T")
            if state and state[0] in ("idle", "mixed", "allocated"):
                return
            self.set_right()
            time.sleep(0.2)
        logs = "\n".join(
            f"{log.name}: {log.read_text(errors='replace')[-1500:]}"
            for log in sorted(self.directory.glob("*.[lo][ou][gt]"))
        )
        raise RuntimeError(f"Slurm: expected it to be up within {patience} s, got:\n{logs}")

    def stop(self) -> None:
        """All of it, with the jobs that run."""
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            subprocess.run(
                ["scancel", "--quiet", "--full", "--signal=KILL", "--user=root"],
                env=self.environment,
                check=False,
                timeout=20,
                capture_output=True,
            )
        self._end_jobs()
        for name in ("slurmd", "slurmctld", "munged"):
            process = self.processes.get(name)
            if process is not None and process.poll() is None:
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        self._end_jobs()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _end_jobs(self) -> None:
        """Steps and jobs have this cluster's configuration in their environment; so have the daemons, which are not
        meant."""
        daemons = {process.pid for process in self.processes.values()} | {os.getpid()}
        mark = f"SLURM_CONF={self.directory}/".encode()
        spool = str(self.directory / "spool").encode()
        for _ in range(50):
            found = False
            for entry in pathlib.Path("/proc").iterdir():
                if not entry.name.isdigit() or int(entry.name) in daemons:
                    continue
                with contextlib.suppress(OSError):
                    if mark in (entry / "environ").read_bytes() or spool in (entry / "cmdline").read_bytes():
                        os.kill(int(entry.name), signal.SIGKILL)
                        found = True
            if not found:
                return
            time.sleep(0.1)


@contextlib.contextmanager
def cluster(cpus: int = 2, timeout: int = 30):
    one = Cluster(cpus, timeout)
    try:
        one.start("munged")
        until = time.monotonic() + 10
        while not (one.directory / "munge.socket").exists() and time.monotonic() < until:
            time.sleep(0.05)
        one.start("slurmctld")
        one.start("slurmd")
        one.wait_until_up()
        yield one
    finally:
        one.stop()


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    if why := missing():
        print(why, file=sys.stderr)
        return 77
    with cluster() as one:
        return subprocess.run(sys.argv[1:], env=one.environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
