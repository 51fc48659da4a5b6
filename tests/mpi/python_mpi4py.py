# SPDX-License-Identifier: LGPL-2.1-or-later
# mpi4py of the distribution: hello, a ring, reductions, and pickled objects of all sizes.
import os

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size


def say(text):
    os.write(1, f"[{rank}] {text}\n".encode())


say(f"hello from {rank} of {size}")

# a ring of an object that grows
if rank == 0:
    world.send([0], dest=1 % size)
    say(f"ring {world.recv(source=size - 1)}")
else:
    world.send(world.recv(source=rank - 1) + [rank], dest=(rank + 1) % size)

assert world.allreduce(rank + 1) == size * (size + 1) // 2
assert world.allreduce([rank], op=MPI.SUM) == list(range(size))

# buffers
values = bytearray(8 * 1000)
world.Allgather([bytes([rank]) * (8 * 1000 // size), MPI.BYTE], [values, MPI.BYTE])
assert values == b"".join(bytes([r]) * (8 * 1000 // size) for r in range(size))

# pickled objects
for length in (0, 10, 1000, 100000):
    mine = {"rank": rank, "text": "x" * length, "numbers": list(range(length // 10))}
    everybody = world.gather(mine, root=size - 1)
    if rank == size - 1:
        assert [one["rank"] for one in everybody] == list(range(size))
        assert all(len(one["text"]) == length for one in everybody)
    told = world.bcast(everybody, root=size - 1)
    assert told[0]["numbers"] == list(range(length // 10))
    request = world.isend(mine, dest=(rank + 1) % size, tag=7)
    assert world.recv(source=(rank - 1) % size, tag=7)["text"] == mine["text"]
    request.wait()
    say(f"objects of {length}: as expected")
