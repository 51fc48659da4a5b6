# SPDX-License-Identifier: LGPL-2.1-or-later
"""For gdb: symbols of all ranks of a run, and breakpoints of one rank.

    gdb -x umwelt-gdb.py --args umwelt run --cpu none --workers 0 -np 4 ./app
    (gdb) break solve                every rank
    (gdb) rank-break 2 solve         rank 2 alone
    (gdb) run
    (gdb) rank                       ranks that are loaded, and where their programs lie

umw_rank_loaded(rank, program, offset) is called for each rank before anything of it runs (loader/README.md).
"""
import gdb

RANKS = {}  # number: (program, offset)
WANTED = []  # (rank, function) of rank-break, for those that are not loaded yet


def program_range(offset: int) -> tuple[int, int]:
    """Of the program that is loaded there: mappings of the same file that follow each other."""
    begin = end = 0
    path = None
    with open(f"/proc/{gdb.selected_inferior().pid}/maps", encoding="utf-8") as maps:
        for line in maps:
            words = line.split(maxsplit=5)
            first, last = (int(word, 16) for word in words[0].split("-"))
            name = words[5].strip() if len(words) > 5 else ""
            if path is None and first <= offset < last:
                path, begin, end = name, first, last
            elif path is not None and name == path and first == end:
                end = last
            elif path is not None:
                break
    return begin, end


def break_in(rank: int, function: str) -> None:
    begin, end = program_range(RANKS[rank][1])
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


class Loaded(gdb.Breakpoint):
    """Never stops the user: takes a rank's symbols."""

    def __init__(self):
        super().__init__("umw_rank_loaded", internal=True)
        self.silent = True

    def stop(self) -> bool:
        rank = int(gdb.parse_and_eval("(int)$edi"))
        program = gdb.parse_and_eval("(char*)$rsi").string()
        offset = int(gdb.parse_and_eval("(unsigned long)$rdx"))
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
    """rank: ranks that are loaded."""

    def __init__(self):
        super().__init__("rank", gdb.COMMAND_STATUS)

    def invoke(self, argument: str, _from_tty: bool) -> None:
        if argument:
            raise gdb.GdbError("rank: expected nothing behind it. Next step: rank-break N FUNCTION stops in one rank")
        for rank, (program, offset) in sorted(RANKS.items()):
            print(f"rank {rank}: {program} at {offset:#x}")
        if not RANKS:
            print("no rank is loaded yet: `run`")


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
Rank()
RankBreak()
