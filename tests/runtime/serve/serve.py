#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""umwelt run --serve, asked by urllib and by sockets that do not behave.

usage: serve.py UMWELT ROUNDS CASE
"""
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

from watched import Watched, check, equal, is_running, peak_bytes, until

MOST_MEMORY = 96 << 20  # of umwelt-serve, whatever is asked of it
LONG = "100000000"  # rounds: until somebody ends it

umwelt = rounds = ""
work = pathlib.Path()


def long_run(*options: str) -> Watched:
    return Watched(umwelt, work, "-q", "-np", "4", "--cpu", "none", *options, rounds, LONG)


def raw(run: Watched, text: bytes, timeout: float = 10) -> bytes:
    with socket.create_connection((run.host, run.port), timeout=timeout) as connection:
        connection.sendall(text)
        answer = b""
        while part := connection.recv(65536):
            answer += part
        return answer


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.") else 0


def end(run: Watched) -> None:
    until("it runs", lambda: run.state()["now"]["state"] == "running")  # before, it ends as any program
    equal(run.ask("stop", "POST")[0], 202, "the button's answer")
    equal(run.wait(), 130, f"exit code of a run that is ended; it said {run.said}")


def page() -> None:
    with long_run() as run:
        code, headers, body = run.ask("")
        equal(code, 200, "the page")
        equal(headers["Content-Type"], "text/html; charset=utf-8", "its type")
        nonce = re.search(r"script-src 'nonce-([0-9a-f]{32})'", headers["Content-Security-Policy"])[1]
        equal(body.count(f'<script nonce="{nonce}">'.encode()), 2, "scripts with the nonce")
        equal(body.count(b"<script>"), 0, "scripts without")
        for name, value in (("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
                            ("Cache-Control", "no-store"), ("X-Frame-Options", "DENY")):
            equal(headers[name], value, name)
        for word in ("connect-src 'self'", "default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"):
            check(word in headers["Content-Security-Policy"], word)
        equal(run.ask("", "HEAD")[2], b"", "what HEAD gives")
        end(run)


def state() -> None:
    for options in (("--workers", "0"), ("--workers", "2")):
        with long_run(*options) as run:
            first = until("ranks in MPI", lambda: next((one for one in [run.state()] if one["runs"] and "MPI" in
                          str(one["now"]["ranks"]["call"])), None))
            equal(len(first["now"]["ranks"]["state"]), 4, "ranks")
            known = {"loading", "computing", "communicating", "waiting", "sleeping", "ended"}
            check(set(first["now"]["ranks"]["state"]) <= known, f"states: {first['now']['ranks']['state']}")
            equal(first["now"]["state"], "running", "the run")
            def calls_of(one):
                functions = one["runs"][0]["report"]["mpi_calls"]["functions"]
                return {function["name"]: function["calls"] for function in functions}

            later = until("time goes on", lambda: next((one for one in [run.state()] if one["now"]["simulated_ps"] >
                          first["now"]["simulated_ps"] and calls_of(one).get("MPI_Send", 0) > 100), None))
            check(later["now"]["events"] > first["now"]["events"], "events")
            report = later["runs"][0]["report"]
            equal(report["ending"], "running", "ending")
            check(report["totals"]["messages"] > 0, "messages")
            check(report["mpi_calls"]["messages"]["pairs"] >= 4, "pairs of ranks")
            if options[1] == "0":
                check("main+" in str(report["mpi_calls"]["sites"]), "places of calls")
            end(run)


def stop() -> None:
    with long_run() as run:
        server = run.server()
        equal(run.ask("stop")[0], 405, "GET stop")
        check(run.process.poll() is None, "it goes on")
        equal(run.ask("stop", "POST", Origin="http://evil.example")[0], 403, "from another page")
        check(run.process.poll() is None, "it goes on")
        end(run)
        check("stopped by signal 2" in run.said, f"what Ctrl-C says: {run.said}")
        check(not is_running(server), "its server ends with it")
    with long_run() as run:  # however it ends
        server = run.server()
        run.process.kill()
        run.process.wait()
        until("the server ends with a run that was killed", lambda: not is_running(server), 10)


def who() -> None:
    with long_run() as run:
        for path in ("/", "/state.json", "/stop", f"/{'0' * 32}/", f"/{run.token[:-1]}/", f"/{run.token}",
                     f"/{run.token}x/", f"/{run.token}/../state.json/..", f"/{run.token}/%2e%2e/%2e%2e/etc/passwd",
                     "/../../../../etc/passwd", f"/{run.token}/state.json/", f"/{run.token[:-1]}%00/"):
            answer = raw(run, f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
            equal(status(answer), 404, path)
            check(run.token.encode() not in answer and b"root:" not in answer, f"{path}: {answer}")
        for host in ("evil.example", f"evil.example:{run.port}", "127.0.0.1.evil.example", ""):
            for path in (run.path, run.path + "stop"):
                method = "POST" if path.endswith("stop") else "GET"
                answer = raw(run, f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\n"
                                  "Connection: close\r\n\r\n".encode())
                check(status(answer) in (400, 403), f"Host {host!r}: {answer[:60]}")
        equal(status(raw(run, f"GET {run.path} HTTP/1.0\r\n\r\n".encode())), 403, "no Host")
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "BREW"):
            answer = raw(run, f"{method} {run.path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n"
                              "Connection: close\r\n\r\n".encode())
            check(status(answer) in (405, 501), f"{method}: {answer[:60]}")
        _, headers, _ = run.ask("state.json", Origin="http://evil.example")
        check(not [name for name in headers if name.lower().startswith("access-control")], "no CORS")
        check(run.process.poll() is None, "it goes on")
        # Others on this machine do not see the token.
        commands = pathlib.Path(f"/proc/{run.server()}/cmdline").read_bytes()
        check(run.token.encode() not in commands, "the token in a command line")
        equal(pathlib.Path(f"/proc/{run.server()}/environ").read_bytes(), b"", "its environment")
        end(run)


def misuse() -> None:
    for words, code, expected in (
            (("--serve=127.0.0.1",), 121, "expected ADDR:PORT"),
            (("--serve=node7:80",), 121, "an address as numbers"),
            (("--serve", "127.0.0.1:99999"), 121, "a port"),
            (("--serve", "192.0.2.1:8080"), 121, "an address to listen at"),
            (("--serve", "--repeat", "2"), 121, "expected one run")):
        done = subprocess.run([umwelt, "run", *words, "-np", "2", rounds, "1"], cwd=work, capture_output=True,
                              text=True, check=False)
        equal(done.returncode, code, f"{words}: {done.stderr}")
        check(expected in done.stderr, f"{words}: {done.stderr}")
    with long_run() as run:
        done = subprocess.run([umwelt, "run", "--serve", f"127.0.0.1:{run.port}", "-np", "2", rounds, "1"], cwd=work,
                              capture_output=True, text=True, check=False)
        equal(done.returncode, 121, "a port that is taken")
        check("Address already in use" in done.stderr, done.stderr)
        end(run)


def last_state() -> None:
    """Whoever watches sees how it ended."""
    with Watched(umwelt, work, "-np", "4", "--cpu", "none", rounds, "20000") as run:
        last = {}
        while run.process.poll() is None:
            try:
                last = run.state()
            except OSError:
                break
            time.sleep(0.5)
        equal(run.wait(), 0, f"exit code; {run.said}")
        now = last["now"]
        equal((now["state"], now["note"], now["exit_code"]), ("ended", "completed", 0), "its end")
        equal(now["ranks"]["state"], ["ended"] * 4, "ranks")
        check(last["runs"][0]["report"]["ending"] == "completed", "the report")
    start = time.monotonic()
    with Watched(umwelt, work, "-np", "1", "--cpu", "none", "true") as run:
        equal(run.wait(), 0, "a short one")
    check(time.monotonic() - start < 10, "nobody watches, nobody waits")


class Load:
    """What browsers and others do meanwhile."""

    def __init__(self, run: Watched):
        self.run, self.over, self.answered, self.threads = run, threading.Event(), 0, []

    def start(self, *what) -> None:
        for one in what:
            self.threads.append(threading.Thread(target=self.again, args=(one,), daemon=True))
            self.threads[-1].start()

    def again(self, what) -> None:
        while not self.over.is_set():
            try:
                what()
            except (OSError, ValueError):
                time.sleep(0.01)

    def many(self) -> None:
        """Requests one behind the other, as fast as they are answered."""
        request = f"GET {self.run.path}state.json HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        with socket.create_connection((self.run.host, self.run.port), timeout=5) as connection:
            reader = connection.makefile("rb")
            while not self.over.is_set():
                connection.sendall(request * 20)
                for _ in range(20):
                    length = 0
                    while (line := reader.readline()) not in (b"\r\n", b""):
                        if line.lower().startswith(b"content-length:"):
                            length = int(line.split(b":")[1])
                    if not reader.read(length):
                        return
                    self.answered += 1

    def slow(self) -> None:
        """Slowloris: headers that never end, a few bytes at a time, on many connections."""
        connections = []
        try:
            for _ in range(100):
                connections.append(socket.create_connection((self.run.host, self.run.port), timeout=2))
                connections[-1].sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
            for _ in range(20):
                for connection in connections:
                    connection.sendall(b"X: y\r\n")
                time.sleep(0.1)
        finally:
            for connection in connections:
                connection.close()

    def large(self) -> None:
        """Headers and bodies without end."""
        with socket.create_connection((self.run.host, self.run.port), timeout=2) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * (1 << 20) + b"\r\n\r\n")
            connection.recv(100)
        with socket.create_connection((self.run.host, self.run.port), timeout=2) as connection:
            connection.sendall(f"POST {self.run.path}stop HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 999999999"
                               "\r\n\r\n".encode() + b"x" * (1 << 20))
            connection.recv(100)

    def deaf(self) -> None:
        """Asks for pages, and reads nothing."""
        with socket.create_connection((self.run.host, self.run.port), timeout=2) as connection:
            connection.sendall(f"GET {self.run.path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() * 50)
            time.sleep(1)

    def garbage(self) -> None:
        raw(self.run, os.urandom(2000) + b"\r\n\r\n", 2)

    def stop(self) -> None:
        self.over.set()
        for thread in self.threads:
            thread.join(3)


def report_of(name: str) -> bytes:
    return (work / name).read_bytes()


def same() -> None:
    """With --cpu none reports have the same bytes, whether nobody looks or many do, politely or not."""
    options = ("-q", "-np", "4", "--cpu", "none", "--mpi-calls", "--report")
    subprocess.run([umwelt, "run", *options, "alone.json", "--report-details", rounds, "5000"], check=True, cwd=work,
                   stdout=subprocess.DEVNULL)
    alone = json.loads(report_of("alone.json"))
    subprocess.run([umwelt, "run", *options, "plain.json", rounds, "5000"], check=True, cwd=work,
                   stdout=subprocess.DEVNULL)
    equal(json.loads(report_of("plain.json"))["ranks"], alone["ranks"], "ranks, with and without details")
    for workers in ("0", "2"):
        with Watched(umwelt, work, *options, "watched.json", "--workers", workers, rounds, "5000") as run:
            server = run.server()
            load = Load(run)
            load.start(load.many, load.many, load.slow, load.large, load.deaf, load.garbage)
            start = time.monotonic()
            peak, most = 0, 0
            while run.process.poll() is None and is_running(server):
                try:
                    peak = max(peak, peak_bytes(server))
                    most = max(most, len(os.listdir(f"/proc/{server}/fd")))
                except OSError:
                    break
                time.sleep(0.1)
            seconds = time.monotonic() - start
            load.stop()
            equal(run.wait(), 0, f"exit code; {run.said}")
        watched = json.loads(report_of("watched.json"))
        for one in (alone, watched):
            one.pop("run", None)  # how it was started, and when
        equal(watched, alone, f"--workers {workers}: the report")
        print(f"--workers {workers}: {load.answered / seconds:.0f} requests per second for {seconds:.1f} s, "
              f"{peak >> 20} MiB, {most} descriptors")
        check(load.answered > 0, "some requests are answered")
        check(peak < MOST_MEMORY, f"memory of the server: at most {MOST_MEMORY >> 20} MiB, got {peak >> 20}")
        check(most < 90, f"descriptors of the server: {most}")


def abuse() -> None:
    """Who behaves is answered meanwhile."""
    with long_run() as run:
        server = run.server()
        load = Load(run)
        load.start(load.slow, load.slow, load.large, load.deaf, load.garbage)
        answers = 0
        for _ in range(10):
            try:
                answers += run.ask("", timeout=5)[0] == 200
            except OSError:
                pass
            time.sleep(0.1)
        check(answers >= 5, f"pages meanwhile: {answers} of 10")
        load.stop()
        load = Load(run)
        load.start(load.many, load.many)
        time.sleep(5)
        load.stop()
        print(f"{load.answered / 5:.0f} requests per second beside a run on all cores, {peak_bytes(server) >> 20} MiB")
        check(load.answered > 50, f"requests in 5 s: {load.answered}")
        check(peak_bytes(server) < MOST_MEMORY, f"memory: {peak_bytes(server) >> 20} MiB")
        end(run)


CASES = (page, state, stop, who, misuse, last_state, same, abuse)


def main() -> None:
    global umwelt, rounds, work
    umwelt, rounds, case = sys.argv[1:4]
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        next(one for one in CASES if one.__name__ == case)()


if __name__ == "__main__":
    main()
