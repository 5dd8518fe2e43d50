#!/usr/bin/python3
"""train.py - trainings with PyTorch over Gloo, as researchers write them: small, deterministic, and one rank can be made slower.

    srun -n 4 train.py ddp --steps 200 --slow 2 --by 5

    ddp          DistributedDataParallel
    accumulate   the same, with several batches a step of which only the last one is synchronised (no_sync)
    average      no wrapper: each gradient is averaged by an all-reduce after the backward pass
    zero         DistributedDataParallel, and an optimizer whose state is spread over the ranks (ZeroRedundancyOptimizer)
    fsdp         parameters spread over the ranks (FullyShardedDataParallel)
    pipeline     each rank is a stage: activations and gradients travel by send and recv
    server       rank 0 has the parameters; the others get them, send gradients back, and wait for nobody else

Each rank takes its rank and the number of ranks from the environment: RANK and WORLD_SIZE, else SLURM_PROCID and SLURM_NTASKS. Without either it starts
--ranks processes itself. They find each other by a file (--meet), or as torchrun says.  The last line of rank 0 is "result: steps N loss HEX step_s S": the
loss in hexadecimal, so that two runs can be compared bit by bit (of server: it depends on who comes first), and the median time of a step.

Of average and pipeline another line has what the ranks' time went into, by clocks around their calls, as the programs in C print it:
"shares: compute C messages M collectives L".

With --mark each rank marks what its steps consist of by the module syncguard (PYTHONPATH), and reports its loss.
"""
import argparse
import contextlib
import os
import random
import subprocess
import sys
import time
import types


def arguments():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("loop", nargs="?", default="ddp", choices=sorted(LOOPS))
    a.add_argument("--steps", type=int, default=200)
    a.add_argument("--while", dest="hold", default=None, metavar="FILE", help="more steps than that while the file is there")
    a.add_argument("--warm", type=int, default=20, help="steps that are not timed")
    a.add_argument("--ranks", type=int, default=4, help="processes to start where nobody has")
    a.add_argument("--model", choices=("mlp", "char"), default="mlp", help="layers of numbers, or a recurrent model of the characters of this file")
    a.add_argument("--hidden", type=int, default=96)
    a.add_argument("--layers", type=int, default=8)
    a.add_argument("--batch", type=int, default=8)
    a.add_argument("--length", type=int, default=24, help="characters of a sequence")
    a.add_argument("--batches", type=int, default=4, help="in a step of accumulate")
    a.add_argument("--bucket-mb", type=float, default=0.1, help="of DistributedDataParallel's buckets")
    a.add_argument("--work", type=float, default=20, help="milliseconds that the model sleeps in each forward pass, as if it waited for its device")
    a.add_argument("--slow", type=int, default=-1, help="this rank ...")
    a.add_argument("--by", type=float, default=0, help="... takes so many milliseconds longer in each step")
    a.add_argument("--from-step", type=int, default=0)
    a.add_argument("--in-input", action="store_true", help="it is its input that takes longer, not its work")
    a.add_argument("--uneven", type=float, default=0, help="lengths of sequences, and work with them, vary by so much of their mean: 0.5 for half to one and a half")
    a.add_argument("--mark", action="store_true", help="mark phases and report the loss, by the module syncguard")
    a.add_argument("--nan", type=int, default=-1, help="the loss of this rank is no number in step --nan-step")
    a.add_argument("--nan-step", type=int, default=100)
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


def marks(o):
    """The module syncguard, or what does nothing in its place."""
    if o.mark:
        import syncguard
        return syncguard
    return types.SimpleNamespace(phase=lambda name: contextlib.nullcontext(), inputs=iter, loss=lambda value: None, step=lambda: None)


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


class Run:
    """What every loop needs: who this is, its steps, its data, and how long its work takes."""

    def __init__(self, o, rank, ranks, torch, dist):
        self.o, self.rank, self.ranks, self.torch, self.dist = o, rank, ranks, torch, dist
        self.mark, self.clocks, self.ends = marks(o), Clocks(), []
        self.step = 0  # in progress
        self.share = 1.0  # of the mean length, this batch's
        self._lengths = random.Random(f"lengths/{rank}")
        self._data = torch.Generator().manual_seed(1000 + rank)
        with open(__file__, "rb") as f:
            self._text = torch.tensor(list(f.read()))

    def is_slow(self):
        return self.rank == self.o.slow and self.step >= self.o.from_step

    def work(self, share=1.0):
        """As if the model waited for its device."""
        longer = self.o.by if self.is_slow() and not self.o.in_input else 0
        time.sleep((self.o.work * self.share + longer) * share * 1e-3)

    def numbers(self):
        """Of the steps. With --while rank 0 looks whether the file is there, and writes down which step is the last, in time: no rank is more than a step
        ahead of it."""
        o, step, last = self.o, 0, None
        if not o.hold:
            yield from range(o.steps)
            return
        told = o.hold + ".last"
        while last is None or step <= last:
            yield step
            if last is None and self.rank == 0 and step + 1 >= o.steps and not os.path.exists(o.hold):
                last = step + 3
                with open(told + ".new", "w") as f:
                    f.write(str(last))
                os.rename(told + ".new", told)
            elif last is None and self.rank != 0 and os.path.exists(told):
                with open(told) as f:
                    last = int(f.read())
            step += 1

    def batch(self):
        o, torch = self.o, self.torch
        self.share = 1 + o.uneven * self._lengths.uniform(-1, 1)
        if o.model == "mlp":
            return torch.randn(o.batch, o.hidden, generator=self._data)
        length = max(2, round(o.length * self.share))
        at = torch.randint(len(self._text) - length - 1, (o.batch,), generator=self._data)
        return torch.stack([self._text[i:i + length + 1] for i in at])

    def batches(self, a_step=1):
        """Those of each step, as a loader gives them."""
        for self.step in self.numbers():
            if self.o.in_input and self.is_slow():
                time.sleep(self.o.by * 1e-3)
            yield [self.batch() for _ in range(a_step)]

    def done(self):
        self.ends.append(time.perf_counter())

    def model(self):
        """It works in its forward pass."""
        o, torch, run = self.o, self.torch, self

        class Device(torch.nn.Module):
            def forward(self, x):
                run.work(1 / o.batches if o.loop == "accumulate" else 1)
                return x

        class Characters(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.embed = torch.nn.Embedding(256, o.hidden)
                self.recurrent = torch.nn.GRU(o.hidden, o.hidden, batch_first=True)
                self.out = torch.nn.Linear(o.hidden, 256)

            def forward(self, x):
                return self.out(self.recurrent(self.embed(x))[0])

        if o.model == "char":
            return torch.nn.Sequential(Device(), Characters())
        layers = [Device()]
        for _ in range(o.layers):
            layers += [torch.nn.Linear(o.hidden, o.hidden), torch.nn.Tanh()]
        return torch.nn.Sequential(*layers)

    def loss_of(self, model, x):
        torch, o = self.torch, self.o
        if o.model == "char":
            loss = torch.nn.functional.cross_entropy(model(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
        else:
            target = torch.randn(o.hidden, o.hidden, generator=torch.Generator().manual_seed(7)) / o.hidden ** 0.5
            loss = torch.nn.functional.mse_loss(model(x), torch.tanh(x @ target))
        if self.rank == o.nan and self.step + 1 == o.nan_step:
            loss = loss * float("nan")
        return loss

    def mean(self, loss):
        total = loss.detach().clone().reshape(1)
        self.dist.all_reduce(total)
        return float(total) / self.ranks


def distributed(run):
    """The model under DistributedDataParallel."""
    run.dist._DEFAULT_FIRST_BUCKET_BYTES = int(run.o.bucket_mb * 2**20)  # the first one would have 1 MB, which is all of it
    model = run.torch.nn.parallel.DistributedDataParallel(run.model(), bucket_cap_mb=run.o.bucket_mb)
    if run.o.mark:
        model.register_comm_hook(None, run.mark.ddp_hook)
    return model


def train(run, model, optimiser, a_step=1, sync=None):
    """a_step batches a step; sync(): called between backward pass and optimizer."""
    mark, loss = run.mark, None
    for batches in mark.inputs(run.batches(a_step)):
        optimiser.zero_grad()
        for n, x in enumerate(batches):
            with model.no_sync() if n < a_step - 1 else contextlib.nullcontext():
                with mark.phase("forward"):
                    loss = run.loss_of(model, x)
                with mark.phase("backward"):
                    loss.backward()
        if sync:
            sync()
        with mark.phase("optimizer"):
            optimiser.step()
        mark.loss(loss)
        mark.step()
        run.done()
    return run.mean(loss)


def ddp(run):
    model = distributed(run)
    return train(run, model, run.torch.optim.SGD(model.parameters(), lr=0.05))


def accumulate(run):
    model = distributed(run)
    return train(run, model, run.torch.optim.SGD(model.parameters(), lr=0.05), a_step=run.o.batches)


def average(run):
    model = run.model()

    def sync():
        for p in model.parameters():
            with run.clocks.of("collectives"):
                run.dist.all_reduce(p.grad)
            p.grad /= run.ranks

    return train(run, model, run.torch.optim.SGD(model.parameters(), lr=0.05), sync=sync)


def zero(run):
    from torch.distributed.optim import ZeroRedundancyOptimizer
    model = distributed(run)
    return train(run, model, ZeroRedundancyOptimizer(model.parameters(), optimizer_class=run.torch.optim.SGD, lr=0.05))


def fsdp(run):
    from torch.distributed.fsdp import FullyShardedDataParallel
    model = FullyShardedDataParallel(run.model(), device_id=run.torch.device("cpu"))
    return train(run, model, run.torch.optim.SGD(model.parameters(), lr=0.05))


def pipeline(run):
    """A stage receives activations, works, and sends them on; gradients come back the same way."""
    o, torch, dist, rank, last = run.o, run.torch, run.dist, run.rank, run.ranks - 1
    stage = torch.nn.Sequential(torch.nn.Linear(o.hidden, o.hidden), torch.nn.Tanh())
    optimiser = torch.optim.SGD(stage.parameters(), lr=0.05)
    data = torch.Generator().manual_seed(1000)
    loss = torch.zeros(1)
    for run.step in range(o.steps):
        x = torch.randn(o.batch, o.hidden, generator=data)
        if rank > 0:
            with run.clocks.of("messages"):
                dist.recv(x, rank - 1, tag=1)
        x.requires_grad_(rank > 0)
        run.work()
        y = stage(x)
        optimiser.zero_grad()
        if rank < last:
            grad = torch.empty_like(y)
            with run.clocks.of("messages"):
                sent = dist.isend(y.detach(), rank + 1, tag=1)
                dist.recv(grad, rank + 1, tag=2)
                sent.wait()
            y.backward(grad)
        else:
            loss = (y ** 2).mean()
            loss.backward()
        if rank > 0:
            with run.clocks.of("messages"):
                dist.send(x.grad, rank - 1, tag=2)
        norm = sum((p.grad ** 2).sum() for p in stage.parameters())
        with run.clocks.of("collectives"):
            dist.all_reduce(norm)
        for p in stage.parameters():
            p.grad /= max(1.0, float(norm) ** 0.5)
        optimiser.step()
        run.done()
    return run.mean(loss) * run.ranks


def server(run):
    """A worker's parameters are those of when it asked: others have changed them since."""
    o, torch, dist = run.o, run.torch, run.dist
    model, loss = run.model(), torch.zeros(1)
    flat = torch.nn.utils.parameters_to_vector(model.parameters()).detach()
    if run.rank == 0:
        grad = torch.empty_like(flat)
        for _ in range(o.steps * (run.ranks - 1)):
            worker = dist.recv(grad)
            flat -= 0.05 / (run.ranks - 1) * grad
            dist.send(flat, worker)
            run.done()
        return run.mean(loss) * run.ranks / (run.ranks - 1)
    for (x,) in run.batches():
        torch.nn.utils.vector_to_parameters(flat, model.parameters())
        loss = run.loss_of(model, x)
        model.zero_grad()
        loss.backward()
        dist.send(torch.nn.utils.parameters_to_vector(p.grad for p in model.parameters()), 0)
        dist.recv(flat, 0)
        run.done()
    return run.mean(loss)


LOOPS = {f.__name__: f for f in (ddp, accumulate, average, zero, fsdp, pipeline, server)}


def main():
    o = arguments()
    me = who()
    if not me:
        import tempfile
        with tempfile.TemporaryDirectory(prefix="train-") as folder:
            return start(o.ranks, os.path.join(folder, "meet"))
    rank, ranks = me
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    torch.manual_seed(1)
    dist.init_process_group("gloo", init_method=f"file://{os.path.abspath(o.meet)}" if o.meet else "env://", rank=rank, world_size=ranks)
    run = Run(o, rank, ranks, torch, dist)
    loss = LOOPS[o.loop](run)
    shares = run.clocks.shares(dist, torch) if o.loop in ("average", "pipeline") else None
    times = sorted(b - a for a, b in zip(run.ends[o.warm:], run.ends[o.warm + 1:]))
    step_s = times[len(times) // 2] if times else float("nan")
    if rank == 0:
        if shares:
            print(shares)
        print(f"result: steps {len(run.ends)} loss {loss.hex()} step_s {step_s:.6f}", flush=True)
    dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
