#!/usr/bin/env python3
"""overlap - does sgctl report what of the communication is exposed and hidden as the programs of a corpus have it?

    tests/analysis/overlap.py CORPUS SGCTL [INDEX...]

CORPUS holds programs.py, which makes traces of jobs whose transfers it knows exactly: when each began, how long it took, and when its ranks
were held by it. The means of the steps that sgctl looked at are compared. TAP on standard output.
"""
import collections
import json
import subprocess
import sys

SEED = "overlap"
NEAR, NEAR_STEP = 0.1, 0.003  # of the figure, or of the step


def truth(programs, index):
    """{"messages" or size of the communicator: [{"waiting", "exposed", "hidden"} by step]}, sums over the ranks."""
    p = programs.draw(index, SEED)
    costs, calls, lines = {}, [], []

    class Watched(programs.Run):
        def cost(self, members, size, key):
            costs[key] = super().cost(members, size, key)
            return costs[key]

        def note(self, r, o, c, s, b, t0, t1, ti=None, peer=None, tag=None):
            if t1 is not None:
                calls.append((self.step_of[r], r, o, c, s, t0, t1, ti, peer, tag))
            super().note(r, o, c, s, b, t0, t1, ti, peer, tag)

    ranks = [{"rank": r, "node": f"n{r // p['rpn']}"} for r in range(p["n"])]
    lines.append(json.dumps({"format": "syncguard-trace", "version": 2, "job": "program", "ranks": ranks}) + "\n")
    Watched(p, p["run"], emit=lambda rec: lines.append(json.dumps(rec) + "\n")).play()
    arrived, members, done = collections.defaultdict(float), collections.defaultdict(set), {}
    sent = {}
    for step, r, o, c, s, t0, t1, ti, peer, tag in calls:
        if o == "send":
            sent[r, peer, tag, s] = t0
        elif o != "recv":
            arrived[c, s] = max(arrived[c, s], t0 if ti is None else ti)
            members[c].add(r)
    for c, s in sorted(arrived):
        if (c, s + 1) in costs:
            done[c, s] = max(done.get((c, s - 1), 0), arrived[c, s]) + costs[c, s + 1]
    sums = collections.defaultdict(lambda: collections.defaultdict(lambda: [0.0, 0.0, 0.0]))
    for step, r, o, c, s, t0, t1, ti, peer, tag in calls:
        if o == "send":
            sums["messages"][step][1] += t1 - t0
            continue
        if o == "recv":
            cost, group = costs["m", peer, r, tag, s + 1], "messages"
            begin = sent[peer, r, tag, s] if p["eager"] else max(sent[peer, r, tag, s], t0)
        else:
            cost, group = costs.get((c, s + 1)), len(members[c])
            if cost is None:
                continue
            begin = done[c, s] - cost
        over = begin + cost
        row = sums[group][step]
        row[0] += max(0, min(begin, t1) - t0)
        row[1] += max(0, t1 - max(begin, t0))
        row[2] += cost - max(0, min(over, t1) - max(begin, t0))
    return p, sums, "".join(lines)


def check(programs, sgctl, index, number):
    p, sums, trace = truth(programs, index)
    out = subprocess.run([sgctl, "analyze", "--json", "-"], input=trace, capture_output=True, text=True, check=True)
    got = json.loads(out.stdout)["overlap"]
    groups = got.get("groups", [])
    for g in groups:
        key = "messages" if g["label"] == "messages" else int(g["label"].split()[-1]) if g["instances"] > 1 else g["ranks"]
        last = max(max(rows) for rows in sums.values())
        steps = range(last + 1 - got["steps"], last + 1)
        n = len(steps) * g["ranks"]
        true = [sum(sums[key][s][i] for s in steps) / n for i in range(3)]
        said = [g["waiting_s"], g["exposed_s"], g["hidden_s"]["value"]]
        high = g["hidden_s"]["high"]
        for i, what in enumerate(["waiting", "exposed", "hidden"]):
            if said[i] is None:
                good = high is None or true[i] <= high * (1 + NEAR) + NEAR_STEP * got["step_s"]
            else:
                good = abs(said[i] - true[i]) <= max(NEAR * true[i], NEAR_STEP * got["step_s"])
            number += 1
            print(f"{'ok' if good else 'not ok'} {number} - {p['layout']} {index}, {g['label']}: {what} is reported as it is")
            print(f"# {true[i]:.3g} s a step of {got['step_s']:.3g} s, reported {said[i] if said[i] is None else format(said[i], '.3g')}")
    if not groups:
        number += 1
        print(f"not ok {number} - {p['layout']} {index}: groups are reported: {got}")
    return number


def main():
    corpus, sgctl = sys.argv[1:3]
    sys.path.insert(0, corpus)
    sys.dont_write_bytecode = True
    import programs

    number = 0
    for index in [int(i) for i in sys.argv[3:]] or [0, 1, 2, 5, 7, 13, 22, 25, 27]:
        number = check(programs, sgctl, index, number)
    print(f"1..{number}")


if __name__ == "__main__":
    main()
