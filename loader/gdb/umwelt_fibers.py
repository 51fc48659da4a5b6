# SPDX-License-Identifier: LGPL-2.1-or-later
"""For gdb: the stacks of ranks that do not run. One OS thread runs one rank after the other, each on a stack of its own
(runtime/engine/fiber_table.h). What a rank had in the registers when it was left lies on its stack, so the thread is
given those to look at it, and gets its own back before it goes on.
"""
import re
import struct

import gdb

STATES = ("ready", "running", "waiting", "ended")  # engine::Actor::State
# What jump_fcontext of boost.context pushes behind mxcsr and the x87 control word (x86-64, System V).
PUSHED = ("r12", "r13", "r14", "r15", "rbx", "rbp", "rip")
# Not changed, but gdb changes it with $rip: the kernel restarts a system call by it.
KEPT = ("rsp", "rip", "rbp", "rbx", "r12", "r13", "r14", "r15", "orig_rax")


def evaluate(expression: str) -> int:
    """In C, whatever the selected frame is written in."""
    language = gdb.parameter("language")
    gdb.execute("set language c", to_string=True)
    try:
        return int(gdb.parse_and_eval(expression))
    finally:
        gdb.execute(f"set language {language}", to_string=True)


def read(address: int, layout: str) -> tuple:
    return struct.unpack(layout, gdb.selected_inferior().read_memory(address, struct.calcsize(layout)))


def text_at(address: int) -> str:
    return gdb.Value(address).cast(gdb.lookup_type("char").pointer()).string()


class Fiber:
    def __init__(self, record: tuple):
        name, context, state, self.low, self.high = record
        self.name = text_at(name)
        self.context, = read(context, "<Q")
        self.state = STATES[read(state, "<B")[0]]
        self.runs = False
        found = re.match(r"rank (\d+) \([^)]*\)(?: thread (\d+))?$", self.name)
        self.rank, self.thread = (int(found[1]), int(found[2] or 0)) if found else (-1, 0)

    def registers(self) -> dict:
        pushed = read(self.context + 8, "<7Q")
        return {"rsp": self.context + 64, **dict(zip(PUSHED, pushed))}


class Stacks:
    """Whose stack the thread shows."""

    def __init__(self):
        self.saved = None  # (thread, its registers) while it shows another stack than its own
        self.shown = None  # name of the fiber
        self.running = None  # of the one that runs

    def carrier(self) -> gdb.InferiorThread:
        """The one that runs all ranks: the process' first."""
        for thread in gdb.selected_inferior().threads():
            if thread.ptid[0] == thread.ptid[1]:
                return thread
        raise gdb.GdbError("rank: expected a process that is stopped, got none. Next step: `run`")

    def fibers(self) -> list:
        """Those of ranks that have not ended."""
        if gdb.selected_inferior().pid == 0:
            return []
        try:
            first, count = read(evaluate("(unsigned long)&umw_fiber_table"), "<QQ")
            table = gdb.selected_inferior().read_memory(first, 40 * count) if count else b""
            fibers = list(map(Fiber, struct.iter_unpack("<5Q", table)))
        except gdb.error:
            return []  # not that far yet
        fibers = [fiber for fiber in fibers if fiber.rank >= 0 and fiber.state != "ended"]
        self._find_running(fibers)
        return sorted(fibers, key=lambda fiber: (fiber.rank, fiber.thread))

    def _find_running(self, fibers: list) -> None:
        if self.saved is not None:
            stack = self.saved[1]["rsp"]
        else:
            selected, carrier = gdb.selected_thread(), self.carrier()
            if selected != carrier:
                carrier.switch()
            stack = int(gdb.newest_frame().read_register("rsp")) & (2**64 - 1)
            if selected is not None and selected != carrier:
                selected.switch()
        on_it = [fiber for fiber in fibers if fiber.low <= stack < fiber.high]
        # A handler, or a program with stacks of its own.
        self.running = None
        for fiber in on_it or [fiber for fiber in fibers if fiber.state == "running"][:1]:
            fiber.runs, fiber.state, self.running = True, "running", fiber.name

    def is_shown(self, fiber: Fiber) -> bool:
        return fiber.runs if self.saved is None else fiber.name == self.shown

    def show(self, fiber: Fiber) -> None:
        if fiber.runs:
            self.restore()
            self.carrier().switch()
            return
        carrier = self.carrier()
        if gdb.selected_thread() != carrier:
            carrier.switch()
        registers = fiber.registers()
        if self.saved is None:
            frame = gdb.newest_frame()
            self.saved = (carrier, {name: int(frame.read_register(name)) & (2**64 - 1) for name in KEPT})
        self.shown = fiber.name
        self._write(registers)

    def restore(self) -> None:
        """The thread shows its own stack, and may go on."""
        if self.saved is None:
            return
        (carrier, registers), self.saved = self.saved, None
        if not carrier.is_valid():
            return
        selected = gdb.selected_thread()
        if selected != carrier:
            carrier.switch()
        self._write(registers)
        if selected is not None and selected != carrier:
            selected.switch()

    def forget(self) -> None:
        self.saved = None

    @staticmethod
    def _write(registers: dict) -> None:
        language = gdb.parameter("language")
        gdb.execute("set language c", to_string=True)
        try:
            for name, value in registers.items():
                gdb.newest_frame().select()  # in others they are where the callee has put them
                gdb.execute(f"set var ${name} = {value:#x}", to_string=True)
        finally:
            gdb.execute(f"set language {language}", to_string=True)
        gdb.newest_frame().select()
