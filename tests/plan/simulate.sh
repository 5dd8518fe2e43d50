#!/bin/bash
# sgplan simulate, and what sgctl analyze makes of its traces: the class and the place that were put in.
# Once with 10,000 ranks.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
sgplan=$top_builddir/sgplan sgctl=$top_builddir/sgctl
command -v python3 >/dev/null || skip_all "there is no python3"
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT

# verdicts < TRACE: "CLASS SCOPE CULPRITS SLOWDOWN" of each, the most costly first; "healthy" where there is none.
verdicts() {
    "$sgctl" analyze --json - | python3 -c '
import json, sys
verdicts = json.load(sys.stdin)["verdicts"]
for v in verdicts:
    print(v["class"], v["scope"], ",".join(v["culprits"]), round(v.get("slowdown") or 0, 2))
if not verdicts:
    print("healthy")'
}

# scenario FAULT-LINE [JOB-KEYS]: a job of 64 ranks with a little noise.
scenario() {
    cat >"$dir/s.conf" <<END
Run=test Seed=5 Clocks=own
Fabric=leafspine Nodes=16 NodesPerSwitch=4 Spines=4
Job=train Ranks=64 RanksPerNode=4 Steps=200 Compute=50ms LastBucket=0.3 Bytes=100MB $2
Noise=rank Cv=0.01 Static=0.002
$1
END
}

# The price that the analysis finds is the one that a run without the fault has: the same random numbers.
seconds() { "$sgplan" simulate "$dir/s.conf" --json "$@" | python3 -c 'import json, sys; print(json.load(sys.stdin)["jobs"][0]["seconds"])'; }

check() { # check "CLASS SCOPE CULPRITS" FAULT-LINE [JOB-KEYS]
    local got price
    scenario "$2" "$3"
    got=$("$sgplan" simulate "$dir/s.conf" --trace=- | verdicts | head -n 1)
    is "${got% *}" "$1" "sgctl analyze of a simulated '${2:-no fault}': the verdict's class, scope and culprit"
    [ "$1" = "${got% *}" ] || return
    price=$(python3 -c "print(round($(seconds) / $(seconds --no-faults), 2))")
    python3 -c "import sys; sys.exit(abs($price - ${got##* }) > 0.03)"
    ok $? "simulated '$2': the prices of the analysis and of a run without it are 0.03 apart at most"
    echo "# ${got##* }, $price"
}

scenario ''
is "$("$sgplan" simulate "$dir/s.conf" --trace=- | verdicts)" healthy "sgctl analyze of a simulation without faults is healthy"
check 'straggler rank r9' 'Fault=slow Rank=9 Ratio=1.2 From=80'
check 'straggler node n3' 'Fault=slow Node=3 Ratio=1.15 From=60'
check 'straggler switch s2' 'Fault=slow Switch=2 Ratio=1.15 From=60' 'Inner=1'
check 'drift node n7' 'Fault=drift Node=7 Ratio=1.4 From=60 Over=100'
# Each link of the node shares its bandwidth: the collectives, not the ranks, get slow.
check 'communication none ' 'Fault=link Node=4 Ratio=0.2 From=90'

scenario 'Fault=death Rank=9 From=100'
is "$("$sgplan" simulate "$dir/s.conf" --trace=- | verdicts | cut -d ' ' -f 1-3)" 'hang rank r9' "sgctl analyze of a simulated death reports a hang of that rank"

# The same seed, the same bytes; another seed, others.
scenario 'Fault=slow Node=3 Ratio=1.15 From=60'
"$sgplan" simulate "$dir/s.conf" --steps=20 --trace="$dir/a"  >"$dir/page"
"$sgplan" simulate "$dir/s.conf" --steps=20 --trace="$dir/b" >/dev/null
"$sgplan" simulate "$dir/s.conf" --steps=20 --seed=6 --trace="$dir/c" >/dev/null
cmp -s "$dir/a" "$dir/b"; ok $? "sgplan simulate: the same seed gives the same trace"
! cmp -s "$dir/a" "$dir/c"; ok $? "sgplan simulate: another seed gives another trace"
grep -q 'network.*rounds' "$dir/page"; ok $? "sgplan simulate prints how the network was simulated"

# Rings that were full: some records are missing, the others are the same, and the finding survives it.
sed 's/^Run=test/Run=test Lost=0.05/' "$dir/s.conf" >"$dir/lost.conf"
"$sgplan" simulate "$dir/lost.conf" --steps=20 --trace="$dir/d" >/dev/null
python3 - "$dir/a" "$dir/d" <<'PYTHON'
import sys
whole, some = (open(name).read().splitlines() for name in sys.argv[1:])
assert whole[0] == some[0] and not set(some) - set(whole)
assert 0.03 < 1 - len(some) / len(whole) < 0.07, (len(some), len(whole))
PYTHON
ok $? "a scenario with Lost=0.05 drops 3 to 7 % of the records and changes none"
got=$("$sgplan" simulate "$dir/lost.conf" --trace=- | verdicts | head -n 1)
is "${got% *}" 'straggler node n3' "the slow node is found in a trace with lost records"

# What is wrong.
"$sgplan" simulate 2>/dev/null; is $? 2 "sgplan simulate without a scenario exits with 2"
is "$("$sgplan" simulate "$dir/none.conf" 2>&1 | head -1)" "sgplan: $dir/none.conf: No such file or directory" "sgplan simulate of a missing file names it and the reason"
echo 'Run=x Sed=1' >"$dir/bad.conf"
is "$("$sgplan" simulate "$dir/bad.conf" 2>&1 | head -1)" \
    "sgplan: $dir/bad.conf:1: Sed=1: unknown key. Did you mean 'Seed'?" "sgplan simulate reports an unknown key with its line and the key that was probably meant"
is "$("$sgplan" simulate "$dir/s.conf" --trace=/dev/full 2>&1 | grep -c 'cannot write the trace')" 1 "sgplan simulate reports a trace that cannot be written"

# The scenario of a published experiment has the figures that it is fitted to, and says what would change them.
cat >"$dir/scaling.py" <<'PYTHON'
import json, statistics, subprocess, sys
sgplan, path, changed = sys.argv[1:]
text = open(path).read()

def run(*changes, seeds=3, **keys):
    """Samples per second and variation: means over the seeds, and the variation's standard error."""
    s = text.replace("Algorithm=server", "Algorithm=server " + " ".join(f"{k}={v}" for k, v in keys.items()))
    for a, b in changes:
        assert a in s, a
        s = s.replace(a, b)
    open(changed, "w").write(s)
    jobs = []
    for seed in range(1, seeds + 1):
        p = subprocess.run([sgplan, "simulate", changed, "--json", f"--seed={seed}", "--steps=150"], capture_output=True, text=True)
        assert p.returncode == 0, p.stderr
        jobs.append(json.loads(p.stdout)["jobs"][0])
    cv = [j["step_cv"] for j in jobs]
    return (statistics.mean(j["samples_per_s"] for j in jobs), statistics.mean(cv),
            statistics.stdev(cv) / seeds ** .5)

# With so few steps a variation may be off by its standard error, no more.
for nodes, rate, cv in (4, 1024, .02), (8, 1980, .04), (16, 3600, .09), (32, 5800, .15), (64, 8200, .22):
    got = run((" Ranks=64", f" Ranks={nodes}"))
    assert abs(got[0] / rate - 1) <= 0.05, (nodes, got)
    assert abs(got[1] - cv) <= 0.005 + 0.05 * cv + 2 * got[2], (nodes, got)
base = got
# What changes neither arrivals nor bytes gains nothing; what takes the server out of the way does.
quiet, ring = ("Noise=link Node=0 Cv=0.44195", ""), ("Algorithm=server", "Algorithm=ring")
assert run(Pacing="delay", PaceMaxDelay="1s")[0] / base[0] < 1.01
assert base[0] < run(Servers=4)[0] < run(ring)[0]
assert run(quiet)[1] < base[1] / 4
# Bytes decide on eight ranks a node: the server last, a ring in random order behind one in order.
eight = [quiet, (" Ranks=64 RanksPerNode=1 ", " Ranks=512 RanksPerNode=8 "), ("Network=exact", "Network=auto")]
def rate(algorithm, rails=1):
    return run(*eight, ("Algorithm=server", "Algorithm=" + algorithm), ("Nodes=64", f"Nodes=64 Rails={rails}"), seeds=2)[0]
hierarchical = rate("hierarchical")
assert rate("server") < rate("ring Placement=shuffled") < rate("ring Placement=round-robin") < rate("ring")
assert rate("ring") <= 1.01 * hierarchical and hierarchical <= rate("hierarchical", rails=8)
PYTHON
python3 "$dir/scaling.py" "$sgplan" "$top_srcdir/lib/sim/scenarios/scaling.conf" "$dir/changed.conf"
ok $? "sgplan simulate scaling has the published figures within 5 %, and pacing gains nothing"

# Ten thousand ranks: the slow node is found, in memory that does not go with the length of the trace.
cat >"$dir/peak.py" <<'PYTHON'
import resource, subprocess, sys
subprocess.run(sys.argv[2:], check=True)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
sys.exit(f"{peak:.0f} MiB" if peak > float(sys.argv[1]) else 0)
PYTHON
wide=$top_srcdir/lib/sim/scenarios/wide.conf
python3 "$dir/peak.py" 64 "$sgplan" simulate "$wide" --trace="$dir/wide" >/dev/null; ok $? "sgplan simulates 10,000 ranks in 64 MiB"
got=$(verdicts <"$dir/wide" | head -n 1)
is "${got% *}" 'straggler node n777' "sgctl analyze finds the slow node among 10,000 ranks"
python3 "$dir/peak.py" 192 "$sgctl" analyze "$dir/wide" >/dev/null; ok $? "sgctl analyze reads 10,000 ranks in 192 MiB"
rm "$dir/wide"
done_testing
