#!/usr/bin/env python3
"""Is a timeline (Chrome's Trace Event Format, as sgctl export writes it) one that Perfetto shows whole?

    timeline.py FILE        prints what is wrong, a line each; then "sound: N slices, N arrows, N steps" and 0, or 1

Times are taken exactly, in nanoseconds.  Checked is what Perfetto's importer counts as an error, or drops: each event has what its phase needs; slices
of one thread, taken by their begin and in the order of the file, are apart or nested; arrows and asynchronous slices have both ends, an
arrow's within a slice of its thread; threads and processes have names.  And of the critical path: steps ascend and do not overlap, and the slices in each
fill it without a gap.
"""
import collections
import decimal
import json
import sys

PATH = "critical path"


def ns_of(value, what):
    ns = decimal.Decimal(value) * 1000
    if ns != ns.to_integral_value() or ns < 0:
        raise ValueError(f"{what} is {value} us: no whole nanoseconds")
    return int(ns)


def lanes(events, wrong):
    """{(pid, tid): [(begin, end, place in the file, event)]}"""
    found = collections.defaultdict(list)
    for i, e in enumerate(events):
        if e["ph"] in "XB":
            begin = ns_of(e["ts"], "ts")
            end = begin + ns_of(e["dur"], "dur") if e["ph"] == "X" else float("inf")
            found[e["pid"], e["tid"]].append((begin, end, i, e))
    for lane, slices in found.items():
        slices.sort(key=lambda s: (s[0], s[2]))
        inside = []
        for begin, end, i, e in slices:
            while inside and inside[-1] <= begin:
                inside.pop()
            if inside and end > inside[-1]:
                wrong.append(f"event {i} ({e['name']}) of {lane} overlaps another one in part")
                continue
            inside.append(end)
    return found


def check_arrows(events, found, wrong):
    ends = collections.defaultdict(list)
    for i, e in enumerate(events):
        if e["ph"] not in "sf":
            continue
        at = ns_of(e["ts"], "ts")
        ends[e["cat"], e["id"]].append(e["ph"])
        if not any(begin <= at <= end for begin, end, _, _ in found[e["pid"], e["tid"]]):
            wrong.append(f"event {i}: an end of an arrow that is in no slice")
        if e["ph"] == "f" and e.get("bp") != "e":
            wrong.append(f"event {i}: the end of an arrow does not bind to the slice around it")
    for key, phases in ends.items():
        if sorted(phases) != ["f", "s"]:
            wrong.append(f"arrow {key[1]} has the ends {phases}")
    return len(ends)


def check_asynchronous(events, wrong):
    ends = collections.defaultdict(list)
    for e in events:
        if e["ph"] in "be":
            ends[e["cat"], e["name"], e["id"], e["pid"]].append((e["ph"], ns_of(e["ts"], "ts")))
    for key, pair in ends.items():
        if [p[0] for p in pair] != ["b", "e"] or pair[0][1] > pair[1][1]:
            wrong.append(f"asynchronous slice {key[2]} is {pair}")


def check_names(events, wrong):
    processes = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    for e in events:
        if e["pid"] not in processes or ("tid" in e and (e["pid"], e["tid"]) not in threads):
            wrong.append(f"{e['ph']} {e['name']}: process or thread has no name")
    if len({tid for _, tid in threads}) != len(threads):
        wrong.append("two threads have one number")
    return processes


def check_path(found, processes, wrong):
    steps = 0
    for (pid, _), slices in found.items():
        if processes.get(pid) != PATH:
            if any(e["cat"] == PATH for _, _, _, e in slices):
                wrong.append("a slice of the critical path is not on its track")
            continue
        last = at = 0
        for begin, end, i, e in sorted(slices, key=lambda s: s[2]):  # in the order of the file
            if e["name"].startswith("step "):
                if at != last:
                    wrong.append(f"a step is filled until {at}, and lasts until {last}")
                if begin < last:
                    wrong.append(f"{e['name']} begins before the one before it ends")
                steps, at, last = steps + 1, begin, end
                continue
            if begin != at or end > last:
                wrong.append(f"event {i} ({e['name']}) begins at {begin}, what was before it ends at {at}, its step at {last}")
            at = end
        if at != last:
            wrong.append(f"the last step is filled until {at}, and lasts until {last}")
    return steps


def main(path):
    wrong = []
    with open(path, encoding="utf-8") as file:
        events = json.load(file, parse_float=decimal.Decimal)["traceEvents"]
    needed = {"X": ("ts", "dur", "tid", "cat"), "B": ("ts", "tid", "cat"), "M": ("args",), "s": ("ts", "tid", "cat", "id"),
              "f": ("ts", "tid", "cat", "id"), "b": ("ts", "tid", "cat", "id"), "e": ("ts", "tid", "cat", "id")}
    for i, e in enumerate(events):
        missing = [k for k in ("name", "pid") + needed.get(e.get("ph"), ("a phase that is known",)) if k not in e]
        if missing:
            wrong.append(f"event {i} has no {', '.join(missing)}")
    if not wrong:
        processes = check_names(events, wrong)
        found = lanes(events, wrong)
        arrows = check_arrows(events, found, wrong)
        check_asynchronous(events, wrong)
        steps = check_path(found, processes, wrong)
    for line in wrong[:20]:
        print(line)
    if wrong:
        return 1
    print(f"sound: {sum(map(len, found.values()))} slices, {arrows} arrows, {steps} steps")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
