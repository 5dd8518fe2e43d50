#!/bin/bash
# A running MPI job that passes messages, recorded through probe, agent and controller by sgctl record.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/workloads/mpi.sh"

program=$top_builddir/tests/probe/messages
libraries=$(mpi_libraries "$program")
if [ -z "$libraries" ] || [ ! -x /usr/sbin/munged ]; then
    skip_all "needs an MPI library and munged"
fi
dir=$(mktemp -d /tmp/probe-record-XXXXXX) || exit 99
chmod 755 "$dir" # munged insists that everybody may reach its socket
step=$(mktemp -d /dev/shm/syncguard-test-XXXXXX) || exit 99
pids=()
cleanup() {
    [ ${#pids[@]} -eq 0 ] || kill -TERM "${pids[@]}" 2>/dev/null
    wait 2>/dev/null
    rm -rf "$dir" "$step"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

head -c 64 /dev/urandom >"$dir/key" && chmod 600 "$dir/key"
/usr/sbin/munged --foreground --force --num-threads=1 --key-file="$dir/key" --log-file="$dir/munge.log" \
    --pid-file="$dir/munge.pid" --seed-file="$dir/seed" --socket="$dir/munge" >/dev/null 2>&1 &
pids+=($!)
port=$((20000 + $$ % 20000))
cat >"$dir/syncguard.conf" <<CONF
Controller=127.0.0.1
Port=$port
Listen=127.0.0.1
AuthInfo=socket=$dir/munge
StateDir=$dir/state
LogFile=$dir/syncguardd.log
CONF
export SYNCGUARD_CONF=$dir/syncguard.conf
wait_for 10 test -S "$dir/munge" >/dev/null 2>&1
"$top_builddir/syncguardd" --conf "$SYNCGUARD_CONF" &
pids+=($!)
wait_for 10 timeout 5 "$top_builddir/sgctl" --timeout 1 status >/dev/null 2>&1

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

job=70
for mpi in $libraries; do
    job=$((job + 1))
    mkdir -m 700 "$step/$mpi"
    SLURM_JOB_ID=$job SLURM_STEP_ID=0 SLURM_NNODES=1 SLURM_NTASKS=4 SYNCGUARD_LOCAL_TASKS=4 SLURM_NODEID=0 \
        "$top_builddir/syncguard-agent" --dir "$step/$mpi" --policy observe --controller 127.0.0.1:$port \
        --munge-socket "$dir/munge" --node n0 >"$dir/agent.log" 2>&1 &
    agent=$!
    pids+=($agent)
    mpi_run "$mpi" 4 env SYNCGUARD_DIR="$step/$mpi" LD_PRELOAD="$top_builddir/.libs/libsyncguard_probe.so" "$program.$mpi" 8 >"$dir/out" 2>&1 &
    running=$!
    sleep 1.5
    timeout 30 "$top_builddir/sgctl" record $job --seconds 3 -o "$dir/$mpi.jsonl" 2>"$dir/err"
    ok $? "$mpi: sgctl record exits with 0: $(cat "$dir/err")"
    grep -q 'nothing lost' "$dir/err"
    ok $? "$mpi: no number is missing in the trace"
    python3 "$dir/check.py" "$dir/$mpi.jsonl" >"$dir/check" 2>&1
    ok $? "$mpi: both ends of each message are in the trace, in order: $(tail -n 1 "$dir/check")"
    [ -z "$RECORD_KEEP" ] || cp "$dir/$mpi.jsonl" "$RECORD_KEEP.$mpi.jsonl"
    wait $running
    ok $? "$mpi: the recorded program exits with 0"
    kill -TERM $agent
    wait $agent
done
done_testing
