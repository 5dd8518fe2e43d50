#!/bin/bash
# The halo exchange: the same bits on any number of ranks, and under the guard.
. "$top_srcdir/tests/tap.sh" || exit 99
. "$top_srcdir/tests/workloads/runs.sh" || exit 99

common='--rows 60 --columns 47 --steps 95'
runs_of halo

for mpi in $libraries; do
    run one 1
    ok $? "$mpi: halo does 95 steps on 1 rank"
    for ranks in 2 3 4 6; do
        run many "$ranks" --residual-every 4
        same one many "$ranks ranks give the bits of 1"
    done
    run gentle 4 --gentle
    same one gentle 'ranks that wait gently give the same bits'
    run other 1 --seed 2
    [ "$(result other)" != "$(result one)" ]
    ok $? "$mpi: another --seed gives another result"

    guarded guarded 4
    same one guarded 'a guarded run gives the same bits'
    "$top_builddir/tests/probe/compare" "$dir/guarded.rings" - 4 >"$dir/compare" 2>&1
    ok $? "$mpi: both ends of each message are in the rings" || show "$dir/compare"
    sent=$("$top_builddir/sgring" --json --events=100000 "$dir/guarded.rings" |
        python3 -c 'import json, sys
print(sum(e["op"] == "send" for r in json.load(sys.stdin)["rings"] for e in r["events"]))')
    is "$sent" $((95 * 4 * 2)) "$mpi: the rings hold 95 steps in which each of 4 ranks sends to 2 neighbours"
    rm -rf "$dir"/*.rings

    for bad in '--rows 0' '--columns x' '--residual-every 0' '--nonsense' '--steps' 'stray'; do
        rejects "$bad"
    done
    run narrow 4 --rows 1
    [ $? -eq 1 ] && [ "$(grep -c '^halo: ' "$dir/narrow")" -eq 1 ] && grep -q 'too few cells for 2 by 2 ranks' "$dir/narrow"
    ok $? "$mpi: a grid of 1 row is rejected on 2 by 2 ranks by one line of one rank"
    "$program.$mpi" --help | grep -q -- '--residual-every N'
    ok $? "$mpi: --help lists --residual-every"
done
done_testing
