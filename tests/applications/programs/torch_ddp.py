# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch_ddp.py [env|tcp] [STEPS]: DistributedDataParallel of a small network over gloo, on the CPU, from seeds.

Ranks come from the launcher (Open MPI's variables). Rank 0 tells the others by a file in the working directory where it
is; the group is made by init_method env:// or tcp://. Rank 0 prints the loss of each step to the last bit, and a hash
of the parameters, which is that of every rank, or all of them are printed.
"""
import hashlib
import os
import socket
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

RANK = int(os.environ.get("OMPI_COMM_WORLD_RANK", "0"))
RANKS = int(os.environ.get("OMPI_COMM_WORLD_SIZE", "1"))
PLACE = "torch_ddp.address"


def address_of_rank_0():
    if RANK == 0:
        with socket.socket() as probe:
            probe.bind(("", 0))
            port = probe.getsockname()[1]
        with open(PLACE + ".new", "w") as place:
            place.write(f"{socket.gethostname()} {port}")
        os.rename(PLACE + ".new", PLACE)
        return socket.gethostname(), port
    while not os.path.exists(PLACE):
        time.sleep(0.001)
    with open(PLACE) as place:
        host, port = place.read().split()
    return host, int(port)


def join(method):
    host, port = address_of_rank_0()
    if method == "env":
        os.environ.update(MASTER_ADDR=host, MASTER_PORT=str(port), RANK=str(RANK), WORLD_SIZE=str(RANKS))
        dist.init_process_group("gloo", init_method="env://")
    else:
        dist.init_process_group("gloo", init_method=f"tcp://{host}:{port}", rank=RANK, world_size=RANKS)
    dist.barrier()
    if RANK == 0:
        os.remove(PLACE)


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = nn.Conv2d(1, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.hidden = nn.Linear(4 * 6 * 6, 64)
        self.out = nn.Linear(64, 10)

    def forward(self, images):
        images = torch.relu(self.norm(self.convolution(images)))
        return self.out(torch.tanh(self.hidden(images.flatten(1))))


def hash_of(model):
    digest = hashlib.sha256()
    for parameter in model.parameters():
        digest.update(parameter.detach().numpy().tobytes())
    return torch.tensor(list(digest.digest()), dtype=torch.uint8)


def main():
    method = sys.argv[1] if len(sys.argv) > 1 else "env"
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 8
    join(method)
    torch.manual_seed(1)
    model = DistributedDataParallel(Network(), bucket_cap_mb=0.02)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    # ProcessGroupGloo (1.13) ends its threads while it holds Python's lock, which they need to free the last reference
    # to a tensor: natively that hangs now and then. So what they have had lives on.
    kept = []
    data = torch.Generator().manual_seed(100 + RANK)
    for step in range(steps):
        images = torch.randn(16, 1, 8, 8, generator=data)
        labels = torch.randint(0, 10, (16,), generator=data)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        mean = loss.detach().double()
        kept.append(mean)
        dist.all_reduce(mean)
        if RANK == 0:
            print(f"step {step} loss {(mean.item() / RANKS).hex()}")
    own = hash_of(model.module)
    hashes = [torch.empty_like(own) for _ in range(RANKS)]
    kept += [own, *hashes]
    dist.all_gather(hashes, own)
    if RANK == 0:
        texts = {bytes(one.tolist()).hex() for one in hashes}
        print(f"ranks {RANKS}, parameters {' or '.join(sorted(texts))}")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
