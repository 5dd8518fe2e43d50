#!/bin/bash
# sgplan as a shell sees it: exit codes, streams, nonsense, JSON.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
PATH=$top_builddir:$PATH
code() { # code WANTED WORDS...: exit code; stdout and stderr are in $dir, which the test's name leaves out
    local wanted=$1
    shift
    timeout 60 sgplan "$@" >"$dir/out" 2>"$dir/err" </dev/null
    is $? "$wanted" "sgplan ${*//"$dir/"/}: exit status"
}
# refused BEGINNING WORDS...: exit code 2, a line that begins so and one on how to get help, nothing on standard output
refused() {
    local beginning=$1
    shift
    timeout 60 sgplan "$@" >"$dir/out" 2>"$dir/err" </dev/null
    is "$? $(wc -c <"$dir/out") $(wc -l <"$dir/err") $(head -c ${#beginning} "$dir/err")" "2 0 2 $beginning" "sgplan ${*//"$dir/"/}: rejected with status 2, a line that names the option and one on how to get help"
}

code 0 --version
is "$(cut -d' ' -f1 "$dir/out")" sgplan "sgplan --version begins with the program's name"
code 0 --help
code 0 help whatif
code 0 checkpoint --help
code 2 help nothing
code 2
is "$(wc -c <"$dir/out")" 0 "sgplan without a question prints nothing on standard output"

net=(--ranks=64 --latency=10us --bandwidth=25GB/s)
refused "sgplan: --ranks: '0' is not accepted: a whole number from 1 to 10000000" collective --op=allreduce --ranks=0 --bytes=1MB --latency=1us --bandwidth=1GB/s
refused "sgplan: --latency: '-1us' is not accepted: a time such as" collective --op=allreduce --ranks=8 --bytes=1MB --latency=-1us --bandwidth=1GB/s
refused "sgplan: --bandwidth: '400Gb/s' is not accepted: 'Gb/s' may be bits or bytes: write" collective --op=allreduce --ranks=8 --bytes=1MB --latency=1us --bandwidth=400Gb/s
refused "sgplan: --bandwidth: '400Gb' is not accepted: 'Gb' may be bits or bytes: write" collective --op=allreduce --ranks=8 --bytes=1MB --latency=1us --bandwidth=400Gb
refused "sgplan: --bytes: '1Gb' is not accepted: 'Gb' may be bits or bytes: write" collective --op=allreduce --bytes=1Gb "${net[@]}"
refused "sgplan: --bandwidth: '0GB/s' is not accepted: a bandwidth of more than zero" collective --op=allreduce --ranks=8 --bytes=1MB --latency=1us --bandwidth=0GB/s
refused "sgplan: --bandwidth: '25' is not accepted: a bandwidth such as 25GB/s" collective --op=allreduce --ranks=8 --bytes=1MB --latency=1us --bandwidth=25
refused "sgplan: --op: 'x' is not accepted: allreduce, allgather" collective --op=x --bytes=1MB "${net[@]}"
refused "sgplan: --bytes=SIZE is needed, or --crossover=A,B" collective --op=allreduce "${net[@]}"
refused "sgplan: --latency=TIME is needed" collective --op=allreduce --ranks=8 --bytes=1MB --bandwidth=1GB/s
refused "sgplan: broadcast has no algorithm ring" collective --op=broadcast --algo=ring --bytes=1MB "${net[@]}"
refused "sgplan: hierarchical needs --ranks-per-node" collective --op=allreduce --algo=hierarchical --bytes=1MB "${net[@]}"
hier=(collective --op=allreduce --algo=hierarchical --bytes=1MB "${net[@]}" --intra-latency=1us --intra-bandwidth=600GB/s)
refused "sgplan: --ranks=64 is not a multiple of --ranks-per-node=7" "${hier[@]}" --ranks-per-node=7
refused "sgplan: --rails=9 is more than --ranks-per-node=8" "${hier[@]}" --ranks-per-node=8 --rails=9
refused "sgplan: --crossover: 'ring' is not accepted: two different algorithms of ring, tree" collective --op=allreduce "${net[@]}" --crossover=ring
refused "sgplan: --crossover: 'ring,ring' is not accepted" collective --op=allreduce "${net[@]}" --crossover=ring,ring
refused "sgplan: --overlap needs --backward=TIME" step --compute=1s --comm=1s --overlap=0.5
refused "sgplan: --backward is a part of --compute" step --compute=1s --comm=1s --overlap=0.5 --backward=2s
refused "sgplan: missing --tau=STEPS, for the limit of the learning rate, or --bound=S" staleness
refused "sgplan: --bound: 'inf' is not accepted: " staleness --bound=inf --ranks=8 --cv=0.1
refused "sgplan: --tau: '-1' is not accepted: " staleness --tau=-1
refused "sgplan: --momentum: '1' is not accepted: a ratio from 0 to" staleness --tau=1 --momentum=1
refused "sgplan: --bound needs --ranks=N and --cv=RATIO" staleness --bound=2
refused "sgplan: --steps=50 is too small for --bound=10" staleness --bound=10 --steps=50 --ranks=8 --cv=0.1
refused "sgplan: --drop=8 leaves no rank of --ranks=8" straggler --ranks=8 --cv=0.1 --drop=8
for more in --barrier-every=2 --p-slow=0.1 --slow-ratio=2; do
    refused "sgplan: --drop cannot be combined with --barrier-every, --p-slow or --slow-ratio" straggler --ranks=8 --cv=0.1 --drop=1 $more
done
refused "sgplan: --node-cv and --switch-cv need --cv and --ranks-per-node" straggler --ranks=8 --node-cv=0.1
refused "sgplan: --switch-cv needs --nodes-per-switch=N" straggler --ranks=8 --cv=0.1 --ranks-per-node=2 --switch-cv=0.1
refused "sgplan: --cv: '0,1' is not accepted: a ratio such as" straggler --ranks=8 --cv=0,1
refused "sgplan: --p-slow: '2' is not accepted: " straggler --ranks=8 --p-slow=2
refused "sgplan: --write: '0s' is not accepted: a time of more than zero" checkpoint --write=0s --mtbf=1h
refused "sgplan: --time-limit leaves no time for one checkpoint" checkpoint --write=10m --mtbf=1h --time-limit=5m
refused "sgplan: one of --failures-per-1000-node-days=F" mtbf --nodes=8
refused "sgplan: one of --failures-per-1000-node-days=F" mtbf --nodes=8 --node-mtbf=1d --failures=1 --node-days=3
refused "sgplan: --failures=K and --node-days=D are needed together" mtbf --nodes=8 --failures=1
refused "sgplan: --zero: '4' is not accepted: " memory --params=7B --ranks=8 --zero=4
refused "sgplan: --params: '7.5' is not accepted: a number such as" memory --params=7.5 --ranks=8
refused "sgplan: --stages=P is needed" pipeline --microbatches=8
refused "sgplan: --chunks needs --schedule=interleaved" pipeline --stages=4 --microbatches=8 --chunks=2
refused "sgplan: --stage-times: 'x' is not accepted: a time such as" pipeline --stage-times=1s,x --microbatches=8
refused "sgplan: --stage-times has 2 stages, but --stages is 3" pipeline --stage-times=1s,1s --stages=3 --microbatches=8
refused "sgplan: --target-utilization: '1' is not accepted" pipeline --stages=4 --target-utilization=1
refused "sgplan: --compute and --comm are needed together" compress --ratio=0.1 --iterations-ratio=2 --comm=1s
train=(--compute=400ms --gradient-bytes=1.4GB "${net[@]}")
refused "sgplan: --batch-per-rank, --min-steps and --critical-batch are needed together" train "${train[@]}" --min-steps=5
refused "sgplan: --node-mtbf needs --checkpoint-write=TIME" train "${train[@]}" --node-mtbf=1d
refused "sgplan: --change: 'speed=2x' is not accepted: one of compute, cv, " whatif "${train[@]}" --change=speed=2x
refused "sgplan: --change=bandwidth=0x: 0 is not accepted for --bandwidth" whatif "${train[@]}" --change=bandwidth=0x
refused "sgplan: --change=overlap=50% needs --backward=TIME" whatif "${train[@]}" --change=overlap=50%
refused "sgplan: --change=cv=2x changes nothing" whatif "${train[@]}" --change=cv=2x
refused "sgplan: --ranks=1: a comparison needs at least 2 ranks" compare --ranks=1 --latency=1us --bandwidth=1GB/s --compute=1s --cv=0.1 --gradient-bytes=1MB

cat >"$dir/topology.conf" <<'END'
SwitchName=s1 Nodes=n[1-16:2]
END
code 1 place --topology="$dir/topology.conf"
is "$(cat "$dir/err")" "sgplan: $dir/topology.conf:1: switch s1: 'n[1-16:2]' is not accepted: names such as node1 or node[1-3,07], with commas between them" \
    "sgplan place names file, line and what is accepted"
cat >"$dir/topology.conf" <<'END'
SwitchName=s0 Nodes=n[1,3,5,7,9,11,13,15]
SwitchName=s1 Nodes=n[2,4,6,8,10,12,14,16]
SwitchName=top Switches=s[0-1]
END
place=(place --topology="$dir/topology.conf")
code 1 place --topology="$dir/none"
refused "sgplan: missing --topology=FILE: " place
refused "sgplan: pattern 'star' is not accepted: ring, halving, doubling, groups:G or pipeline:SxR" "${place[@]}" --pattern=star
refused "sgplan: groups:3: 16 ranks cannot be divided into such groups" "${place[@]}" --pattern=groups:3
refused "sgplan: --nodelist: 'n[1' is not accepted: names such as node1" "${place[@]}" --nodelist='n[1'
refused "sgplan: --nodelist is empty" "${place[@]}" --nodelist=
refused "sgplan: $dir/topology.conf: node n17 is below no switch" "${place[@]}" --nodelist='n[15-17]'
refused "sgplan: node n1 is given twice" "${place[@]}" --nodelist=n1,n1
refused "sgplan: --link=s9=1GB/s: a node or switch of the topology is accepted" "${place[@]}" --link=s9=1GB/s
refused "sgplan: --link=s1=fast: a bandwidth such as" "${place[@]}" --link=s1=fast
refused "sgplan: --oversubscription=2,x: a number such as" "${place[@]}" --oversubscription=2,x
code 0 "${place[@]}" --ranks-per-node=2 --suggest
is "$(tr '\n' ' ' <"$dir/out")" "$(for n in 1 3 5 7 9 11 13 15 2 4 6 8 10 12 14 16; do printf 'n%d n%d ' $n $n; done)" \
    "sgplan place --suggest prints a host file with a line per rank, switch after switch"
is "$(sgplan "${place[@]}" --oversubscription=4 --nodelist='n[16-1]' 2>&1 | head -1 | cut -c1-45)" "sgplan: --nodelist: 'n[16-1]' is not accepted" \
    "sgplan place rejects a range that falls"
is "$(sgplan "${place[@]}" | grep -c 'as listed')" 0 "sgplan place without --nodelist has no order as listed"
sgplan "${place[@]}" --oversubscription=4 --nodelist='n16,n[1-15]' --json >"$dir/placed"
is "$(python3 -c '
import json, sys
a = json.load(sys.stdin)
print([o["order"] for o in a["orders"]], a["optimal"], round(a["gain"], 1), a["switches"])' <"$dir/placed")" \
    "[\"Slurm's block\", \"Slurm's cyclic\", 'as listed', 'suggested'] True 4.8 2" \
    "sgplan place compares orders: each step of Slurm's crosses the link between the switches"

# Every question says its source and its assumptions, to people and to programs; nothing is NaN.
questions=(
    "collective --op=allreduce --bytes=700MB ${net[*]}"
    "collective --op=allreduce --crossover=ring,tree ${net[*]}"
    "step --compute=100ms --comm=70ms"
    "speedup --compute=7s --comm=1s"
    "straggler --ranks=1024 --cv=10% --p-slow=0.1% --slow-ratio=1.5"
    "staleness --tau=4 --momentum=0.9 --bound=2 --ranks=16 --cv=0.3"
    "localsgd --compute=50ms --comm=100ms --penalty=0.08"
    "compress --ratio=10% --iterations-ratio=1.2 --compute=50ms --comm=100ms"
    "bucket --gradient-bytes=1.4GB --backward=120ms ${net[*]}"
    "pipeline --stages=8 --microbatches=16 --target-utilization=95%"
    "memory --params=7B --ranks=8 --memory=80GB"
    "checkpoint --write=60s --mtbf=6h --time-limit=12h --grace=30s --step=600ms"
    "mtbf --nodes=128 --failures=3 --node-days=900 --duration=2-00:00:00"
    "train ${train[*]} --cv=5%"
    "compare ${train[*]} --cv=10%"
    "place --topology=$dir/topology.conf --nodelist=n[1-4,9] --link=s1=1GB/s"
    "whatif ${train[*]} --cv=5% --change=bandwidth=4x,cv=1%,ranks=2x"
)
for question in "${questions[@]}"; do
    read -ra words <<<"$question"
    code 0 "${words[@]}"
    is "$(grep -c '^Source: ' "$dir/out") $(grep -c '^Assumes: ' "$dir/out") $(grep -ciw nan "$dir/out") $(wc -c <"$dir/err")" "1 1 0 0" \
        "sgplan ${words[0]} prints source and assumptions, no NaN, nothing on standard error"
    code 0 "${words[@]}" --json
    is "$(python3 -c 'import json, sys; a = json.load(sys.stdin); print(type(a).__name__, bool(a["source"]), bool(a["assumes"]))' <"$dir/out")" \
        "dict True True" "sgplan ${words[0]} --json is one object with source and assumptions"
done
for question in $(sgplan --complete sgplan '' | cut -f1); do
    [ "$question" = help ] || printf '%s\n' "${questions[@]}" | grep -q "^$question " || echo "$question"
done >"$dir/untold"
is "$(grep -vxE 'scale|simulate' "$dir/untold")" "" "every question of sgplan is in this test's list"

is "$(sgplan staleness --bound=2 --ranks=32 --cv=0.3 --json | md5sum)" "$(sgplan staleness --bound=2 --ranks=32 --cv=0.3 --json | md5sum)" \
    "sgplan staleness: the same seed gives the same answer"
is "$(sgplan staleness --bound=2 --ranks=32 --cv=0.3 --json --seed=2 | md5sum | grep -c "$(sgplan staleness --bound=2 --ranks=32 --cv=0.3 --json | md5sum)")" \
    0 "sgplan staleness: another seed gives another answer"
sgplan compare "${train[@]}" --cv=30% --json >"$dir/without"
sgplan compare "${train[@]}" --cv=30% --json --staleness-penalty=0.01 >"$dir/with"
python3 - "$dir/without" "$dir/with" >"$dir/words" <<'END'
import json, sys
without, given = (json.load(open(f)) for f in sys.argv[1:])
print(all(s["time_s"] is None for s in without["strategies"] if "staleness" in s["strategy"]),
      without["best"].startswith("synchronous"), given["best"].startswith("bounded staleness"))
END
is "$(cat "$dir/words")" "True True True" "sgplan compare ranks bounded staleness only with --staleness-penalty"
# Jobs on more ranks. A trace of 8 ranks whose own work is what the table of noise must find again.
trace() { # trace STEPS: two all-reduces a step, 100 us and 10 GB/s; ranks differ by up to 5 % a step
    awk -v steps="$1" 'BEGIN {
        printf "{\"format\":\"syncguard-trace\",\"version\":1,\"job\":\"made\",\"ranks\":["
        for (r = 0; r < 8; r++)
            printf "%s{\"rank\":%d,\"node\":\"n%d\",\"switch\":\"s%d\"}", r ? "," : "", r, r / 2, r / 4
        print "]}"
        seed = 7
        for (k = 0; k < 2 * steps; k++) {
            last = 0
            for (r = 0; r < 8; r++) {
                seed = (seed * 16807) % 2147483647
                work = k % 2 ? 0 : 100000000 * (1 + 0.1 * (seed / 2147483647 - 0.5))
                enter[r] = now + work
                last = enter[r] > last ? enter[r] : last
            }
            bytes = k % 2 ? 1000 : 10000000
            now = last + 100000 + bytes / 10
            for (r = 0; r < 8; r++)
                printf "{\"r\":%d,\"c\":\"world\",\"s\":%d,\"o\":\"allreduce\",\"b\":%d,\"t0\":%.0f,\"t1\":%.0f}\n", r, k,
                    bytes, enter[r], now
        }
    }'
}
refused "sgplan: one of --trace=FILE and --job=ID is needed" scale
refused "sgplan: one of --trace=FILE and --job=ID is needed" scale --trace=x --job=1
refused "sgplan: --mode: 'x' is not accepted: weak or strong" scale --trace=x --mode=x
trace 150 >"$dir/trace"
trace 5 >"$dir/short"
code 1 scale --trace="$dir/none"
is "$(cut -d: -f1 "$dir/err")" sgplan "sgplan scale of a missing trace reports an error of sgplan's"
code 1 scale --trace="$dir/short"
is "$(grep -c "^sgplan: cannot project the job: " "$dir/err")" 1 "sgplan scale of a trace that is too short reports that it cannot be projected"
code 0 scale --trace="$dir/trace"
is "$(grep -c '^ *128 *16.0x' "$dir/out")" 1 "sgplan scale prints a row of 128 ranks, 16 times those of the trace"
is "$(sgplan scale --trace=- --json <"$dir/trace" | md5sum)" "$(sgplan scale --trace="$dir/trace" --json | md5sum)" \
    "sgplan scale --trace=- prints the same as from a file"
python3 - "$dir/trace" >"$dir/four" <<'END'
import json, sys
for number, line in enumerate(open(sys.argv[1])):
    record = json.loads(line)
    if number == 0:
        record["ranks"] = record["ranks"][:4]
    if number == 0 or record["r"] < 4:
        print(json.dumps(record))
END
code 0 scale --trace="$dir/four" --trace="$dir/trace"
is "$(grep -cE '^ *128 *16.0x|^.* 4 .*ranks of other runs' "$dir/out")" 2 "sgplan scale of two traces projects the larger and mentions the smaller"
code 1 scale --trace="$dir/trace" --trace="$dir/short"
is "$(grep -c "short: cannot be used: " "$dir/err")" 1 "sgplan scale names the second trace that is too short"
# shellcheck disable=SC2046
code 2 scale $(printf -- "--trace=$dir/trace %.0s" 1 2 3 4 5 6 7 8 9)
is "$(head -1 "$dir/err")" "sgplan: --trace is given more than 8 times" "sgplan scale rejects a ninth --trace"
sgplan scale --trace="$dir/trace" --json >"$dir/weak"
sgplan scale --trace="$dir/trace" --json --mode=strong >"$dir/strong"
python3 - "$dir/weak" "$dir/strong" >"$dir/words" <<'END'
import json, sys
weak, strong = (json.load(open(f)) for f in sys.argv[1:])
link = weak["links"][0]
near = lambda a, b, r: abs(a - b) <= r * b
print([p["ranks"] for p in weak["points"]] == [8, 16, 32, 64, 128],
      near(weak["compute_s"], 0.1, 0.02), near(weak["noise"][0]["passing"], 0.1 / 12 ** 0.5, 0.1),
      near(link["fixed_s"], 1e-4, 0.02), near(link["bytes_per_s"], 1e10, 0.02),
      all(p["step_low_s"] <= p["step_s"] <= p["step_high_s"] for p in weak["points"] + strong["points"]),
      all(p["step_s"] < q["step_s"] for p, q in zip(strong["points"][1:], weak["points"][1:])))
END
is "$(cat "$dir/words")" "True True True True True True True" "sgplan scale finds ranks, compute time, noise, latency and bandwidth that the trace was made of"

if [ -w /dev/full ]; then
    sgplan help >/dev/full 2>"$dir/err"
    is "$? $(cut -c1-21 "$dir/err")" "1 sgplan: cannot write:" "sgplan exits with 1 and a reason when its output cannot be written"
fi

done_testing
