#!/usr/bin/python3
"""elastic.py - a training as torchrun starts it, whose loaders are processes of their own.

    torchrun --standalone --nproc_per_node 2 elastic.py [again FILE | leave]
    elastic.py start COMMAND...      the same of two ranks, where torchrun does not work: Debian 12's needs an older Python

again FILE: rank 1 fails in the middle as long as FILE is not there, and makes it: torchrun starts all workers again.  leave: ranks end by os._exit().
Rank 0 prints its loss in hexadecimal.
"""
import os
import socket
import subprocess
import sys
import time


def start(command, tries=2):
    """Both ranks; all of them again when one fails, as torchrun does."""
    for _ in range(tries):
        with socket.create_server(("127.0.0.1", 0)) as s:
            port = s.getsockname()[1]
        env = dict(os.environ, MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), WORLD_SIZE="2")
        ranks = [subprocess.Popen(command, env=dict(env, RANK=str(r))) for r in range(2)]
        while all(r.poll() is None for r in ranks):
            time.sleep(0.05)
        if any(r.poll() for r in ranks):
            for r in ranks:
                r.kill()
        if not any([r.wait() for r in ranks]):
            return 0
    return 1


if sys.argv[1:2] == ["start"]:
    sys.exit(start(sys.argv[2:]))
import torch
import torch.distributed as dist


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 96

    def __getitem__(self, i):
        return torch.full((8,), i / 96)


def main():
    how, *rest = sys.argv[1:] or [""]
    torch.set_num_threads(1)
    torch.manual_seed(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 1))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    step = 0
    for _ in range(3):
        for x in torch.utils.data.DataLoader(Numbers(), batch_size=8, num_workers=2):
            loss = (model(x) + rank).pow(2).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            step += 1
            if how == "again" and rank == 1 and step == 18 and not os.path.exists(rest[0]):
                open(rest[0], "w").close()
                sys.exit(3)
    if rank == 0:
        print("loss", float(loss).hex(), flush=True)
    if how == "leave":
        os._exit(0)


if __name__ == "__main__":
    main()
