#!/usr/bin/python3
"""mixed.py - a training whose ranks are started by MPI and get their data by it, and average gradients over Gloo.

    mpirun -n 3 mixed.py MEET [SLOW BY]      rank SLOW works BY milliseconds longer in each step
"""
import sys
import time

import numpy
import torch
import torch.distributed as dist
from mpi4py import MPI


def main():
    world = MPI.COMM_WORLD
    slow, by = (int(x) for x in (sys.argv[2:4] or (-1, 0)))
    torch.set_num_threads(1)
    torch.manual_seed(1)
    dist.init_process_group("gloo", init_method=f"file://{sys.argv[1]}", rank=world.rank, world_size=world.size)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 64))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.05)
    batch = numpy.zeros((8, 64), dtype="float32")
    for step in range(150):
        if world.rank == 0:
            batch[:] = numpy.sin(numpy.arange(512).reshape(8, 64) + step)
        world.Bcast(batch)
        time.sleep((8 + (by if world.rank == slow else 0)) * 1e-3)
        loss = model(torch.from_numpy(batch)).pow(2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    if world.rank == 0:
        print("loss", float(loss).hex(), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
