#!/bin/bash
# Running MPI jobs that pass messages, recorded through probe, agent and controller by sgctl record.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/workloads/mpi.sh"

libraries=$(mpi_libraries "$top_builddir/tests/probe/messages")
[ -n "$libraries" ] || skip_all "needs an MPI library"
. "$top_srcdir/tests/controller.sh"
step=$(mktemp -d /dev/shm/syncguard-test-XXXXXX) || exit 99
folders+=("$step")
controller_start

# What must hold of a trace of version 2, away from its ends, where only some ranks are recorded.
cat >"$dir/check.py" <<'END'
import collections, json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
head, records = lines[0], lines[1:]
assert head["version"] == 2 and len(head["ranks"]) == 4, head
last, ends, begun = collections.defaultdict(int), collections.defaultdict(dict), 0
for e in records:
    assert e.get("ti", 0) <= e["t0"] <= e["t1"], e
    assert last[e["r"]] <= e["t1"] + 1000, ("order", e)
    last[e["r"]] = e["t1"]
    begun += "ti" in e and "p" not in e
    if "p" in e:
        pair = (e["r"], e["p"]) if e["o"] == "send" else (e["p"], e["r"])
        end = ends[(e["c"], *pair, e["g"], e["s"])]
        assert e["o"] not in end, ("twice", e)
        end[e["o"]] = e
first, final = min(e["t1"] for e in records), max(e["t1"] for e in records)
inside = [m for m in ends.values() if all(first + 3e8 < e["t1"] < final - 3e8 for e in m.values())]
single = [m for m in inside if len(m) != 2]
sizes = [m for m in inside if len(m) == 2 and m["send"]["b"] != m["recv"]["b"]]
early = [m for m in inside if len(m) == 2 and m["recv"]["t1"] < m["send"].get("ti", m["send"]["t0"])]
print(f"{len(records)} records, {len(inside)} messages, {len(single)} with one end, {len(sizes)} of two sizes, "
      f"{len(early)} received before they were sent, {begun} nonblocking collectives")
sys.exit(not inside or not begun or bool(single or sizes or early))
END

calls_seen() { # JOB: its ranks were seen to call MPI for a while
    timeout 5 "$top_builddir/sgctl" job "$1" --json 2>/dev/null |
        python3 -c 'import json, sys; sys.exit(json.load(sys.stdin)["probe"]["events"] < 40)' 2>/dev/null
}

# records PROGRAM OPTION...: 4 ranks of PROGRAM.LIBRARY, which run for 6 s or more
job=70
records() {
    local program=$1 name

    name=$mpi-$(basename "$program")
    shift
    job=$((job + 1))
    mkdir -m 700 "$step/$name"
    SLURM_JOB_ID=$job SLURM_STEP_ID=0 SLURM_NNODES=1 SLURM_NTASKS=4 SYNCGUARD_LOCAL_TASKS=4 SLURM_NODEID=0 \
        "$top_builddir/syncguard-agent" --dir "$step/$name" --policy observe --controller 127.0.0.1:$port \
        --munge-socket "$dir/munge" --node n0 >"$dir/agent.log" 2>&1 &
    agent=$!
    pids+=($agent)
    mpi_run "$mpi" 4 env SYNCGUARD_DIR="$step/$name" LD_PRELOAD="$top_builddir/.libs/libsyncguard_probe.so" "$program.$mpi" "$@" >"$dir/out" 2>&1 &
    running=$!
    wait_for 20 calls_seen $job
    timeout 40 "$top_builddir/sgctl" --timeout 20 record $job --seconds 3 -o "$dir/$name.jsonl" 2>"$dir/err"
    ok $? "$name: sgctl record exits with 0: $(cat "$dir/err")"
    grep -q 'nothing lost' "$dir/err"
    ok $? "$name: no number is missing in the trace"
    python3 "$dir/check.py" "$dir/$name.jsonl" >"$dir/check" 2>&1
    ok $? "$name: both ends of each message are in the trace, in order: $(tail -n 1 "$dir/check")"
    [ -z "$RECORD_KEEP" ] || cp "$dir/$name.jsonl" "$RECORD_KEEP.$name.jsonl"
    wait $running
    ok $? "$name: the recorded program exits with 0" || show "$dir/out"
    kill -TERM $agent
    wait $agent
}

workloads=$top_builddir/tests/workloads
text=
[ -d /usr/share/common-licenses ] || text="--text $top_srcdir/LICENSE"
for mpi in $libraries; do
    records "$top_builddir/tests/probe/messages" 8
    # shellcheck disable=SC2086
    records "$workloads/pipeline" --stages 2 --batch 32 --hidden 48 --gentle --device 0.02 --seconds 6 $text
    records "$workloads/halo" --rows 200 --columns 200 --gentle --device 0.01 --seconds 6
done
done_testing
