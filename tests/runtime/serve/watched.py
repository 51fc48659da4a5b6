# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs that are watched, for the tests of --serve."""
import json
import os
import pathlib
import re
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request


def check(condition: bool, what: str) -> None:
    if not condition:
        raise AssertionError(what)


def equal(got, expected, what: str) -> None:
    check(got == expected, f"{what}: expected {expected!r}, got {got!r}")


def until(what: str, condition, seconds: float = 60):
    """What `condition` returns, as soon as that is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if result := condition():
            return result
        time.sleep(0.1)
    raise AssertionError(f"{what}: not within {seconds} s")


class Watched:
    """umwelt run --serve OPTIONS... PROGRAM..., from the moment its page can be asked for."""

    def __init__(self, umwelt: str, directory: pathlib.Path, *words: str, serve: str = "--serve"):
        self.process = subprocess.Popen([umwelt, "run", serve, *words], cwd=directory, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        self.said = ""
        self.printed = ""
        self.url = ""
        self.told = threading.Event()
        self.readers = [threading.Thread(target=self.read, args=one, daemon=True) for one in
                        ((self.process.stderr, True), (self.process.stdout, False))]
        for reader in self.readers:
            reader.start()
        check(self.told.wait(60) and self.url, f"an address to watch the run, got {self.said}")
        split = urllib.parse.urlsplit(self.url)
        self.host, self.port, self.path = split.hostname, split.port, split.path
        self.token = self.path.strip("/")

    def read(self, stream, is_error: bool) -> None:
        for line in stream:
            if is_error:
                self.said += line
                if found := re.search(r"open (http://\S+)", line):
                    self.url = found[1]
                    self.told.set()
            else:
                self.printed += line
        self.told.set()

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def ask(self, path: str = "state.json", method: str = "GET", timeout: float = 30, **headers: str):
        """Status, headers, body; `path` from the page's own on, or from the root."""
        url = urllib.parse.urljoin(self.url, path)
        request = urllib.request.Request(url, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def state(self) -> dict:
        return json.loads(self.ask()[2])

    def server(self) -> int:
        """Process of its server."""
        for child in pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split():
            if os.path.basename(os.readlink(f"/proc/{child}/exe")) == "umwelt-serve":
                return int(child)
        raise AssertionError("a process umwelt-serve below the run: none")

    def wait(self, seconds: float = 120) -> int:
        code = self.process.wait(seconds)
        for reader in self.readers:
            reader.join(10)
        return code


def is_running(process: int) -> bool:
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def peak_bytes(process: int) -> int:
    """OSError when it has ended: until its parent has waited for it its status is there, but says nothing of memory."""
    peak = re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path(f"/proc/{process}/status").read_text())
    if peak is None:
        raise ProcessLookupError(f"memory of process {process}: it has ended")
    return int(peak[1]) * 1024
