#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""packets.py UMWELT PACKETS PORT: what tshark reads in a capture (--trace run.pcapng) of packets.c.

Nothing is malformed, all checksums are right and nothing looks lost or sent twice to a node; a stream has the bytes
that were sent; payload adds up to the report's; times are the file's; a packet comes after it was sent; the run takes
the same simulated time as without a trace, and two captures, one of them of worker processes, are the same to the byte.
A program without sockets has a capture without packets, and is told so. Ends with 77 if there is no tshark.
"""
import collections
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

STREAM = bytes((i * 7 + i // 251) & 255 for i in range(200000))


def fail(text):
    sys.exit(f"FAILED: {text}")


def run(umwelt, options, command, report):
    done = subprocess.run([umwelt, "run", "--cpu", "none", "--report", report, "-np", "2", *options, *command],
                          capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        fail(f"{options}: {done.stdout}{done.stderr}")
    return json.loads(report.read_text()), done.stderr


def tshark(path, *options):
    checks = [word for protocol in ("ip", "tcp", "udp") for word in ("-o", f"{protocol}.check_checksum:TRUE")]
    return subprocess.run(["tshark", "-n", "-r", path, *checks, *options], capture_output=True, text=True, timeout=60,
                          check=True).stdout


def fields(path, *names):
    text = tshark(path, "-T", "fields", *(word for name in names for word in ("-e", name)))
    return [dict(zip(names, line.split("\t"))) for line in text.splitlines()]


def block_times(path):
    """Of the packets, in picoseconds; read without tshark."""
    data, at, times = path.read_bytes(), 0, []
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            high, low = struct.unpack_from("<II", data, at + 12)
            times.append(high << 32 | low)
        if struct.unpack_from("<I", data, at + length - 4)[0] != length:
            fail(f"a block of {length} bytes does not end with its length")
        at += length
    return times


def check_interface(path, work, name):
    own = work / "one.pcapng"
    tshark(path, "-Y", f'frame.interface_name == "{name}"', "-w", own)
    # A short segment may overtake a long one in the simulated NICs, as the end of a stream does here.
    overtakes = "tcp.flags.reset == 1 || tcp.analysis.out_of_order || tcp.analysis.lost_segment"
    wrong = tshark(own, "-Y", "_ws.malformed || ip.checksum.status == 0 || tcp.checksum.status == 0 || "
                   "udp.checksum.status == 0 || icmp.checksum.status == 0 || icmpv6.checksum.status == 0 || "
                   f"((tcp.analysis.flags || _ws.expert.severity >= 0x600000) && !({overtakes}))")
    if wrong:
        fail(f"{name}: expected nothing wrong, got:\n{wrong}")
    flags = [int(one["tcp.flags"], 16) for one in fields(own, "tcp.flags") if one["tcp.flags"]]
    for flag, text in ((2, "SYN"), (18, "SYN-ACK"), (17, "FIN"), (20, "RST"), (16, "ACK")):
        if flag not in flags:
            fail(f"{name}: expected a {text}, got {sorted(set(flags))}")
    if tshark(own, "-Y", "icmp.type == 3 || icmpv6.type == 1").count("\n") != 1:
        fail(f"{name}: expected an answer to the datagram for nobody, got:\n{tshark(own)}")
    for stream in sorted({one["tcp.stream"] for one in fields(own, "tcp.stream") if one["tcp.stream"]}):
        lines = tshark(own, "-q", "-z", f"follow,tcp,raw,{stream}").splitlines()
        data = [line for line in lines if line and set(line.strip()) <= set("0123456789abcdef")]
        sent = bytes.fromhex("".join(line for line in data if not line.startswith("\t")))
        answer = bytes.fromhex("".join(line.strip() for line in data if line.startswith("\t")))
        if sent:
            if (sent, answer) != (STREAM, b"thanks"):
                fail(f"{name}: expected the stream of packets.c, got {len(sent)} bytes and {answer}")
            return
    fail(f"{name}: expected a stream with bytes in it, got none")


def check(path, report, work, names):
    packets = fields(path, "frame.time_epoch", "frame.interface_name", "frame.packet_flags_direction", "tcp.len",
                     "udp.length", "tcp.flags", "icmp.type", "icmpv6.type")
    if {one["frame.interface_name"] for one in packets} != set(names):
        fail(f"expected interfaces {names}, got { {one['frame.interface_name'] for one in packets} }")
    times = block_times(path)
    shown = [int(one["frame.time_epoch"].replace(".", "")) for one in packets]
    if shown != [time // 1000 for time in times]:
        fail(f"expected tshark to show {times[:3]} ps, got {shown[:3]} ns")
    if times != sorted(times) or times[-1] > report["simulated_ps"]:
        fail(f"expected times in order, up to {report['simulated_ps']} ps, got {times}")
    payload = collections.Counter()
    for one in packets:
        if one["tcp.len"]:
            payload[one["frame.packet_flags_direction"]] += int(one["tcp.len"])
        elif one["udp.length"] and not one["icmp.type"] and not one["icmpv6.type"]:
            payload[one["frame.packet_flags_direction"]] += int(one["udp.length"]) - 8
    outbound = sum(size for way, size in payload.items() if int(way, 0) == 2)
    if outbound != report["totals"]["segment_bytes"]:
        fail(f"expected {report['totals']['segment_bytes']} bytes of payload, got {payload}")
    syns = [time for time, one in zip(times, packets) if one["tcp.flags"] and int(one["tcp.flags"], 16) == 2]
    if len(names) == 2 and not all(sent < came for sent, came in zip(syns[::2], syns[1::2])):
        fail(f"expected each SYN to come after it was sent, got {syns}")
    for name in names:
        check_interface(path, work, name)


def main():
    umwelt, program, port = sys.argv[1:]
    if shutil.which("tshark") is None:
        sys.exit(77)
    apart = ["-N", "1", "-x", "UMWELT_NODES=bxi0,bxi1"]
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        path, again, report = work / "run.pcapng", work / "again.pcapng", work / "report.json"
        for family in [], ["6"]:
            command = [program, port, *family]
            without = run(umwelt, apart, command, report)[0]
            told = run(umwelt, [*apart, "--trace", path], command, report)[0]
            if told["simulated_ps"] != without["simulated_ps"]:
                fail(f"expected {without['simulated_ps']} ps, as without a trace, got {told['simulated_ps']}")
            check(path, told, work, ["bxi0", "bxi1"])
            run(umwelt, [*apart, "--workers", "2", "--trace", again], command, report)
            if path.read_bytes() != again.read_bytes():
                fail("expected the same bytes from a run in worker processes")
            together = ["-N", "2", "-x", "UMWELT_NODES=bxi0,bxi0", "--trace", path]
            check(path, run(umwelt, together, command, report)[0], work, ["bxi0 lo"])
        run(umwelt, [*apart, "--trace", path, "--trace-ranks", "0"], [program, port], report)
        if {one["frame.interface_name"] for one in fields(path, "frame.interface_name")} != {"bxi0"}:
            fail("--trace-ranks 0: expected the interface of its node alone")
        said = run(umwelt, ["--trace", path], ["true"], report)[1]
        if "there are no packets in it" not in said or tshark(path) or block_times(path):
            fail(f"expected to be told of a capture without packets, got:\n{said}")


main()
