#!/usr/bin/python3
"""ddp.py - a training with PyTorch's DistributedDataParallel over Gloo: small, deterministic, and one rank can be made slower.

    srun -n 4 ddp.py --steps 200 --slow 2 --by 5

Each rank takes its rank and the number of ranks from the environment: RANK and WORLD_SIZE, else SLURM_PROCID and SLURM_NTASKS. Without either it starts
--ranks processes itself. They find each other by a file (--meet).  The last line of rank 0 is "result: steps N loss HEX step_s S": the loss in hexadecimal,
so that two runs can be compared bit by bit, and the median time of a step.

With --average and with --pipeline another line has what the ranks' time went into, by clocks around their calls, as the programs in C print it:
"shares: compute C messages M collectives L".

With --mark each rank marks what its steps consist of by the module syncguard (PYTHONPATH), and reports its loss.
"""
import argparse
import contextlib
import os
import subprocess
import sys
import time
import types


def arguments():
    a = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    a.add_argument("--steps", type=int, default=200)
    a.add_argument("--while", dest="hold", default=None, metavar="FILE", help="more steps than that while the file is there")
    a.add_argument("--warm", type=int, default=20, help="steps that are not timed")
    a.add_argument("--ranks", type=int, default=4, help="processes to start where nobody has")
    a.add_argument("--hidden", type=int, default=96)
    a.add_argument("--layers", type=int, default=8)
    a.add_argument("--batch", type=int, default=8)
    a.add_argument("--bucket-mb", type=float, default=0.1, help="of DistributedDataParallel's buckets")
    a.add_argument("--work", type=float, default=20, help="milliseconds that each rank sleeps in each step, as if it waited for its device")
    a.add_argument("--slow", type=int, default=-1, help="this rank ...")
    a.add_argument("--by", type=float, default=0, help="... works so many milliseconds longer in each step")
    a.add_argument("--from-step", type=int, default=0)
    a.add_argument("--in-input", action="store_true", help="it is its input that takes longer, not its work")
    a.add_argument("--mark", action="store_true", help="mark phases and report the loss, by the module syncguard")
    a.add_argument("--nan", type=int, default=-1, help="the loss of this rank is no number in step --nan-step")
    a.add_argument("--nan-step", type=int, default=100)
    a.add_argument("--average", action="store_true", help="no DistributedDataParallel: each gradient is averaged by an all-reduce after the backward pass")
    a.add_argument("--pipeline", action="store_true", help="no data parallelism: each rank is a stage, and passes on what it made by messages")
    a.add_argument("--meet", default=None, help="a file that no other run uses")
    return a.parse_args()


def who():
    for rank, ranks in (("RANK", "WORLD_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS")):
        if rank in os.environ and ranks in os.environ:
            return int(os.environ[rank]), int(os.environ[ranks])
    return None


def start(ranks, meet):
    """All ranks on this host; the exit status of the first that fails."""
    children = []
    for rank in range(ranks):
        env = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(ranks))
        children.append(subprocess.Popen([sys.executable, *sys.argv, "--meet", meet], env=env))
    codes = [c.wait() for c in children]
    return next((c for c in codes if c), 0)


def is_slow(o, rank, step):
    return rank == o.slow and step >= o.from_step


def work(o, rank, step):
    time.sleep((o.work + (o.by if is_slow(o, rank, step) and not o.in_input else 0)) * 1e-3)


def marks(o):
    """The module syncguard, or what does nothing in its place."""
    if o.mark:
        import syncguard
        return syncguard
    return types.SimpleNamespace(phase=lambda name: contextlib.nullcontext(), inputs=iter, loss=lambda value: None, step=lambda: None)


def numbers(o, rank):
    """Of the steps. With --while rank 0 looks whether the file is there, and writes down which step is the last, in time: no rank is more than a step
    ahead of it."""
    if not o.hold:
        yield from range(o.steps)
        return
    step, last, told = 0, None, o.hold + ".last"
    while last is None or step <= last:
        yield step
        if last is None and rank == 0 and step + 1 >= o.steps and not os.path.exists(o.hold):
            last = step + 3
            with open(told + ".new", "w") as f:
                f.write(str(last))
            os.rename(told + ".new", told)
        elif last is None and rank != 0 and os.path.exists(told):
            with open(told) as f:
                last = int(f.read())
        step += 1


def batches(o, rank, torch):
    data = torch.Generator().manual_seed(1000 + rank)
    for step in numbers(o, rank):
        if o.in_input and is_slow(o, rank, step):
            time.sleep(o.by * 1e-3)
        yield torch.randn(o.batch, o.hidden, generator=data)


class Clocks:
    """How long the calls that communicate took, in seconds, as the program sees it."""

    def __init__(self):
        self.began = time.perf_counter()
        self.spent = {"messages": 0, "collectives": 0}

    @contextlib.contextmanager
    def of(self, what):
        begin = time.perf_counter()
        yield
        self.spent[what] += time.perf_counter() - begin

    def shares(self, dist, torch):
        """Of the time of all ranks until now."""
        sums = torch.tensor([time.perf_counter() - self.began, self.spent["messages"], self.spent["collectives"]], dtype=torch.float64)
        dist.all_reduce(sums)
        messages, collectives = float(sums[1] / sums[0]), float(sums[2] / sums[0])
        return f"shares: compute {1 - messages - collectives:.4f} messages {messages:.4f} collectives {collectives:.4f}"


def train(o, rank, ranks, step_done, clocks):
    import torch
    import torch.distributed as dist

    dist._DEFAULT_FIRST_BUCKET_BYTES = int(o.bucket_mb * 2**20)  # the first one would have 1 MB, which is all of it
    layers = []
    for _ in range(o.layers):
        layers += [torch.nn.Linear(o.hidden, o.hidden), torch.nn.Tanh()]
    model = torch.nn.Sequential(*layers)
    if not o.average:
        model = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=o.bucket_mb)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.05)
    mark = marks(o)
    if o.mark:
        model.register_comm_hook(None, mark.ddp_hook)
    target = torch.randn(o.hidden, o.hidden, generator=torch.Generator().manual_seed(7)) / o.hidden ** 0.5
    loss = None
    for step, x in enumerate(mark.inputs(batches(o, rank, torch))):
        with mark.phase("forward"):
            work(o, rank, step)
            loss = torch.nn.functional.mse_loss(model(x), torch.tanh(x @ target))
            if rank == o.nan and step + 1 == o.nan_step:
                loss = loss * float("nan")
        optimiser.zero_grad()
        with mark.phase("backward"):
            loss.backward()
        for p in model.parameters() if o.average else ():
            with clocks.of("collectives"):
                dist.all_reduce(p.grad)
            p.grad /= ranks
        with mark.phase("optimizer"):
            optimiser.step()
        mark.loss(loss)
        mark.step()
        step_done(step)
    total = loss.detach().clone()
    dist.all_reduce(total)
    return float(total) / ranks


def pipe(o, rank, ranks, step_done, clocks):
    """Each rank is a stage: it receives activations, works, and sends them on; gradients come back the same way."""
    import torch
    import torch.distributed as dist

    layers = [torch.nn.Linear(o.hidden, o.hidden), torch.nn.Tanh()]
    stage = torch.nn.Sequential(*layers)
    optimiser = torch.optim.SGD(stage.parameters(), lr=0.05)
    data = torch.Generator().manual_seed(1000)
    loss = torch.zeros(1)
    for step in range(o.steps):
        x = torch.randn(o.batch, o.hidden, generator=data)
        if rank > 0:
            with clocks.of("messages"):
                dist.recv(x, rank - 1, tag=1)
        x.requires_grad_(rank > 0)
        work(o, rank, step)
        y = stage(x)
        optimiser.zero_grad()
        if rank < ranks - 1:
            grad = torch.empty_like(y)
            with clocks.of("messages"):
                sent = dist.isend(y.detach(), rank + 1, tag=1)
                dist.recv(grad, rank + 1, tag=2)
                sent.wait()
            y.backward(grad)
        else:
            loss = (y ** 2).mean()
            loss.backward()
        if rank > 0:
            with clocks.of("messages"):
                dist.send(x.grad, rank - 1, tag=2)
        norm = sum((p.grad ** 2).sum() for p in stage.parameters())
        with clocks.of("collectives"):
            dist.all_reduce(norm)
        for p in stage.parameters():
            p.grad /= max(1.0, float(norm) ** 0.5)
        optimiser.step()
        step_done(step)
    total = loss.detach().clone().reshape(1)
    dist.all_reduce(total)
    return float(total)


def main():
    o = arguments()
    me = who()
    if not me:
        import tempfile
        with tempfile.TemporaryDirectory(prefix="ddp-") as folder:
            return start(o.ranks, os.path.join(folder, "meet"))
    rank, ranks = me
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    torch.manual_seed(1)
    dist.init_process_group("gloo", init_method=f"file://{os.path.abspath(o.meet)}", rank=rank, world_size=ranks)
    ends = []
    clocks = Clocks()
    loss = (pipe if o.pipeline else train)(o, rank, ranks, lambda step: ends.append(time.perf_counter()), clocks)
    shares = clocks.shares(dist, torch) if o.average or o.pipeline else None
    times = sorted(b - a for a, b in zip(ends[o.warm:], ends[o.warm + 1:]))
    step_s = times[len(times) // 2] if times else float("nan")
    if rank == 0:
        if shares:
            print(shares)
        print(f"result: steps {len(ends)} loss {loss.hex()} step_s {step_s:.6f}", flush=True)
    dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
