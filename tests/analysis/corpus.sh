#!/bin/bash
# Labelled episodes, where they are at hand: how often `sgctl analyze` is right about them, and how soon.
# Their folder, with score.py, is $SYNCGUARD_CORPUS or shared/corpus beside the source tree.
. "${top_srcdir:=$PWD}/tests/tap.sh"

corpus=${SYNCGUARD_CORPUS:-$top_srcdir/../shared/corpus}
command -v python3 >/dev/null || skip_all "there is no python3"
[ -e "$corpus/score.py" ] || skip_all "there is no $corpus/score.py"

rows=$(timeout 300 python3 "$corpus/score.py" --seed ci --count 96 -- "$top_builddir/sgctl" analyze --json - 2>&1)
exec python3 - "$rows" <<'PYTHON'
import json, operator, sys

TARGETS = (("accuracy", ">=", 0.98), ("placed", ">=", 0.97), ("false_alarms", "==", 0), ("structure", ">=", 0.98),
           ("delay_steps_p50", "<=", 8), ("delay_steps_p95", "<=", 30),
           ("slowdown_error_p50", "<=", 0.01), ("slowdown_error_p95", "<=", 0.04))
MEETS = {">=": operator.ge, "<=": operator.le, "==": operator.eq}

rows = sys.argv[1].splitlines()
print(*("# " + row for row in rows), sep="\n", flush=True)
try:
    totals = json.loads(rows[-1])
except (IndexError, ValueError):
    totals = {}  # it failed, or did not come to its end
failed = 0
for n, (key, relation, limit) in enumerate(TARGETS, 1):
    value = totals.get(key)
    good = isinstance(value, (int, float)) and MEETS[relation](value, limit)
    failed += not good
    print(f"{'ok' if good else 'not ok'} {n} - sgctl analyze on labelled episodes: {key} {relation} {limit}: got {value}")
print(f"1..{len(TARGETS)}")
sys.exit(failed > 0)
PYTHON
