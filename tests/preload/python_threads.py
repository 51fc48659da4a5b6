# SPDX-License-Identifier: LGPL-2.1-or-later
# Python as Debian builds it (not position-independent): threads, time and extension modules that refer to the
# interpreter.
import ctypes
import decimal
import hashlib
import json
import queue
import socket
import sqlite3
import ssl
import struct
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor

work, done = queue.Queue(), queue.Queue()


def serve():
    while (item := work.get()) is not None:
        time.sleep(0.01 * item)
        done.put((item, hashlib.sha256(str(item).encode()).hexdigest()[:8]))


threads = [threading.Thread(target=serve) for _ in range(4)]
for thread in threads:
    thread.start()
for item in range(8):
    work.put(item)
for _ in threads:
    work.put(None)
for thread in threads:
    thread.join()
print(sorted(done.get() for _ in range(8)))

begin = time.monotonic()
time.sleep(0.25)
print(0.25 <= time.monotonic() - begin < 1)

condition, turn, order = threading.Condition(), 0, []


def take_turns(me):
    global turn
    for _ in range(3):
        with condition:
            condition.wait_for(lambda: turn == me, timeout=30)
            order.append(me)
            turn = (turn + 1) % 3
            condition.notify_all()


with ThreadPoolExecutor(3) as pool:
    list(pool.map(take_turns, range(3)))
print(order)

print(threading.Event().wait(0.05), threading.active_count())

compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
numbers = (ctypes.c_int * 5)(3, 1, 4, 1, 5)
ctypes.CDLL(None).qsort(numbers, 5, ctypes.sizeof(ctypes.c_int), compare(lambda a, b: a[0] - b[0]))
print(list(numbers))
print(ssl.create_default_context().verify_mode, ssl.OPENSSL_VERSION_INFO[0])
print(decimal.Decimal(1) / 7, zlib.crc32(b"umwelt"), struct.pack("<d", 1.5), json.dumps({"a": [1, None]}))
print(sqlite3.connect(":memory:").execute("select 1 + 1").fetchone(), socket.AF_INET)
try:
    ctypes.pythonapi.PyErr_SetString(ctypes.py_object(ValueError), b"from C")
except ValueError as error:
    print("caught", error)
