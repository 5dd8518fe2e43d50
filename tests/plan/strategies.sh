#!/bin/bash
# What `sgplan compare --trace` says of other strategies, held against the simulator under each of them: the bounds are
# in strategies-simulated. And the question itself: what it accepts, what it says.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
sgplan=$top_builddir/sgplan
command -v python3 >/dev/null || skip_all "there is no python3"
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cat >"$dir/job" <<'END'
Run=job Seed=3
Fabric=leafspine Nodes=8 NodesPerSwitch=4 Spines=4 Link=12.5GB/s
Job=train Ranks=32 Steps=120 RanksPerNode=4 Compute=50ms Bytes=100MB
Noise=rank Cv=0.05
Fault=slow Rank=5 Ratio=1.3
END
"$sgplan" simulate "$dir/job" --trace="$dir/trace" >/dev/null
"$sgplan" compare --trace="$dir/trace" --json >"$dir/answer"
ok $? "sgplan compare --trace exits with 0"
python3 - "$dir/answer" <<'END'
import json, sys
answer = json.load(open(sys.argv[1]))
rows = {r["strategy"]: r for r in answer["strategies"]}
sys.exit(not (answer["best"].startswith("replace ") and "replace rank r5, the slowest" in rows and
              rows["as it is"]["throughput_ratio"] == 1 and rows["bounded staleness 4"]["time_s"] is None and
              rows["bounded staleness 4"]["throughput_ratio"] < rows["replace rank r5, the slowest"]["throughput_ratio"] * 1.5 and
              all(r["throughput_low_ratio"] <= r["throughput_ratio"] <= r["throughput_high_ratio"] for r in rows.values())))
END
ok $? "sgplan compare: replacing slow rank r5 is best, every ratio lies within its range, staleness is per sample"
"$sgplan" compare --trace="$dir/trace" --ranks=8 >/dev/null 2>"$dir/err"
[ $? -eq 2 ] && grep -q "exclude one another" "$dir/err"
ok $? "sgplan compare rejects --trace together with --ranks"
"$sgplan" compare --trace="$dir/job" >/dev/null 2>"$dir/err"
[ $? -eq 1 ] && [ "$(wc -l <"$dir/err")" -eq 1 ]
ok $? "sgplan compare of a file that is no trace prints one line of error"
"$top_srcdir/tests/plan/strategies-simulated" "$sgplan" 100 7 >"$dir/told"
ok $? "100 random simulated jobs: errors, ranges and the best strategy are within their bounds"
sed 's/^/# /' "$dir/told"
done_testing
