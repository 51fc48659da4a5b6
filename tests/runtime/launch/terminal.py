#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""terminal.py CASE UMWELT PROGRAM: runs `umwelt run` on a terminal (a pseudo-terminal of the test) and looks at every
byte that reaches
it. PROGRAM is chatter.c."""
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time

case, umwelt, program = sys.argv[1:]
ERASE = b"\r\x1b[K"


def run(*options, answer=None):
    """All that the run shows; `answer`: (text to wait for, what is typed then)."""
    ours, theirs = pty.openpty()
    attributes = termios.tcgetattr(theirs)
    attributes[1] &= ~termios.ONLCR
    termios.tcsetattr(theirs, 0, attributes)
    child = subprocess.Popen(
        [umwelt, "run", "--cpu", "none", *options], stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True
    )
    os.close(theirs)
    shown, end = b"", time.time() + 100
    while time.time() < end:
        if not select.select([ours], [], [], 1)[0]:
            continue
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
        if answer and answer[0] in shown:
            os.write(ours, answer[1])
            answer = None
    code = child.wait(timeout=10)
    if code != 0:
        sys.exit(f"{options}: exit code {code}\n{shown.decode(errors='replace')}")
    return shown


def fail(text, shown):
    sys.exit(f"{text}\n{shown!r}")


# Of a run, and, of one that takes longer to begin, of its start.
PROGRESS = re.compile(rb"\rumwelt: (simulated|\d+ of \d+ ranks have begun)")


def without_progress(shown):
    """What is left on the screen; every progress line must begin a line and be erased before anything else comes."""
    lines = 0
    while found := PROGRESS.search(shown):
        begin = found.start()
        if begin > 0 and shown[begin - 1 : begin] != b"\n" and not shown[:begin].endswith(ERASE):
            fail("a progress line behind other text", shown[max(0, begin - 200) : begin + 200])
        line_end = shown.find(b"\x1b[K", begin)
        rest = shown[line_end + 3 :]
        if line_end < 0 or b"\n" in shown[begin:line_end]:
            fail("other text in a progress line", shown[begin : begin + 300])
        if not PROGRESS.match(rest) and not rest.startswith(ERASE):
            fail("a progress line that is not erased", shown[begin : begin + 300])
        shown = shown[:begin] + rest
        lines += 1
    return shown.replace(ERASE, b""), lines


if case in ("progress", "progress-workers"):
    options = ["--workers", "2"] if case == "progress-workers" else []
    shown = run(*options, "-np", "4", "-N", "2", program, "talk")
    left, progress = without_progress(shown)
    if progress == 0:
        fail("no progress line at all", shown)
    whole = re.compile(rb"rank \d (line|error) \d+ of pieces$")
    lines = [line for line in left.split(b"\n") if line.startswith(b"rank ")]
    bad = [line for line in lines if not whole.match(line)]
    if bad or len(lines) != 4 * 2 * 20:
        fail(f"expected {4 * 2 * 20} whole lines, got {len(lines)}, of which {bad} are not", left)
    for rank in range(4):
        own = [line for line in lines if line.startswith(b"rank %d line" % rank)]
        if own != [b"rank %d line %d of pieces" % (rank, i) for i in range(20)]:
            fail(f"lines of rank {rank} in another order", left)
    if b"\numwelt: 4 ranks on" not in left:
        fail("the summary does not begin a line", left)
elif case == "prompt":  # a line that has not ended is seen, since somebody waits for what is typed then
    shown = run("-np", "2", program, "ask", answer=(b"number? ", b"42\n"))
    if b"rank 0 got 42\n" not in shown:
        fail("no answer", shown)
elif case == "tags":
    shown = run("--tag-output", "-np", "2", program, "talk")
    left, _ = without_progress(shown)
    if left.count(b"[1,1]<stdout>:rank 1 line ") != 20 or left.count(b"[1,0]<stderr>:rank 0 error ") != 20:
        fail("tagged lines are missing", left)
