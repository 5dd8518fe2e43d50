#!/usr/bin/env python3
"""train.py CASE FOLDER - what trainings on GPUs do, in small, by torch.distributed over NCCL: to be started by torchrun, with
several ranks on one GPU where there is no more.

Each rank leaves FOLDER/rank<N>.json: when each of its steps ended, and what it ran on.  From the middle of the run the cases whose name
says so have one rank that is slower, or stays away.
"""

import contextlib
import json
import os
import sys
import threading
import time

RANK = int(os.environ["RANK"])
# NCCL takes ranks on one GPU only for ranks of several hosts.
os.environ["NCCL_HOSTID"] = "host%d" % RANK

import torch
import torch.distributed as dist
from torch import nn

BACKEND = os.environ.get("BACKEND", "nccl")
SLOW = 2  # the rank that becomes slow, or stays away
PAUSE = 8.0  # seconds for which it stays away
MICROBATCHES = 4  # of a step of the pipeline


def device():
    return torch.device("cuda", 0) if BACKEND == "nccl" else torch.device("cpu")


def model(width=1024, layers=4):
    parts = []
    for _ in range(layers):
        parts += [nn.Linear(width, width), nn.ReLU()]
    torch.manual_seed(1)
    return nn.Sequential(*parts).to(device())


def batch(width=1024, rows=256):
    return torch.randn(rows, width, device=device())


def work_longer(milliseconds):
    """Keeps this rank's GPU busy, in one thread of it: other ranks on the same GPU hardly notice."""
    if BACKEND == "nccl":
        torch.cuda._sleep(int(milliseconds * 1.7e6))
    else:
        time.sleep(milliseconds / 1e3)


def dump(folder):
    """What PyTorch's flight recorder has, in both of its forms."""
    for name, of, arguments in [("pickle", "_dump_nccl_trace", {"includeStackTraces": False}), ("json", "_dump_nccl_trace_json", {})]:
        try:
            kept = getattr(torch._C._distributed_c10d, of)(**arguments)
            with open("%s/flight-%d.%s" % (folder, RANK, name), "wb") as out:
                out.write(kept)
        except (AttributeError, RuntimeError, TypeError) as problem:
            print("train.py: no flight recorder:", problem, file=sys.stderr)


class Run:
    def __init__(self, case, folder, steps):
        self.case, self.steps, self.ended, self.middle = case, steps, [], steps // 2
        if case.endswith("-hang"):
            threading.Thread(target=self.dump_when_stuck, args=[folder], daemon=True).start()

    def dump_when_stuck(self, folder):
        while len(self.ended) < self.middle or time.time() < self.ended[self.middle - 1] + PAUSE / 2:
            time.sleep(0.1)
        dump(folder)

    def disturb(self, step, milliseconds=20):
        """Does to a step what the case's name says."""
        if RANK != SLOW or step < self.middle:
            return
        if self.case.endswith("-slow"):
            work_longer(milliseconds)
        elif self.case.endswith("-loader"):
            time.sleep(milliseconds / 1e3)
        elif self.case.endswith("-hang") and step == self.middle:
            time.sleep(PAUSE)

    def end_step(self):
        if BACKEND == "nccl":
            torch.cuda.synchronize()
        self.ended.append(time.time())


def train_ddp(run, wrap):
    net = wrap(model())
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    data = batch()
    for step in range(run.steps):
        run.disturb(step)
        net(data).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        run.end_step()


def ddp(run):
    train_ddp(run, nn.parallel.DistributedDataParallel)


def fsdp(run):
    from torch.distributed.fsdp import fully_shard

    def shard(net):
        for part in net:
            if isinstance(part, nn.Linear):
                fully_shard(part)
        return fully_shard(net)

    train_ddp(run, shard)


def pipeline(run):
    """Stages that pass the activations of all microbatches on, and then their gradients back."""
    world = dist.get_world_size()
    net, data = model(512, 2), batch(512, 128)
    for step in range(run.steps):
        outputs = []
        for _ in range(MICROBATCHES):
            inputs = data.clone()
            if RANK > 0:
                dist.recv(inputs, RANK - 1)
            inputs.requires_grad_(True)
            run.disturb(step, 20 / MICROBATCHES)
            output = net(inputs)
            if RANK < world - 1:
                dist.send(output.detach(), RANK + 1)
            outputs.append((inputs, output))
        for inputs, output in reversed(outputs):
            gradient = torch.ones_like(output)
            if RANK < world - 1:
                dist.recv(gradient, RANK + 1)
            output.backward(gradient)
            if RANK > 0:
                dist.send(inputs.grad, RANK - 1)
        run.end_step()


def exchange(run):
    """A ring of halos: each rank sends to both neighbours and receives from both, in one kernel."""
    world = dist.get_world_size()
    net, data = model(512, 2), batch(512, 128)
    sides = [(RANK - 1) % world, (RANK + 1) % world]
    halos = [torch.empty_like(data) for _ in sides]
    for step in range(run.steps):
        run.disturb(step)
        output = net(data).detach()
        operations = [dist.P2POp(dist.isend, output, side) for side in sides]
        operations += [dist.P2POp(dist.irecv, halo, side) for halo, side in zip(halos, sides)]
        for work in dist.batch_isend_irecv(operations):
            work.wait()
        run.end_step()


def groups(run):
    """Two ways of tensor parallelism by two of data parallelism: each rank is in three communicators."""
    half = dist.get_world_size() // 2
    rows = [dist.new_group(list(range(i * half, (i + 1) * half))) for i in range(2)]
    columns = [dist.new_group([i, i + half]) for i in range(half)]
    row, column = rows[RANK // half], columns[RANK % half]
    net, data = model(512, 2), batch(512, 128)
    pieces = [torch.empty_like(data) for _ in range(half)]
    for step in range(run.steps):
        run.disturb(step)
        output = net(data)
        dist.all_gather(pieces, output.detach(), group=row)
        output.square().mean().backward()
        for parameter in net.parameters():
            dist.all_reduce(parameter.grad, group=column)
        dist.all_reduce(torch.ones(1, device=device()))
        run.end_step()


def graph(run):
    """A step that is captured in a CUDA graph and launched again and again."""
    net, data = model(512, 2), batch(512, 128)
    gradients = [torch.zeros_like(p) for p in net.parameters()]
    stream = torch.cuda.Stream()

    def step():
        output = net(data).square().mean()
        for kept, new in zip(gradients, torch.autograd.grad(output, list(net.parameters()))):
            kept.copy_(new)
            dist.all_reduce(kept)

    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        step()
    for number in range(run.steps):
        run.disturb(number)
        captured.replay()
        run.end_step()


CASES = {"ddp": ddp, "tree": ddp, "exchange": exchange, "fsdp": fsdp, "pipeline": pipeline, "groups": groups, "graph": graph}


def timeline(case, folder):
    """A recording by PyTorch's own profiler, where FOLDER/timeline says so."""
    if not os.path.exists(os.path.join(folder, "timeline")):
        return contextlib.nullcontext()
    from torch import profiler

    wanted = [profiler.ProfilerActivity.CPU] + ([profiler.ProfilerActivity.CUDA] if BACKEND == "nccl" else [])
    return profiler.profile(activities=wanted, on_trace_ready=lambda p: p.export_chrome_trace("%s/timeline-%d.json.gz" % (folder, RANK)))


def main():
    case, folder = sys.argv[1], sys.argv[2]
    steps = int(sys.argv[3]) if len(sys.argv) > 3 else 200
    more = {}
    if case.startswith("tree"):
        os.environ["NCCL_ALGO"] = "allreduce:tree;broadcast:ring;allgather:ring"
    if BACKEND == "nccl":
        torch.cuda.set_device(0)
        more = {"device_id": device()}
    dist.init_process_group(BACKEND, **more)
    run = Run(case, folder, steps)
    begin = time.time()
    with timeline(case, folder):
        CASES[case.split("-")[0]](run)
    kept = {"case": case, "rank": RANK, "begin": begin, "ended": run.ended, "middle": run.middle, "torch": torch.__version__, "backend": BACKEND}
    if BACKEND == "nccl":
        kept["nccl"] = ".".join(map(str, torch.cuda.nccl.version()))
        kept["gpu"] = torch.cuda.get_device_name(0)
        if not case.endswith("-hang"):
            dump(folder)
    with open("%s/rank%d.json" % (folder, RANK), "w") as out:
        json.dump(kept, out)
    dist.barrier()
    dist.destroy_process_group()


main()
