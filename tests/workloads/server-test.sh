#!/bin/bash
# Workers and parameter servers: what they compute, and what is said of them when they do not wait for one another.
. "$top_srcdir/tests/tap.sh" || exit 99
. "$top_srcdir/tests/workloads/runs.sh" || exit 99

runs_of server
common='--parameters 16384'

computes() {
    run fresh 4 --updates 50 --rate 0.1
    ok $? "$mpi: three workers write 50 updates each to one server"
    loss=$(sed -n 's/^result: loss \([^ ]*\) .*/\1/p' "$dir/fresh")
    awk -v loss="${loss:-9e9}" 'BEGIN { exit !(loss < 1) }'
    ok $? "$mpi: the loss falls where the learning rate is small" || show "$dir/fresh"
    run several 6 --servers 2 --updates 20 --gentle
    ok $? "$mpi: four workers write to two servers, waiting gently"
    run bounded 4 --updates 20 --bound 0
    ok $? "$mpi: with a bound of 0 all wait for all"
    for bad in '--servers 0' '--bound x' '--nonsense'; do
        rejects "$bad"
    done
    run odd 2 --servers 2
    [ $? -eq 1 ] && grep -q '^server: rank [0-9]*: --servers 2: no rank is left to work' "$dir/odd"
    ok $? "$mpi: servers without workers are rejected"
}

# seen NAME OPTION...: the report of a run under the guard in $dir/NAME.json
seen() {
    local out=$dir/$1

    shift
    timeout -k 5 300 "$top_builddir/sgrun" --no-screen --report="$out.json" bash -c '. "$top_srcdir/tests/workloads/mpi.sh"; mpi_run "$@"' - \
        "$mpi" 6 env "LD_PRELOAD=$guard" "$program.$mpi" $common --device 0.02 --vary 0.3 --gentle "$@" >"$out" 2>&1 ||
        show "$out"
}

guarded_runs() {
    guard=$top_builddir/.libs/libsyncguard_probe.so
    export top_srcdir top_builddir SYNCGUARD_CONF=$dir/own.conf TMPDIR=$dir
    printf 'AgentPath=%s\nProbePath=%s\n' "$top_builddir/syncguard-agent" "$guard" >"$SYNCGUARD_CONF"
    seen free --seconds 8 --slow 3 --factor 3
    is "$(jq -c '.updates | [.servers, .workers]' "$dir/free.json")" '[1,5]' "$mpi: under the guard it is seen who serves and who works"
    jq -e '.updates | .staleness.mean > 2 and .staleness.mean < 6 and (.lr_lambda_limit.mean - 2 * ((3.141592653589793 / (2 * (2 * .staleness.mean + 1))) | sin) | fabs) < 1e-6' \
        "$dir/free.json" >/dev/null
    ok $? "$mpi: the staleness is about that of four other workers, and has its limit beside it" || show "$dir/free.json"
    is "$(jq -c '.updates.ranks[0] | [.rank, .part, .work_ratio > 1.5, .slowdown > 1]' "$dir/free.json")" '[3,"worker",true,true]' "$mpi: the slow worker is the first of the ranks, and costs its share"
    # a busy machine serves more slowly, too: then the server is named beside it, as slower than it was
    local named='.verdicts | map(select(.text | contains("as the other workers")))'
    is "$(jq -c "$named | map(.culprits[])" "$dir/free.json")" '["r3"]' "$mpi: it is named, and no other worker"
    jq -e '.verdicts | all(.text | test("as the other workers|times as long for an update as before"))' "$dir/free.json" >/dev/null
    ok $? "$mpi: no verdict is one of steps" || show "$dir/free.json"
    like "$(jq -r "$named[0].text" "$dir/free.json")" 'rank 3 .*worked .* times as long an iteration as the other workers, which did not wait for it' \
        "$mpi: the verdict says that nobody waits for it"
    seen bound --updates 100 --bound 0 --slow 3 --factor 3
    is "$(jq -c '.updates' "$dir/bound.json")" null "$mpi: servers that wait for all workers are not taken for others"
}

for mpi in $libraries; do
    computes
    if [ -x /usr/sbin/munged ] && command -v jq >/dev/null; then
        guarded_runs
    else
        skip "$mpi: runs under the guard" "munged or jq is not installed"
    fi
done
done_testing
