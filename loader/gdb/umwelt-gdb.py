# SPDX-License-Identifier: LGPL-2.1-or-later
"""For gdb: symbols, stacks and breakpoints of all ranks of a run.

    gdb -x umwelt-gdb.py --args umwelt run --cpu none --workers 0 -np 4 ./app
    (gdb) break solve                every rank
    (gdb) rank-break 2 solve         rank 2 alone
    (gdb) run
    (gdb) rank                       all ranks: what they do, where they are
    (gdb) rank 2                     shows the stack of rank 2
    (gdb) rank all bt                that command for every rank

umw_rank_loaded(rank, program, offset) is called for each rank before anything of it runs (loader/README.md).
"""
import os
import sys

import gdb

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from umwelt_fibers import Fiber, Stacks, evaluate  # noqa: E402

RANKS = {}  # number: (program, offset)
WANTED = []  # (rank, function) of rank-break, for those that are not loaded yet
LEARNT = set()  # objects that gdb has not found by itself: (path, where it is mapped)
STACKS = Stacks()
# The thread must have its own registers before it goes on.
GOES_ON = ("continue step next stepi nexti finish until advance jump signal queue-signal detach kill run start starti "
           "quit attach checkpoint generate-core-file").split()


def mappings() -> list:
    """Of files with code: (first, last, path, where the object begins)."""
    found = []
    begin, path = 0, None
    with open(f"/proc/{gdb.selected_inferior().pid}/maps", encoding="utf-8") as maps:
        for line in maps:
            words = line.split(maxsplit=5)
            first, last = (int(word, 16) for word in words[0].split("-"))
            name = words[5].strip() if len(words) > 5 else ""
            if name != path or int(words[2], 16) == 0:
                begin, path = first, name
            if "x" in words[1] and name.startswith("/"):
                found.append((first, last, name, begin))
    return found


def program_ranges() -> dict:
    """Of each rank, the addresses of its program's code."""
    begins = {offset: rank for rank, (_, offset) in RANKS.items() if offset != 0}
    # Those that are not position-independent: one of them fits into a process.
    fixed = {os.path.realpath(program): rank for rank, (program, offset) in RANKS.items() if offset == 0}
    ranges = {}
    for first, last, path, begin in mappings():
        rank = begins.get(begin, fixed.get(path))
        if rank is not None:
            ranges[rank] = (ranges.get(rank, (first, last))[0], last)
    return ranges


def break_in(rank: int, function: str) -> None:
    begin, end = program_ranges().get(rank, (0, 0))
    try:
        places = gdb.decode_line(function)[1] or ()
    except gdb.error:
        places = ()
    here = sorted({place.pc for place in places if begin <= place.pc < end})
    if not here:
        raise gdb.GdbError(f"rank-break {rank} {function}: expected a function of {RANKS[rank][0]}, got none of that "
                           "name. Next step: `info functions` lists them")
    for address in here:
        gdb.Breakpoint(f"*{address:#x}")


def unknown_object(addresses: list) -> tuple | None:
    """The first of what lies at these addresses that gdb has no symbols of: (path, where it begins)."""
    there = None
    for address in addresses:
        if gdb.solib_name(address) is not None:
            continue
        there = there or mappings()
        for first, last, path, begin in there:
            if first <= address < last and (path, begin) not in LEARNT:
                return path, begin
    return None


def learn_stack() -> None:
    """gdb is not told what ranks load later, such as components of an MPI library. Without what these say about their
    frames a stack ends there, or goes wrong, so it is read again with that."""
    LEARNT.update((os.path.realpath(program), offset) for program, offset in RANKS.values())
    most = 30
    for _ in range(most):
        frame, addresses = gdb.newest_frame(), []
        try:
            while frame is not None:
                addresses.append(frame.pc())
                frame = frame.older()
        except gdb.error:
            pass
        unknown = unknown_object(addresses)
        if unknown is None:
            return
        LEARNT.add(unknown)
        path, begin = unknown
        own = [os.path.realpath(program) for program, offset in RANKS.values() if offset == 0]
        if path not in own + [os.path.realpath(gdb.current_progspace().filename)]:
            gdb.execute(f"add-symbol-file '{path}' -o {begin:#x}", to_string=True)


def program_frame(addresses: tuple):
    """The innermost frame of the program in the stack that is shown, and what it calls; None: none."""
    begin, end = addresses
    deepest = 200
    learn_stack()
    callee, frame = None, gdb.newest_frame()
    try:
        while frame is not None and deepest > 0 and not begin <= frame.pc() < end:
            callee, frame, deepest = frame, frame.older(), deepest - 1
    except gdb.error:
        frame = None
    return (frame, callee) if frame is not None and deepest > 0 else (None, None)


def select_program(rank: int, ranges: dict) -> None:
    frame, _ = program_frame(ranges.get(rank, (0, 0)))
    (frame or gdb.newest_frame()).select()


def where_it_is(rank: int, ranges: dict) -> str:
    """Of the stack that is shown: "in MPI_Recv, called by solve (app.c:12)"."""
    if rank not in RANKS:
        return "its program is not loaded yet"
    program, offset = RANKS[rank]
    frame, callee = program_frame(ranges.get(rank, (0, 0)))
    if frame is None:
        return f"not in {program} at {offset:#x}"
    line = frame.find_sal()
    place = f"{os.path.basename(line.symtab.filename)}:{line.line}" if line.symtab else f"{frame.pc():#x}"
    called = ""
    if callee is not None:  # gdb prefers the profiling interface's names
        called = f"{(callee.name() or '?').replace('PMPI_', 'MPI_')}, called by "
    return f"in {called}{frame.name() or '?'} ({place}) of {program} at {offset:#x}"


class Place:
    """Of the user: comes back to that stack and frame, unless the program has gone on."""

    def __init__(self, fibers: list):
        self.stops = STOPS[0]
        self.fiber = next((fiber for fiber in fibers if STACKS.is_shown(fiber)), None)
        self.level = gdb.selected_frame().level()
        self.thread = gdb.selected_thread()

    def come_back(self) -> None:
        if STOPS[0] != self.stops or not self.thread.is_valid():
            return
        if self.fiber is not None and self.thread == STACKS.carrier():
            STACKS.show(self.fiber)
        else:
            STACKS.restore()
            self.thread.switch()
        frame = gdb.newest_frame()
        while frame.level() < self.level and frame.older() is not None:
            frame = frame.older()
        frame.select()


STOPS = [0]


def stopped(event: gdb.StopEvent) -> None:
    STOPS[0] += 1
    if STACKS.saved is not None:
        STACKS.forget()
        print("umwelt: the program has gone on with the registers of another rank, by a command that `help rank` does "
              "not name: it is disturbed")
    # The trap of --break is no SignalEvent: gdb takes it for one of its own.
    if gdb.newest_frame().name() == "umw_rank_stopped":
        select_program(evaluate("(int)$edi"), program_ranges())
        gdb.execute("frame")
    elif isinstance(event, (gdb.SignalEvent, gdb.BreakpointEvent)):
        learn_stack()


def over(_event) -> None:
    STACKS.forget()
    RANKS.clear()
    LEARNT.clear()


class Loaded(gdb.Breakpoint):
    """Never stops the user: takes a rank's symbols."""

    def __init__(self):
        super().__init__("umw_rank_loaded", internal=True)
        self.silent = True

    def stop(self) -> bool:
        rank = evaluate("(int)$edi")
        program = gdb.parse_and_eval("(char*)$rsi").string()
        offset = evaluate("(unsigned long)$rdx")
        RANKS[rank] = (program, offset)
        gdb.execute(f"add-symbol-file '{program}' -o {offset:#x}", to_string=True)
        for one in [one for one in WANTED if one[0] == rank]:
            WANTED.remove(one)
            try:
                break_in(*one)
            except gdb.GdbError as error:
                print(error)
        return False


class Rank(gdb.Command):
    """rank: all ranks, the shown one with a *: what they do, and where they are in their programs.
rank N: shows the stack of rank N; bt, frame, print, info locals are about it.
rank N COMMAND: that command for rank N alone. rank all COMMAND: for each.

rank N.T is its thread T, which lists leave out. What goes on (continue, step, next, finish, until, advance, jump,
signal) always goes on with the rank that runs; `rank-finish` is for the one that is shown."""

    def __init__(self):
        super().__init__("rank", gdb.COMMAND_STACK)

    def invoke(self, argument: str, from_tty: bool) -> None:
        word, _, command = argument.strip().partition(" ")
        fibers = STACKS.fibers()
        if not word or word == "all":
            if not fibers:
                print("no rank is loaded yet: `run`" if gdb.selected_inferior().pid == 0 else "no rank is there")
                return
            # Helper threads of an MPI library would be most of a list.
            main = [fiber for fiber in fibers if fiber.thread == 0 or STACKS.is_shown(fiber)]
            self.each(fibers, command if word else "", from_tty, main)
            return
        fiber = self.chosen(fibers, word)
        if command:
            self.each(fibers, command, from_tty, [fiber])
            return
        STACKS.show(fiber)
        select_program(fiber.rank, program_ranges())
        print(f"{fiber.name}: {fiber.state}")
        gdb.execute("frame", from_tty)

    @staticmethod
    def chosen(fibers: list, word: str) -> Fiber:
        rank, _, thread = word.partition(".")
        if not rank.isdigit() or not (thread or "0").isdigit():
            raise gdb.GdbError(f"rank: expected the number of a rank, or `all`, got '{word}'. For example: rank 2. "
                               "Next step: `help rank`")
        for fiber in fibers:
            if (fiber.rank, fiber.thread) == (int(rank), int(thread or 0)):
                return fiber
        there = [f"{rank}.{fiber.thread}" for fiber in fibers if str(fiber.rank) == rank and thread]
        there = there or [str(fiber.rank) for fiber in fibers if fiber.thread == 0]
        most = 20
        listed = ", ".join(there[:most] + ["..."] * (len(there) > most)) or "none"
        raise gdb.GdbError(f"rank {word}: expected one that has begun and not ended, which are: {listed}")

    @staticmethod
    def each(fibers: list, command: str, from_tty: bool, of: list) -> None:
        """Without a command: a line for each."""
        ranges = program_ranges()
        place = Place(fibers)
        for fiber in of:
            mark = "*" if fiber is place.fiber else " "
            try:
                STACKS.show(fiber)
                if not command:
                    print(f"{mark} {fiber.name}: {fiber.state}, {where_it_is(fiber.rank, ranges)}")
                    continue
                print(f"{fiber.name}: {fiber.state}")
                select_program(fiber.rank, ranges)
                gdb.execute(command, from_tty)
            except gdb.error as error:
                print(f"{fiber.name}: {error}")
            if STOPS[0] != place.stops or gdb.selected_inferior().pid == 0:
                return  # it has gone on
        place.come_back()


class BacktraceAll(gdb.Command):
    """backtrace-all [arguments of backtrace]: stacks of all ranks, one after the other."""

    def __init__(self):
        super().__init__("backtrace-all", gdb.COMMAND_STACK)

    def invoke(self, argument: str, from_tty: bool) -> None:
        gdb.execute(f"rank all backtrace {argument}", from_tty)


class RankRestore(gdb.Command):
    """rank-restore: shows the stack of the rank that runs again. What goes on does this by itself."""

    def __init__(self):
        super().__init__("rank-restore", gdb.COMMAND_STACK)

    def invoke(self, argument: str, _from_tty: bool) -> None:
        if STACKS.saved is not None:
            STACKS.restore()
            print(f"[{STACKS.running or 'Umwelt'} again, which runs]")


class RankFinish(gdb.Command):
    """rank-finish: goes on until the call that the program of the shown rank is in has returned, say MPI_Recv."""

    def __init__(self):
        super().__init__("rank-finish", gdb.COMMAND_RUNNING)

    def invoke(self, argument: str, from_tty: bool) -> None:
        fiber = next((fiber for fiber in STACKS.fibers() if STACKS.is_shown(fiber)), None)
        frame, callee = program_frame(program_ranges().get(fiber.rank, (0, 0))) if fiber else (None, None)
        if callee is None:
            raise gdb.GdbError("rank-finish: expected a rank that its program's call of a library has not come back "
                               "to, got none. Next step: `finish` is for functions of the program")
        back = gdb.Breakpoint(f"*{frame.pc():#x}", internal=True, temporary=True)
        back.condition = f"$rsp == {int(frame.read_register('rsp')) & (2**64 - 1)}"
        gdb.execute("continue", from_tty)


class RankBreak(gdb.Command):
    """rank-break N FUNCTION: stops where rank N calls that function of its program."""

    def __init__(self):
        super().__init__("rank-break", gdb.COMMAND_BREAKPOINTS)

    def invoke(self, argument: str, _from_tty: bool) -> None:
        words = gdb.string_to_argv(argument)
        if len(words) != 2 or not words[0].isdigit():
            raise gdb.GdbError(f"rank-break: expected N FUNCTION, got '{argument}'. For example: rank-break 2 solve")
        rank = int(words[0])
        if rank in RANKS:
            break_in(rank, words[1])
        else:
            WANTED.append((rank, words[1]))
            print(f"rank {rank} is not loaded yet: it will stop in {words[1]}")


for line in ("handle SIG62 SIG63 SIGSYS nostop noprint pass", "set breakpoint pending on", "set confirm off"):
    gdb.execute(line, to_string=True)
Loaded()
for one_command in (Rank, BacktraceAll, RankRestore, RankFinish, RankBreak):
    one_command()
for name in GOES_ON:
    gdb.execute(f"define hook-{name}\nrank-restore\nend", to_string=True)
gdb.events.stop.connect(stopped)
gdb.events.exited.connect(over)
gdb.events.gdb_exiting.connect(lambda _event: STACKS.restore())
