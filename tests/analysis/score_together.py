#!/usr/bin/env python3
"""score_together - does sgctl name all places that are slow together, which one by one cost nothing?

    tests/analysis/score_together.py CORPUS SGCTL [COUNT]

CORPUS holds programs.py, which makes traces of jobs with faults.  Of its jobs with a slow node of several ranks the trace is read without the names of
nodes; and a second node is made as slow.  In both the first verdict must be a straggler with all slow ranks, and its price that of all; but two nodes that do not
hide one another must have a verdict each.  TAP on standard output.
"""
import copy
import json
import subprocess
import sys

SEED = "together"
NEAR = 0.15  # of what the fault costs


def ranks_of(p, culprits):
    """The ranks that names of ranks and nodes mean."""
    return {r for r in range(p["n"]) for c in culprits if c in (f"r{r}", f"n{r // p['rpn']}")}


def jobs(programs, count):
    """Parameters of the first jobs whose only fault is a slow node of several ranks."""
    index = 0
    while count:
        p = programs.draw(index, SEED)
        index += 1
        if len(p["faults"]) == 1 and p["faults"][0]["class"] == "straggler" and p["faults"][0]["scope"] == "node" and \
                p["rpn"] > 1 and p["nodes"] > 3 and not p["faults"][0].get("inside"):
            count -= 1
            yield p


def hide(programs, p, whole):
    """Do the faults cost far more together than one by one?  Otherwise each has a verdict of its own."""
    faultless = programs.Run(dict(p, faults=[]), p["run"]).play()
    alone = sum(whole - programs.Run(p, p["run"], without=k).play() for k in range(len(p["faults"])))
    return whole - faultless > 1.5 * alone


def judged(programs, sgctl, p, named):
    """Whether all slow ranks are named, by the first verdict where it takes all of them, and how far its price is off, as a share of what they cost."""
    ranks = [{"rank": r, **({"node": f"n{r // p['rpn']}"} if named else {})} for r in range(p["n"])]
    lines = [json.dumps({"format": "syncguard-trace", "version": 2, "job": "program", "ranks": ranks}) + "\n"]
    whole = programs.Run(p, p["run"], emit=lambda rec: lines.append(json.dumps(rec) + "\n")).play()
    slowdown = whole / programs.Run(dict(p, faults=[]), p["run"]).play()
    said = json.loads(subprocess.run([sgctl, "analyze", "--json", "-"], input="".join(lines), capture_output=True, text=True, check=True).stdout)
    verdicts = [v for v in said["verdicts"] if v["class"] in ("straggler", "drift")]
    if len(p["faults"]) == 1 or hide(programs, p, whole):
        verdicts = verdicts[:1] if verdicts == said["verdicts"][:len(verdicts)] else []
    slow = ranks_of(p, [c for f in p["faults"] for c in f["culprits"]])
    found = ranks_of(p, [c for v in verdicts for c in v["culprits"] + v.get("with", [])])
    price = 1 / (1 - sum(1 - 1 / v["slowdown"] for v in verdicts))
    return found == slow, abs(price - slowdown) / (slowdown - 1), slowdown


def main():
    corpus, sgctl, count = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 10
    sys.path.insert(0, corpus)
    import programs

    right, near, tried = {"unnamed": 0, "two": 0}, {"unnamed": 0, "two": 0}, {"unnamed": 0, "two": 0}
    for p in jobs(programs, count):
        second = copy.deepcopy(p["faults"][0])
        second["culprits"] = [f"n{(int(second['culprits'][0][1:]) + 1) % p['nodes']}"]
        for what, job in (("unnamed", p), ("two", dict(p, faults=[p["faults"][0], second]))):
            named, off, slowdown = judged(programs, sgctl, job, what == "two")
            tried[what] += 1
            right[what] += named
            near[what] += off <= NEAR
            print(f"# {what}, {p['layout']}, {p['n']} ranks: {'named' if named else 'not named'}, price off by {100 * off:.0f} % of {slowdown:.2f}x")
    print("1..4")
    n = 0
    for what, text in (("unnamed", "ranks of one slow node, whose trace does not name it"), ("two", "two nodes that are equally slow")):
        for figures, said in ((right, "are named, all of them"), (near, f"have a price within {100 * NEAR:.0f} % of their cost")):
            n += 1
            print(f"# {figures[what]} of {tried[what]}")
            print(f"{'ok' if figures[what] >= 0.9 * tried[what] else 'not ok'} {n} - {text} {said}")


main()
