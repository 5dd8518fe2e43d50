#!/usr/bin/python3
"""calls.py - every collective and way of messages that PyTorch has over Gloo, by ranks that are processes of this host.

    calls.py RANKS             each prints its rank, and the sum of what it got
    calls.py RANKS killed      the last rank is killed; the others catch what they get and print the types of exceptions
"""
import datetime
import os
import signal
import subprocess
import sys
import tempfile
import time


def collectives(dist, torch, rank, n):
    got = []

    def took(t):
        got.append(float(t.sum()))

    t = torch.ones(1000) * (rank + 1)
    x = t.clone()
    dist.all_reduce(x)
    took(x)
    dist.broadcast(x, 1)
    took(x)
    dist.reduce(x, n - 1)
    parts = [torch.empty(1000) for _ in range(n)]
    dist.all_gather(parts, t)
    dist.gather(t, parts if rank == 0 else None, 0)
    dist.scatter(x, parts if rank == n - 1 else None, n - 1)
    took(x)
    many = torch.empty(n * 4)
    dist.all_to_all_single(many, torch.arange(n * 4.0))
    took(many)
    uneven = torch.empty(sum(r + 1 for r in range(n)))
    dist.all_to_all_single(uneven, torch.ones((rank + 1) * n), [r + 1 for r in range(n)], [rank + 1] * n)
    took(uneven)
    dist.barrier()
    objects = [None] * n
    dist.all_gather_object(objects, {"rank": rank})
    ahead = [(x, dist.all_reduce(x, async_op=True)) for x in (t.clone() * k for k in range(20))]
    for x, work in ahead:
        work.wait()
        took(x)
    # a sparse one is three collectives of Gloo with one tag; the barrier is messages with tags of collectives
    sparse = torch.sparse_coo_tensor([[rank]], [1.0], (8,))
    dist.all_reduce(sparse)
    dist.monitored_barrier()
    return got


def groups(dist, torch, rank, n):
    """Halves of the ranks, each made by all of them, and used by its members."""
    got = []
    halves = [dist.new_group(list(range(h, n, 2))) for h in (0, 1)]
    mine = halves[rank % 2]
    for _ in range(3):
        t = torch.ones(10) * rank
        dist.all_reduce(t, group=mine)
        got.append(float(t.sum()))
    return got


def messages(dist, torch, rank, n):
    x = torch.zeros(100)
    if rank == 0:
        total = 0.0
        for _ in range(n - 1):
            dist.recv(x)
            total += float(x.sum())
        return [total]
    dist.send(torch.ones(100) * rank, 0)
    after, before = rank % (n - 1) + 1, (rank - 2) % (n - 1) + 1  # a ring of all but 0
    if n > 2:
        sent = dist.isend(torch.ones(50) * rank, after, tag=5)
        y = torch.empty(50)
        dist.irecv(y, before, tag=5).wait()
        sent.wait()
        x = y
    return [float(x.sum())]


def say(*words):
    """One write: the ranks share a pipe."""
    os.write(1, (" ".join(str(w) for w in words) + "\n").encode())


def run(rank, n, meet, killed):
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{meet}", rank=rank, world_size=n, timeout=datetime.timedelta(seconds=60))
    if not killed:
        first = dist.all_reduce(torch.ones(10), async_op=True)
        if rank == n - 1:  # it comes to wait when the collective is long over
            time.sleep(0.2)
        first.wait()
        got = []
        for _ in range(3):
            got += collectives(dist, torch, rank, n) + groups(dist, torch, rank, n) + messages(dist, torch, rank, n)
        dist.barrier()
        say(rank, sum(got))
        return
    for _ in range(3):
        dist.all_reduce(torch.ones(1000))
    if rank == n - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    caught = []
    for call in (lambda: dist.all_reduce(torch.ones(1000)), lambda: dist.recv(torch.empty(10), n - 1), lambda: dist.all_reduce(torch.ones(1000))):
        try:
            call()
            caught.append("nothing")
        except RuntimeError as e:
            caught.append(type(e).__name__)
    say(rank, *caught)


def main():
    if "RANK" in os.environ:
        run(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), os.environ["MEET"], "killed" in sys.argv)
        return 0
    with tempfile.TemporaryDirectory(prefix="calls-") as folder:
        env = dict(os.environ, WORLD_SIZE=sys.argv[1], MEET=os.path.join(folder, "meet"))
        children = [subprocess.Popen([sys.executable, *sys.argv], env=dict(env, RANK=str(r))) for r in range(int(sys.argv[1]))]
        codes = [c.wait() for c in children]
    return next((1 for c in codes if c not in (0, -signal.SIGKILL)), 0)


if __name__ == "__main__":
    sys.exit(main())
