#!/bin/bash
# The pipeline: it repeats itself bit by bit, also under the guard, and ends as the trainer does that is not cut into stages.
. "$top_srcdir/tests/tap.sh" || exit 99
. "$top_srcdir/tests/workloads/runs.sh" || exit 99

common='--batch 32 --hidden 48 --context 6 --embed 8 --rate 0.1 --steps 30'
[ -d /usr/share/common-licenses ] || common="$common --text $top_srcdir/LICENSE"
runs_of pipeline

# Messages of each step: activations up and gradients down, one of each a microbatch between two stages.
repeats() {
    run first 4 --stages 2
    ok $? "$mpi: the pipeline does 30 steps on 2 replicas of 2 stages"
    run second 4 --stages 2 --gentle --loss-every 7
    same first second 'a second run that waits gently and sums the loss at other steps gives the same bits'
    run other 4 --stages 2 --seed 2
    [ "$(result other)" != "$(result first)" ]
    ok $? "$mpi: another --seed gives another result"
    guarded guarded 4 --stages 2
    same first guarded 'a guarded run gives the same bits'
    "$top_builddir/tests/probe/compare" "$dir/guarded.rings" - 4 >"$dir/compare" 2>&1
    ok $? "$mpi: both ends of each message are in the rings" || show "$dir/compare"
    sent=$("$top_builddir/sgring" --json --events=100000 "$dir/guarded.rings" |
        python3 -c 'import json, sys
print(sum(e["op"] == "send" and e["tag"] < 3 for r in json.load(sys.stdin)["rings"] for e in r["events"]))')
    is "$sent" $((30 * 8 * 2 * 2)) "$mpi: the rings hold 30 steps of 8 microbatches, up and down, of 2 replicas"
}

# Two replicas at most: sums of two numbers have one order.
equals_trainer() {
    for shape in '1 4 4 --microbatches=2' '2 2 3 --uneven=1' '2 4 5 --uneven=0' '1 2 4 --layers=2' '2 1 1'; do
        read -r replicas stages layers options <<<"$shape"
        # shellcheck disable=SC2086
        run cut $((replicas * stages)) --gentle --stages "$stages" $options
        program=$trainer run whole "$replicas" --layers "$layers"
        same cut whole "$replicas replicas of $stages stages $options end as the trainer with $layers layers on $replicas ranks"
    done
}

refuses() {
    for bad in '--stages 0' '--stages x' '--uneven 2' '--microbatches 5' '--layers 40' '--nonsense' '--steps' 'stray'; do
        rejects "$bad"
    done
    run odd 3 --stages 2
    [ $? -eq 1 ] && [ "$(grep -c '^pipeline: ' "$dir/odd")" -eq 1 ] && grep -q '3 ranks cannot be cut into pipelines of 2' "$dir/odd"
    ok $? "$mpi: --stages 2 on 3 ranks is rejected by one line of one rank"
    "$program.$mpi" --help | grep -q -- '--uneven K'
    ok $? "$mpi: --help lists --uneven"
}

trainer=$top_builddir/tests/workloads/trainer
for mpi in $libraries; do
    repeats
    rm -rf "$dir"/*.rings
    equals_trainer
    refuses
done
done_testing
