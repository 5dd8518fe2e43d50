#!/bin/bash
# A program whose first calls repeat in less than a step: what a step is, is found when the whole of it comes, and what was counted before is no step.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99

command -v python3 >/dev/null || skip_all "there is no python3"
dir=$(mktemp -d "${TMPDIR:-/tmp}/setup.XXXXXX")
trap 'rm -rf "$dir"' EXIT

# Two pairs of ranks that reduce among themselves every 2 ms, 150 times; then 60 steps of 103 ms, of which all four end each together.
python3 - >"$dir/trace" <<'PROGRAM'
import json

def call(rank, comm, seq, begin_s, end_s):
    print(json.dumps({"r": rank, "c": comm, "s": seq, "o": "allreduce", "b": 64, "t0": round(begin_s * 1e9), "t1": round(end_s * 1e9)}))

def pairs(now_s, seq):
    for rank in range(4):
        call(rank, "ab"[rank // 2], seq, now_s + 0.0001 * (rank % 2), now_s + 0.0003)
    return now_s + 0.0003

print(json.dumps({"format": "syncguard-trace", "version": 2, "job": "setup", "ranks": [{"rank": r, "node": f"n{r // 2}"} for r in range(4)]}))
now_s, seq = 1.0, 0
for _ in range(150):
    now_s, seq = pairs(now_s + 0.002, seq), seq + 1
for step in range(60):
    for _ in range(2):
        now_s, seq = pairs(now_s + 0.03, seq), seq + 1
    now_s += 0.04
    for rank in range(4):
        call(rank, "world", step, now_s + 0.0001 * rank, now_s + 0.001)
    now_s += 0.001
PROGRAM
"$top_builddir/sgctl" analyze --json "$dir/trace" >"$dir/answer"
is $? 0 "the trace is read"
echo "# $(jq -c '[.steps, .step_s]' "$dir/answer")"
is "$(jq '.steps > 40 and .steps <= 60' "$dir/answer")" true "steps are those of all ranks"
is "$(jq '.step_s | .p50 > 0.1 and .p50 < 0.106 and .mean < 0.106' "$dir/answer")" true "the steps of all ranks take what these take"
done_testing
