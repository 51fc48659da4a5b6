# SPDX-License-Identifier: LGPL-2.1-or-later
"""Python's threads: locks, conditions, queues, timed waits, pools, timers. Same output natively and simulated."""

import concurrent.futures
import queue
import threading
import time


def counter():
    lock = threading.Lock()
    total = 0

    def count():
        nonlocal total
        for _ in range(2000):
            with lock:
                total += 1

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("counted", total)


def pipeline():
    first, second = queue.Queue(maxsize=4), queue.Queue()

    def square():
        while (item := first.get()) is not None:
            second.put(item * item)

    workers = [threading.Thread(target=square) for _ in range(3)]
    for worker in workers:
        worker.start()
    for number in range(100):
        first.put(number)
    for worker in workers:
        first.put(None)
    for worker in workers:
        worker.join()
    print("squares", sum(second.get() for _ in range(100)))


def turns():
    condition = threading.Condition()
    turn = 0

    def take(me):
        nonlocal turn
        for round_number in range(3):
            with condition:
                condition.wait_for(lambda: turn % 3 == me)
                print("thread", me, "round", round_number)
                turn += 1
                condition.notify_all()

    threads = [threading.Thread(target=take, args=(me,)) for me in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def waits():
    begin = time.monotonic()
    told = threading.Event().wait(0.05)
    print("event told", told, "early", time.monotonic() - begin < 0.049)
    begin = time.monotonic()
    got = threading.Lock()
    got.acquire()
    print("lock got", got.acquire(timeout=0.02), "early", time.monotonic() - begin < 0.019)
    try:
        queue.Queue().get(timeout=0.02)
    except queue.Empty:
        print("queue empty")
    rung = threading.Event()
    timer = threading.Timer(0.02, rung.set)
    timer.start()
    print("timer", rung.wait(60))
    timer.join()
    barrier = threading.Barrier(3)
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        print("barrier", sorted(pool.map(lambda _: barrier.wait(), range(3))))


def spinning():
    ready = [False]
    thread = threading.Thread(target=lambda: ready.__setitem__(0, True))
    thread.start()
    while not ready[0]:
        pass
    thread.join()
    print("ready", ready[0])


def failing():
    def fail(number):
        raise ValueError(number)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(fail, number) for number in range(3)]
    print("errors", [str(future.exception()) for future in futures])


counter()
pipeline()
turns()
waits()
spinning()
failing()
print("threads left", threading.active_count())
