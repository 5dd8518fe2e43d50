#!/usr/bin/env python3
"""syncguard in a Python program; no MPI needed.

    PYTHONPATH=.../share/syncguard srun --sync-guard=POLICY trainer.py STEPS STEP_MS WRITE_MS [FILE]

Stands in for a trainer whose ranks keep step: each step begins at a multiple of STEP_MS of the clock.  A real one
keeps step by its collectives.  FILE.RANK gets a line for every step at which the rank heard that one is due.
"""

import os
import signal
import sys
import time

import syncguard

BATCH = 32


def main():
    steps, step_ms, write_ms = (float(v) for v in (sys.argv[1:4] + ["1000", "20", "100"][len(sys.argv) - 1:]))
    rank = os.environ.get("SLURM_PROCID", os.environ.get("RANK", "0"))
    log = open(f"{sys.argv[4]}.{rank}", "w") if len(sys.argv) > 4 else None
    signal.signal(signal.SIGTERM, syncguard.preempted)  # and go on: the last checkpoint is asked for in time

    begin = float(os.environ.get("TRAINER_BEGIN", time.time()))
    for step in range(1, int(steps) + 1):
        time.sleep(max(0.0, begin + step * step_ms / 1000 - time.time()))
        syncguard.samples(BATCH)
        if syncguard.checkpoint_due():
            with syncguard.checkpoint():
                time.sleep(write_ms / 1000)
            if log:
                print(step, file=log, flush=True)
            begin += write_ms / 1000


main()
