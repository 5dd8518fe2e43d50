#!/usr/bin/env python3
"""score_before - does sgctl find anything in jobs in which nothing is wrong yet?

    tests/analysis/score_before.py CORPUS SGCTL [COUNT] [SEED]

CORPUS holds programs.py, which makes traces of jobs with faults.  Each of its jobs is looked at several times, as a live one is, until its fault begins, at the
end where it has none: whatever has been found by then is false.  What is there from the start is left out.  TAP on standard output.
"""
import io
import json
import subprocess
import sys

LOOKS = 4  # a job, evenly over the time before the fault
STEPS = 8  # of which at least so many must have gone by at the first of them


def jobs(programs, seed, count):
    """Labels and traces, up to the fault, of the first jobs without one, or in which all faults begin with one step."""
    index = 0
    while count:
        onsets = {f["onset"] for f in programs.draw(index, seed)["faults"]}
        if len(onsets) < 2 and 0 not in onsets:
            label, trace = programs.label(index, seed), io.StringIO()
            programs.write(index, seed, trace)
            lines = trace.getvalue().splitlines(keepends=True)
            yield index, label, lines[:1 + label["onset_record"]] if onsets else lines
            count -= 1
        index += 1


def main():
    corpus, sgctl, count = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 22
    seed = sys.argv[4] if len(sys.argv) > 4 else "before"
    sys.path.insert(0, corpus)
    import programs

    looks, false = 0, []
    for index, label, lines in jobs(programs, seed, count):
        for look in range(1, LOOKS + 1):
            until = len(lines) * look // LOOKS
            if until <= STEPS * label["records_per_step"]:
                continue
            looks += 1
            said = json.loads(subprocess.run([sgctl, "analyze", "--json", "-"], input="".join(lines[:until]), capture_output=True, text=True, check=True).stdout)
            false += [f"job {index} after {until - 1} records: {v['text']}" for v in said["verdicts"]]
    for text in false:
        print(f"# {text}")
    print(f"{'ok' if looks >= count else 'not ok'} 1 - {looks} looks at {count} jobs")
    print(f"{'not ok' if false else 'ok'} 2 - nothing is found before it is there")
    print("1..2")
    return 1 if false else 0


if __name__ == "__main__":
    sys.exit(main())
