#!/bin/bash
# Running MPI jobs that pass messages, recorded through probe, agent and controller by sgctl record.
. "$top_srcdir/tests/tap.sh" || exit 99
. "$top_srcdir/tests/workloads/mpi.sh" || exit 99

libraries=$(mpi_libraries "$top_builddir/tests/probe/messages")
[ -n "$libraries" ] || skip_all "needs an MPI library"
. "$top_srcdir/tests/controller.sh" || exit 99
step=$(mktemp -d /dev/shm/syncguard-test-XXXXXX) || exit 99
folders+=("$step")
controller_start

# What must hold of a trace of version 2.  Its ends are ragged: a rank is recorded a while before another one is.  So what must be there is
# known by the numbers: those of a stream that one of its ranks has, without a gap; of these, both have the ones in the middle.
cat >"$dir/check.py" <<'END'
import collections, json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
head, records = lines[0], lines[1:]
assert head["version"] == 2 and len(head["ranks"]) == 4, head
last, begun = collections.defaultdict(int), 0
first, streams = {}, collections.defaultdict(lambda: ({}, {}))
for e in records:
    assert e.get("ti", 0) <= e["t0"] <= e["t1"], e
    assert last[e["r"]] <= e["t1"] + 1000, ("order", e)
    last[e["r"]] = e["t1"]
    first.setdefault(e["r"], e["t1"])
    begun += "ti" in e and "p" not in e
    if "p" in e:
        send = e["o"] == "send"
        pair = (e["r"], e["p"]) if send else (e["p"], e["r"])
        end = streams[(e["c"], *pair, e["g"])][not send]
        assert e["s"] not in end, ("twice", e)
        end[e["s"]] = e
common = min(last.values()) - max(first.values()) # when all of them are recorded
gaps = [k for k, ends in streams.items() for end in ends if end and max(end) - min(end) != len(end) - 1]
# One iteration of the program may be cut in two, not half of the recording.
lonely = [k for k, ends in streams.items() for end, other in (ends, ends[::-1]) if end and not other and
          max(e["t1"] for e in end.values()) - min(e["t1"] for e in end.values()) > common / 2]
single = [(k, s) for k, (out, got) in streams.items() if out and got
          for s in out.keys() ^ got.keys() if max(min(out), min(got)) <= s <= min(max(out), max(got))]
both = [(out[s], got[s]) for out, got in streams.values() for s in out.keys() & got.keys()]
sizes = [m for m in both if m[0]["b"] != m[1]["b"]]
early = [m for m in both if m[1]["t1"] < m[0].get("ti", m[0]["t0"])]
enough = collections.Counter() # by partners and tag: a program may make a communicator for each of its iterations
for (c, *stream), (out, got) in streams.items():
    enough[tuple(stream)] += len(out.keys() & got.keys())
least = min(enough.values(), default=0)
print(f"{len(records)} records, {len(streams)} streams, {len(both)} messages, at least {least} of partners and tag, {len(gaps)} streams with a gap, "
      f"{len(lonely)} with one end, {len(single)} messages with one end, {len(sizes)} of two sizes, "
      f"{len(early)} received before they were sent, {begun} nonblocking collectives")
if gaps or lonely or single or sizes or early:
    sys.exit(1)
sys.exit(0 if least >= 5 and begun else 3) # 3: too little was recorded to say
END

calls_seen() { # JOB: its ranks were seen to call MPI for a while
    timeout 60 "$top_builddir/sgctl" --timeout 50 job "$1" --json 2>/dev/null |
        python3 -c 'import json, sys; sys.exit(json.load(sys.stdin)["probe"]["events"] < 40)' 2>/dev/null
}

# recorded SECONDS: a trace of so long, and what is found in it.  Its status: that of the look at it, and 2 without a trace.
recorded() {
    timeout 300 "$top_builddir/sgctl" --timeout 240 record $job --seconds "$1" >"$dir/$name.jsonl" 2>"$dir/err" || return 2
    python3 "$dir/check.py" "$dir/$name.jsonl" >"$dir/check" 2>&1
}

# records PROGRAM OPTION...: 4 ranks of PROGRAM.LIBRARY, which run until the file $dir/on is gone
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
    touch "$dir/on"
    mpi_run "$mpi" 4 env SYNCGUARD_DIR="$step/$name" LD_PRELOAD="$top_builddir/.libs/libsyncguard_probe.so" "$program.$mpi" "$@" >"$dir/out" 2>&1 &
    running=$!
    wait_for 120 calls_seen $job
    # On a slow machine little is done in a second: as long as it takes until there is enough of it.
    for seconds in 3 9 27 81; do
        recorded $seconds
        status=$?
        [ $status -eq 3 ] || break
    done
    [ $status -ne 2 ]
    ok $? "$name: sgctl record exits with 0" || show "$dir/err"
    grep -q 'nothing lost' "$dir/err"
    ok $? "$name: no number is missing in the trace" || show "$dir/err"
    is $status 0 "$name: both ends of each message are in the trace, in order"
    echo "# $seconds s: $(tail -n 1 "$dir/check")"
    [ -z "${RECORD_KEEP-}" ] || cp "$dir/$name.jsonl" "$RECORD_KEEP.$name.jsonl"
    rm -f "$dir/on"
    wait $running
    ok $? "$name: the recorded program exits with 0" || show "$dir/out"
    kill -TERM $agent
    wait $agent
}

workloads=$top_builddir/tests/workloads
text=
[ -d /usr/share/common-licenses ] || text="--text $top_srcdir/LICENSE"
for mpi in $libraries; do
    records "$top_builddir/tests/probe/messages" "$dir/on"
    # shellcheck disable=SC2086
    records "$workloads/pipeline" --stages 2 --batch 32 --hidden 48 --gentle --device 0.02 --while "$dir/on" $text
    records "$workloads/halo" --rows 200 --columns 200 --gentle --device 0.01 --while "$dir/on"
done
done_testing
