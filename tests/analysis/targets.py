"""targets.py SUBJECT ROWS TARGET... - rows of a scorer, whose last line is JSON, against targets such as "right>=0.97"; TAP on standard output."""
import json
import operator
import re
import sys

MEETS = {">=": operator.ge, "<=": operator.le, "==": operator.eq}
subject, rows = sys.argv[1], sys.argv[2].splitlines()
print(*("# " + row for row in rows), sep="\n", flush=True)
try:
    totals = json.loads(rows[-1])
except (IndexError, ValueError):
    totals = {}  # it failed, or did not come to its end
failed = 0
for n, target in enumerate(sys.argv[3:], 1):
    key, relation, limit = re.match(r"(\w+)(>=|<=|==)(.+)", target).groups()
    value = totals.get(key)
    good = isinstance(value, (int, float)) and MEETS[relation](value, float(limit))
    failed += not good
    print(f"{'ok' if good else 'not ok'} {n} - {subject}: {key} {relation} {limit}{'' if good else f': got {value}'}")
print(f"1..{len(sys.argv) - 3}")
sys.exit(failed > 0)
