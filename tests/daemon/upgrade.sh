#!/bin/bash
# The controller is exchanged under running jobs for one that speaks a newer version of the protocol, and back: agents of both versions
# are heard by both, and what is said of a job goes on. The newer programs are these, built with a higher version of the protocol.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
. "$top_srcdir/tests/workloads/mpi.sh" || exit 99
libraries=$(mpi_libraries "$top_builddir/tests/workloads/halo")
library=${libraries%%[[:space:]]*}
[ -n "$library" ] || skip_all "there is no MPI library"
command -v jq >/dev/null || skip_all "jq is not installed"
. "$top_srcdir/tests/controller.sh" || exit 99
sgctl() { timeout 120 "$top_builddir/sgctl" --timeout 60 "$@"; }
on_failure() { show "$dir/syncguardd.log" "$dir"/job.*; }
declare -A daemons=([old]=$top_builddir/syncguardd [new]=$top_builddir/tests/daemon/syncguardd-next)
declare -A agents=([old]=$top_builddir/syncguard-agent [new]=$top_builddir/tests/agent/agent-next) jobs=([old]=4242 [new]=4243)
declare -A agent program begun steps

# begin VERSION: a job of two ranks whose agent is of that version. It computes until $dir/on is gone, and leaves the processors to others:
# nothing is to be lost because a rank is faster than an agent that waits for one.
begin() {
    local version=$1 step=/dev/shm/syncguard-upgrade.$$.$1

    mkdir -m 700 "$step" || return
    folders+=("$step")
    # What is known of a step that nobody vouches for is not kept.
    "$top_builddir/syncguard-credential" --munge-socket "$dir/munge" --uid "$(id -u)" --job "${jobs[$1]}" --step 0 --node "node-$version" --ranks 0-1 \
        --tasks 2 --nodes 1 >"$dir/papers.$version" 2>>"$dir/agents" || return
    SLURM_JOB_ID=${jobs[$1]} SLURM_STEP_ID=0 SLURM_NNODES=1 SLURM_NTASKS=2 SYNCGUARD_LOCAL_TASKS=2 SLURM_NODEID=0 "${agents[$version]}" --dir "$step" \
        --policy observe --controller "127.0.0.1:$port" --munge-socket "$dir/munge" --node "node-$version" --identity-fd 5 5<>"$dir/papers.$version" \
        2>>"$dir/agents" &
    agent[$version]=$!
    MPI_TIMEOUT=3000 mpi_run "$library" 2 env SYNCGUARD_DIR="$step" LD_PRELOAD="$top_builddir/.libs/libsyncguard_probe.so" \
        "$top_builddir/tests/workloads/halo.$library" --rows 20 --columns 20 --residual-every 1 --gentle --device 0.01 --while "$dir/on" \
        >"$dir/out.$version" 2>&1 &
    program[$version]=$!
}
# that VERSION FILTER: whether it is true of the job; the answer stays in $dir/job.VERSION
that() {
    sgctl job --json "${jobs[$1]}" >"$dir/job.$1" 2>/dev/null && jq -e "$2" "$dir/job.$1" >/dev/null
}
figure() { jq -r "$2" "$dir/job.$1"; }
# The controller of that version takes the place of the one that runs.
exchange() {
    "${daemons[old]}" --conf "$SYNCGUARD_CONF" --backup "$dir/before-$1" >/dev/null
    is $? 0 "a backup is made before the $1 controller comes"
    kill -TERM "$controller" && wait "$controller"
    is $? 0 "the controller before the $1 one ends with 0"
    SYNCGUARDD=${daemons[$1]} controller_start
    is $? 0 "the $1 controller starts in its place"
}

touch "$dir/on"
SYNCGUARDD=${daemons[old]} controller_start
is $? 0 "the old controller answers"
for version in old new; do
    begin $version
    wait_for 240 that $version '.state == "running" and .steps > 50 and .period == 1' # what a step is must be known: those before are numbered by it
    is $? 0 "old controller, $version agent: the job's steps are counted"
done
for server in new old; do
    for version in old new; do
        that $version true
        begun[$version]=$(figure $version .start) steps[$version]=$(figure $version .steps)
    done
    exchange $server
    for version in old new; do
        what="$server controller, $version agent"
        # What an agent has lost it says once in a while: until then it is not known to this controller.
        wait_for 240 that $version ".state == \"running\" and .steps > ${steps[$version]} + 50 and .agents[0].lost_batches"
        is $? 0 "$what: the steps go on from those before the exchange"
        is "$(figure $version .start)" "${begun[$version]}" "$what: the job has begun when it had"
        is "$(figure $version '[.agents_lost, .records_dropped, .agents[].lost_batches] | @csv')" 0,0,0 "$what: no agent, record or batch is lost"
        is "$(figure $version '(.notes + [.events[].text])[] | select(test("lost|agent .* restarted|missing"))')" "" "$what: nothing of the job is noted as missing"
        kill -0 "${agent[$version]}"
        is $? 0 "$what: it is the agent that the job began with"
    done
done
rm "$dir/on"
for version in old new; do
    wait "${program[$version]}"
    is $? 0 "$version agent: the job's program ends with 0" || show "$dir/out.$version"
    kill -TERM "${agent[$version]}"
    wait "${agent[$version]}"
    is $? 0 "$version agent ends with 0"
    wait_for 240 that $version '.state == "finished"'
    is $? 0 "$version agent: the job's end is heard"
    # A few more than it printed: it begins and ends with collectives of all. Or a few less: steps are counted by the stretch that an agent
    # reports, and the end cuts off the last. What an exchange loses, or counts twice, is as many as the program does in a second.
    did=$(sed -n 's/^result: step \([0-9]*\) .*/\1/p' "$dir/out.$version") counted=$(figure $version .steps)
    [ "$counted" -ge $((did - 10)) ] && [ "$counted" -le $((did + 10)) ]
    is $? 0 "$version agent: each step of the program was counted once, across both exchanges" || echo "# $did done, $counted counted"
done
done_testing
