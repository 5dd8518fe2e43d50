#!/usr/bin/python3
"""paired.py - what recording costs a step of DistributedDataParallel over Gloo, within one guarded run: blocks of steps with and without it, in turns.

    sgrun --no-screen paired.py [PAIRS [STEPS [WORK_MS]]]

Four ranks on this host, as train.py has them with --work WORK_MS.  Rank 0 writes the field `record` of the step's control page (lib/ring/control_page.h), between two
barriers, as tests/bench/step.c does.  Which block of a pair comes first is drawn; the first tenth of a block is left out.  Rank 0 prints one line of JSON:
the ratio of step times with recording over without, and its 95 % interval, by signed ranks (Hodges & Lehmann 1963).
"""
import json
import math
import mmap
import os
import random
import struct
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "workloads"))
import train

RECORD_AT = 12  # bytes, in struct control_page


def shift(log_ratio):
    """Median of the means of two, and the interval of Wilcoxon's signed ranks."""
    n = len(log_ratio)
    means = sorted((log_ratio[i] + log_ratio[j]) / 2 for i in range(n) for j in range(i, n))
    outside = int(len(means) / 2 - 1.95996 * math.sqrt(n * (n + 1) * (2 * n + 1) / 24)) - 1
    if outside < 0:
        raise SystemExit("paired: too few pairs for an interval")
    middle = (means[(len(means) - 1) // 2] + means[len(means) // 2]) / 2
    return [math.exp(x) for x in (middle, means[outside], means[-1 - outside])]


def main():
    pairs, steps, work_ms = (int(x) for x in (sys.argv[1:] + ["40", "150", "0"][len(sys.argv) - 1:])[:3])
    me = train.who()
    if not me:
        with tempfile.TemporaryDirectory(prefix="paired-") as folder:
            os.environ["MEET"] = os.path.join(folder, "meet")
            children = [os.spawnve(os.P_NOWAIT, sys.executable, [sys.executable, *sys.argv], dict(os.environ, RANK=str(r), WORLD_SIZE="4")) for r in range(4)]
            return max(os.waitstatus_to_exitcode(os.waitpid(c, 0)[1]) for c in children)
    rank, ranks = me
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    torch.manual_seed(1)
    dist.init_process_group("gloo", init_method=f"file://{os.environ['MEET']}", rank=rank, world_size=ranks)
    sys.argv[1:] = ["ddp", "--work", str(work_ms)]
    run = train.Run(train.arguments(), rank, ranks, torch, dist)
    model = train.distributed(run)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.05)
    page = None
    if rank == 0:
        with open(os.path.join(os.environ["SYNCGUARD_DIR"], "control"), "r+b") as f:
            page = mmap.mmap(f.fileno(), 4096)

    def record(on):
        dist.barrier()
        if page:
            page[RECORD_AT:RECORD_AT + 4] = struct.pack("=I", on)
        dist.barrier()

    def block_s():
        began = None
        for step in range(steps):
            if step == steps // 10:
                began = time.perf_counter()
            optimiser.zero_grad()
            run.loss_of(model, run.batch()).backward()
            optimiser.step()
        return (time.perf_counter() - began) / (steps - steps // 10)

    order, log_ratio, all_s = random.Random(20260101), [], 0
    block_s()
    for _ in range(pairs):
        mean_s = {}
        for on in order.sample((0, 1), 2):
            record(on)
            mean_s[on] = block_s()
        log_ratio.append(math.log(mean_s[1] / mean_s[0]))
        all_s += mean_s[0]
    record(1)
    dist.destroy_process_group()
    if rank == 0:
        ratio, low, high = shift(log_ratio)
        print(json.dumps({"pairs": pairs, "steps": steps, "work_ms": work_ms, "step_s": round(all_s / pairs, 6), "ratio": round(ratio, 5), "low": round(low, 5), "high": round(high, 5)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
