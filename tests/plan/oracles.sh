#!/bin/bash
# sgplan against known answers: the table beside this script, and one of answers computed elsewhere where it is there
# (SYNCGUARD_ORACLES, or shared/oracles beside the source tree).
. "${top_srcdir:=$PWD}/tests/tap.sh"
shared=${SYNCGUARD_ORACLES:-$top_srcdir/../shared/oracles}

exec python3 - "$top_builddir/sgplan" "$top_srcdir/tests/plan/known.csv" "$shared" <<'END'
import csv, json, os, shlex, subprocess, sys
planner, table, shared = sys.argv[1:]
n = bad = 0

def ok(good, words):
    global n, bad
    n, bad = n + 1, bad + (not good)
    print(f"{'' if good else 'not '}ok {n} - {words}")

for row in csv.DictReader(open(table)):
    run = subprocess.run([planner, *shlex.split(row["arguments"]), "--json"], capture_output=True, text=True, timeout=60)
    got = json.loads(run.stdout).get(row["key"]) if run.returncode == 0 else run.stderr.strip()
    want, tolerance = float(row["expected"]), float(row["relative_tolerance"])
    good = isinstance(got, (int, float)) and abs(got - want) <= tolerance * abs(want)
    ok(good, f"{row['arguments']}: {row['key']} ({row['source']})")
    if not good:
        print(f"#   got:    {got}\n#   wanted: {want}")

check = os.path.join(shared, "check.py")
if os.path.exists(check):
    run = subprocess.run([sys.executable, check, planner], capture_output=True, text=True, timeout=600)
    for line in run.stdout.splitlines():
        print("#", line)
    ok(run.returncode == 0, f"sgplan agrees with the answers computed elsewhere ({check})")
else:
    n += 1
    print(f"ok {n} - sgplan agrees with the answers computed elsewhere # SKIP no {check}")
print(f"1..{n}")
sys.exit(bad != 0)
END
