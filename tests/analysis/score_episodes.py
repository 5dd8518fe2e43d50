#!/usr/bin/env python3
"""episodes - is `sgctl analyze` right about labelled episodes of synchronised programs?

    tests/analysis/score_episodes.py SGCTL [NAME...]      TAP on standard output
    tests/analysis/score_episodes.py --write NAME         the trace of an episode

An episode is a job in virtual time whose ranks record what they do.  In the layout "reduce" all ranks compute and meet in all-reduces, in "halo"
each exchanges messages with two neighbours and all meet in every fifth step.  From a step on something is wrong, or never.  The same random numbers
without the fault give what it costs.  Clocks of nodes are hours apart, as on real machines.

Of each the first verdict must have the class and the place, come after the onset and within a number of steps, and a price near the true one; a
healthy job must have none.  The intervals of prices must hold the truth in at least eight of ten episodes, which is what they claim.  Only the standard library is used, and of its generator only random(), which stays the same.
"""
import json
import math
import random
import subprocess
import sys

RANKS, RANKS_PER_NODE, NODES_PER_SWITCH = 16, 2, 2
COMPUTE_S, COLLECTIVE_S, MESSAGE_S = 0.1, 0.004, 0.002
EVERY = 5  # steps in which those of a halo exchange meet
NEVER = None
NEAR = 0.15  # of the cost: how far a price may be off
WIDE = 0.7  # of the cost: how wide its interval may be

# name: layout, class, place, how much, further keys: buckets, steps, noise, onset, within (steps after which it is named), and what else is unusual
EPISODES = {
    "reduce, noise of 1 %": ("reduce", "healthy", NEVER, 0, {"noise": 0.01, "buckets": 1}),
    "reduce, noise of 5 %": ("reduce", "healthy", NEVER, 0, {"noise": 0.05, "buckets": 3}),
    "reduce, a pause of all ranks in every 30th step": ("reduce", "healthy", NEVER, 0, {"pause": 2.0}),
    "reduce, every fourth step longer on all ranks": ("reduce", "healthy", NEVER, 0, {"rhythm": 0.5}),
    "reduce, lost records": ("reduce", "healthy", NEVER, 0, {"lost": 0.01}),
    "reduce, a slow rank": ("reduce", "straggler", "r5", 0.3, {}),
    "reduce, a slow rank, little, three all-reduces": ("reduce", "straggler", "r12", 0.12, {"buckets": 3}),
    "reduce, a slow rank from the start": ("reduce", "straggler", "r3", 0.25, {"onset": 0}),
    "reduce, a slow rank, lost records": ("reduce", "straggler", "r9", 0.3, {"lost": 0.01}),
    "reduce, a slow node": ("reduce", "straggler", "n6", 0.2, {}),
    "reduce, the slow nodes of a switch": ("reduce", "straggler", "s1", 0.2, {"buckets": 1}),
    "reduce, a rank that becomes slower": ("reduce", "drift", "r7", 0.5, {"within": 90}),
    "reduce, a node that becomes slower": ("reduce", "drift", "n2", 0.5, {"within": 90}),
    "reduce, delays of any rank": ("reduce", "jitter", NEVER, 1.0, {"within": 80}),
    "reduce, short delays of any rank": ("reduce", "jitter", NEVER, 0.6, {"within": 80, "buckets": 1}),
    "reduce, uneven work": ("reduce", "imbalance", NEVER, 0.25, {"onset": 0, "within": 100}),
    "reduce, very uneven work": ("reduce", "imbalance", NEVER, 0.4, {"onset": 0, "within": 100, "buckets": 1}),
    "reduce, slower transfers": ("reduce", "communication", NEVER, 4.0, {}),
    "reduce, much slower transfers": ("reduce", "communication", NEVER, 12.0, {"buckets": 1}),
    "reduce, bursts of slow transfers": ("reduce", "congestion", NEVER, 10.0, {"within": 60}),
    "reduce, long bursts of slow transfers": ("reduce", "congestion", NEVER, 16.0, {"within": 60, "buckets": 1}),
    "reduce, fast and slow steps in turn": ("reduce", "oscillation", NEVER, 0.3, {"within": 60}),
    "reduce, two fast and two slow steps in turn": ("reduce", "oscillation", NEVER, 0.3, {"within": 60, "turn": 2}),
    "reduce, a rank that stops": ("reduce", "hang", "r10", 0, {}),
    "reduce, the first rank stops": ("reduce", "hang", "r0", 0, {"buckets": 1}),
    "halo, noise of 1 %": ("halo", "healthy", NEVER, 0, {"noise": 0.01}),
    "halo, noise of 4 %": ("halo", "healthy", NEVER, 0, {"noise": 0.04}),
    "halo, a slow rank": ("halo", "straggler", "r6", 0.4, {}),
    "halo, a slow node": ("halo", "straggler", "n3", 0.3, {}),
    "halo, a slow link": ("halo", "communication", "n2-n3", 30.0, {}),
    "halo, a rank that stops": ("halo", "hang", "r11", 0, {}),
}
DEFAULTS = {"buckets": 2, "steps": 160, "noise": 0.02, "onset": 70, "within": 40, "pause": 0, "rhythm": 0, "lost": 0, "turn": 1}


def node(rank):
    return rank // RANKS_PER_NODE


def names(rank):
    return {f"r{rank}", f"n{node(rank)}", f"s{node(rank) // NODES_PER_SWITCH}"}


class Chance:
    """Random numbers, drawn in the same order with the fault and without."""

    def __init__(self, seed):
        self.uniform = random.Random(seed).random

    def normal(self):
        return math.sqrt(-2 * math.log(1 - self.uniform())) * math.cos(2 * math.pi * self.uniform())


class Episode:
    def __init__(self, name):
        self.name = name
        self.layout, self.fault, self.place, self.by, more = EPISODES[name]
        self.__dict__.update(DEFAULTS, **more)

    def ranks(self):
        return {r for r in range(RANKS) if self.place in names(r)}

    def play(self, with_fault=True):
        """Seconds that it takes; self.records has what its ranks record, in the order in which their calls ended."""
        chance = Chance(list(EPISODES).index(self.name) + 1)
        lost = Chance(1000)
        self.clocks = [(3600 * chance.uniform(), 1 + 4e-5 * (chance.uniform() - 0.5)) for _ in range(RANKS // RANKS_PER_NODE)]
        self.records, self.onset_record, self.seq = [], 0, 0
        now = [0.0] * RANKS
        for step in range(self.steps):
            if step == self.onset:
                self.onset_seq = self.seq
            on = with_fault and step >= self.onset
            work = self.work(step, on, chance)
            before = len(self.records)
            now = (self.reduce if self.layout == "reduce" else self.halo)(step, on, now, work, chance)
            new = sorted(self.records[before:], key=lambda x: x[0])
            self.records[before:] = [x for x in new if not self.lost or lost.uniform() >= self.lost]
            if step < self.onset:
                self.onset_record = len(self.records)
            if all(t == math.inf for t in now):
                break
        return max(now)

    def work(self, step, on, chance):
        """Seconds of each rank's work in a step."""
        seconds = []
        for rank in range(RANKS):
            usual, uneven, struck, longer = chance.normal(), chance.normal(), chance.uniform(), chance.uniform()
            x = COMPUTE_S * max(0.3, 1 + self.noise * usual)
            if self.rhythm and step % 4 == 3:
                x *= 1 + self.rhythm
            if self.pause and step % 30 == 29:
                x += self.pause
            if on and self.fault == "straggler" and rank in self.ranks():
                x *= 1 + self.by
            if on and self.fault == "drift" and rank in self.ranks():
                x *= 1 + self.by * min(1, (step - self.onset) / 60)
            if on and self.fault == "jitter" and struck < 0.4 / RANKS:
                x += COMPUTE_S * self.by * (0.5 + longer)
            if on and self.fault == "imbalance":
                x = COMPUTE_S * max(0.3, 1 + self.by * uneven)
            if on and self.fault == "oscillation" and step // self.turn % 2:
                x *= 1 + self.by
            seconds.append(x)
        return seconds

    def reduce(self, step, on, now, work, chance):
        stopped = self.ranks() if on and self.fault == "hang" else set()
        burst = self.fault == "congestion" and step % 25 < 6
        slower = 1 + self.by if on and (self.fault == "communication" or burst) else 1
        for bucket in range(self.buckets):
            share = (0.4 if bucket == 0 else 0) + 0.6 / self.buckets
            size = 1 << 20 if bucket == self.buckets - 1 else 4 << 20  # the last one has the rest
            enter = [now[r] + work[r] * share for r in range(RANKS)]
            done = max(enter) + COLLECTIVE_S / self.buckets * max(0.5, 1 + 0.05 * chance.normal()) * slower
            for rank in range(RANKS):
                leave = done + 2e-5 * chance.uniform()
                if stopped:
                    if rank not in stopped:
                        self.note(rank, "allreduce", self.seq, size, enter[rank], None)
                    leave = math.inf
                else:
                    self.note(rank, "allreduce", self.seq, size, enter[rank], leave)
                now[rank] = leave
            if stopped:
                break
            self.seq += 1
        return now

    def halo(self, step, on, now, work, chance):
        stopped = self.ranks() if on and self.fault == "hang" else set()
        sent = {}
        now = [math.inf if r in stopped else now[r] for r in range(RANKS)]
        for rank in range(RANKS):
            now[rank] += 0.7 * work[rank]
            for tag, way in enumerate((1, -1)):
                peer = (rank + way) % RANKS
                if now[rank] < math.inf:
                    sent[rank, tag] = now[rank]
                    self.note(rank, "send", step, 1 << 20, now[rank], now[rank] + 2e-6, peer, tag)
                    now[rank] += 2e-6
        for rank in range(RANKS):
            for tag, way in enumerate((-1, 1)):
                peer = (rank + way) % RANKS
                took = MESSAGE_S * max(0.5, 1 + 0.05 * chance.normal())
                if on and self.fault == "communication" and self.place == "n{}-n{}".format(*sorted((node(rank), node(peer)))):
                    took *= 1 + self.by
                if now[rank] == math.inf:
                    continue
                if (peer, tag) in sent:
                    leave = max(now[rank] + 2e-6, sent[peer, tag] + took)
                    self.note(rank, "recv", step, 1 << 20, now[rank], leave, peer, tag)
                    now[rank] = leave
                else:
                    self.note(rank, "recv", step, 1 << 20, now[rank], None, peer, tag)
                    now[rank] = math.inf
            now[rank] += 0.3 * work[rank]
        if step % EVERY == EVERY - 1:
            done = max(now) + 1e-4
            for rank in range(RANKS):
                leave = done + 2e-5 * chance.uniform()
                if now[rank] < math.inf:
                    self.note(rank, "allreduce", self.seq, 64, now[rank], leave if leave < math.inf else None)
                now[rank] = leave
            self.seq += 1
        return now

    def note(self, rank, op, seq, size, begin, end, peer=None, tag=None):
        ahead, rate = self.clocks[node(rank)]
        ns = lambda s: None if s is None else int((s * rate + ahead) * 1e9)
        to = {} if peer is None else {"p": peer, "g": tag}
        record = {"r": rank, "c": "world", "s": seq, "o": op, "b": size, "t0": ns(begin), "t1": ns(end), **to}
        self.records.append((math.inf if end is None else end, record))

    def trace(self):
        ranks = [{"rank": r, "node": f"n{node(r)}", "switch": f"s{node(r) // NODES_PER_SWITCH}"} for r in range(RANKS)]
        head = {"format": "syncguard-trace", "version": 2, "job": "episode", "ranks": ranks}
        return "".join(json.dumps(line) + "\n" for line in [head] + [record for _, record in self.records])


class Tap:
    run = failed = intervals = holding = 0

    def ok(self, good, what, got=""):
        self.run, self.failed = self.run + 1, self.failed + (not good)
        print(f"{'' if good else 'not '}ok {self.run} - {what}{'' if good else f': got {got}'}", flush=True)


def meant(culprits):
    """The ranks that names mean; a link is itself."""
    return {r for r in range(RANKS) for c in culprits if c in names(r)} | {c for c in culprits if "-" in c}


def judge(tap, sgctl, name):
    e = Episode(name)
    truth = 1.0
    if e.fault not in ("healthy", "hang"):
        truth = e.play() / e.play(with_fault=False)
    e.play()
    run = subprocess.run([sgctl, "analyze", "--json", "-"], input=e.trace(), capture_output=True, text=True)
    said = json.loads(run.stdout) if run.returncode == 0 else {"verdicts": [{"class": run.stderr.strip()}], "collectives_per_step": None}
    verdicts = said["verdicts"]
    first = verdicts[0] if verdicts else {"class": "healthy", "culprits": []}
    brief = {k: first.get(k) for k in ("class", "culprits", "slowdown", "slowdown_low", "slowdown_high", "detected_seq", "detected_record")}
    if e.layout == "reduce":
        tap.ok(said["collectives_per_step"] == e.buckets, f"{name}: a step has {e.buckets} all-reduces", said["collectives_per_step"])
    if e.fault == "healthy":
        tap.ok(not verdicts, f"{name}: there is no verdict", verdicts)
        return
    tap.ok(first["class"] == e.fault, f"{name}: the first verdict is {e.fault}", brief)
    tap.ok(meant(first["culprits"]) == ({e.place} if e.place and "-" in e.place else e.ranks()), f"{name}: its place is {e.place or 'none'}", brief)
    if e.layout == "reduce":
        steps = ((first.get("detected_seq") or -1) - e.onset_seq) / e.buckets
    else:
        steps = ((first.get("detected_record") or -1) - e.onset_record) / (len(e.records) / e.steps if e.fault != "hang" else e.onset_record / e.onset)
    tap.ok(0 <= steps <= e.within, f"{name}: it comes after the onset, within {e.within} steps", round(steps, 1))
    if e.fault != "hang":
        price, low, high = (first.get(key) for key in ("slowdown", "slowdown_low", "slowdown_high"))
        print(f"# {name}: price {price}, {low} to {high}, true is {truth}")
        tap.ok(price and abs(price - truth) <= NEAR * (truth - 1), f"{name}: its price is right within {100 * NEAR:.0f} % of the cost", price)
        if low and high:
            tap.ok(high - low <= WIDE * (truth - 1), f"{name}: the interval of its price is at most {100 * WIDE:.0f} % of the cost wide", brief)
            tap.intervals += 1
            tap.holding += low <= truth <= high


def main():
    if sys.argv[1] == "--write":
        e = Episode(sys.argv[2])
        e.play()
        sys.stdout.write(e.trace())
        return 0
    tap = Tap()
    for name in sys.argv[2:] or EPISODES:
        judge(tap, sys.argv[1], name)
    tap.ok(tap.intervals and tap.holding >= 0.8 * tap.intervals, "the intervals of prices hold the truth in at least eight of ten episodes",
           f"{tap.holding} of {tap.intervals}")
    print(f"1..{tap.run}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
