#!/bin/bash
# sgplan against known answers: the table beside this script, formulas that formulas.py computes, and a table of answers computed elsewhere where it is there
# (SYNCGUARD_ORACLES, or shared/oracles beside the source tree).
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
shared=${SYNCGUARD_ORACLES:-$top_srcdir/../shared/oracles}

exec python3 - "$top_builddir/sgplan" "$top_srcdir/tests/plan/known.csv" "$shared" <<'END'
import csv, json, os, shlex, subprocess, sys
planner, table, shared = sys.argv[1:]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(table))
import formulas
n = bad = 0

def ok(good, words):
    global n, bad
    n, bad = n + 1, bad + (not good)
    print(f"{'' if good else 'not '}ok {n} - {words}")

published = [tuple(row.values()) for row in csv.DictReader(open(table))]
for arguments, key, expected, tolerance, source in published + list(formulas.rows()):
    run = subprocess.run([planner, *shlex.split(arguments), "--json"], capture_output=True, text=True, timeout=600)
    got = json.loads(run.stdout).get(key) if run.returncode == 0 else run.stderr.strip()
    want = float(expected)
    good = isinstance(got, (int, float)) and abs(got - want) <= float(tolerance) * abs(want)
    ok(good, f"{arguments}: {key} ({source})")
    if not good:
        print(f"#   got:    {got}\n#   wanted: {want}")

check = os.path.join(shared, "check.py")
if os.path.exists(check):
    run = subprocess.run([sys.executable, check, planner], capture_output=True, text=True, timeout=3000)
    for line in run.stdout.splitlines():
        print("#", line)
    ok(run.returncode == 0, "sgplan agrees with the answers computed elsewhere")
else:
    n += 1
    print(f"ok {n} - sgplan agrees with the answers computed elsewhere # SKIP no {check}")
print(f"1..{n}")
sys.exit(bad != 0)
END
