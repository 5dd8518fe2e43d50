#!/bin/bash
# What `sgplan compare --trace` says of other strategies, held against the simulator under each of them: the bounds are
# in strategies-simulated. And the question itself: what it accepts, what it says.
: "${top_srcdir:=$PWD}" "${top_builddir:=$PWD}"
sgplan=$top_builddir/sgplan
command -v python3 >/dev/null || { echo "1..0 # SKIP there is no python3"; exit 0; }
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
n=0 bad=0
ok() { # ok RC WORDS
    n=$((n + 1))
    [ "$1" -eq 0 ] && echo "ok $n - $2" || { bad=1; echo "not ok $n - $2"; }
}
cat >"$dir/job" <<'END'
Run=job Seed=3
Fabric=leafspine Nodes=8 NodesPerSwitch=4 Spines=4 Link=12.5GB/s
Job=train Ranks=32 Steps=120 RanksPerNode=4 Compute=50ms Bytes=100MB
Noise=rank Cv=0.05
Fault=slow Rank=5 Ratio=1.3
END
"$sgplan" simulate "$dir/job" --trace="$dir/trace" >/dev/null
"$sgplan" compare --trace="$dir/trace" --json >"$dir/answer"
ok $? "a trace is compared"
python3 - "$dir/answer" <<'END'
import json, sys
answer = json.load(open(sys.argv[1]))
rows = {r["strategy"]: r for r in answer["strategies"]}
sys.exit(not (answer["best"].startswith("replace ") and "replace rank r5, the slowest" in rows and
              rows["as it is"]["throughput_ratio"] == 1 and rows["bounded staleness 4"]["time_s"] is None and
              rows["bounded staleness 4"]["throughput_ratio"] < rows["replace rank r5, the slowest"]["throughput_ratio"] * 1.5 and
              all(r["throughput_low_ratio"] <= r["throughput_ratio"] <= r["throughput_high_ratio"] for r in rows.values())))
END
ok $? "the slow rank is named, ranges hold what is told, staleness is per sample"
"$sgplan" compare --trace="$dir/trace" --ranks=8 >/dev/null 2>"$dir/err"
[ $? -eq 2 ] && grep -q "one of --trace" "$dir/err"
ok $? "a trace and a description of another job are refused"
"$sgplan" compare --trace="$dir/job" >/dev/null 2>"$dir/err"
[ $? -eq 1 ] && [ "$(wc -l <"$dir/err")" -eq 1 ]
ok $? "what is no trace is told in one line"
"$top_srcdir/tests/plan/strategies-simulated" "$sgplan" 100 7 >"$dir/told"
ok $? "100 random jobs: errors, ranges and the best within their bounds"
sed 's/^/# /' "$dir/told"
echo "1..$n"
exit $bad
