#!/bin/bash
# A rank that is stopped by a signal, in programs that meet in different ways: the verdict names the rank, its state and its
# call, and nothing that was measured before is reported as the job's pace.  HANG_TRIES=10: stop it so often in each program.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
. "$top_srcdir/tests/workloads/mpi.sh" || exit 99
libraries=$(mpi_libraries "$top_builddir/tests/workloads/loop")
[ -n "$libraries" ] || skip_all "there is no MPI library"
command -v jq >/dev/null || skip_all "jq is not installed"
. "$top_srcdir/tests/controller.sh" || exit 99
cat >>"$SYNCGUARD_CONF" <<CONF
DefaultPolicy=quick
Policy=quick HangTimeout=2s
CONF
: "${top_builddir:?}"
sgctl() { timeout 120 "$top_builddir/sgctl" --timeout 60 "$@"; }
RANKS=4
job=4710

# Two nodes, each with its folder and its agent; Open MPI and MPICH tell a process its rank before it calls MPI.
# shellcheck disable=SC2016
place='r=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; SYNCGUARD_DIR=$1$((r / 2)); export SYNCGUARD_DIR; LD_PRELOAD=$2; export LD_PRELOAD; shift 2; exec "$@"'

# start LIBRARY WAY
start() {
    job=$((job + 1)) step=/dev/shm/syncguard-hang.$$.$job. agents=()
    for node in 0 1; do
        mkdir -m 700 "$step$node" || return
        folders+=("$step$node")
        SLURM_JOB_ID=$job SLURM_STEP_ID=0 SLURM_NNODES=2 SLURM_NTASKS=$RANKS SLURM_JOB_NAME="$2" "$top_builddir/syncguard-agent" \
            --dir "$step$node" --policy quick --controller "127.0.0.1:$port" --munge-socket "$dir/munge" --node "node$node" 2>>"$dir/agents" &
        agents+=($!)
        pids+=($!)
    done
    MPI_TIMEOUT=3000 mpi_run "$1" $RANKS sh -c "$place" - "$step" "$top_builddir/.libs/libsyncguard_probe.so" \
        "$top_builddir/tests/workloads/loop.$1" "$2" 100000000 >"$dir/out.$job" 2>"$dir/err.$job" &
    program=$!
    pids+=($program)
}

# that FILTER: whether it is true of the job; the answer stays in $dir/job
that() {
    sgctl job --json "$job" >"$dir/job" 2>/dev/null && jq -e "$1" "$dir/job" >/dev/null
}

stop() { # stop RANK
    stopped=$(sed -n "s/^loop: rank $1 pid //p" "$dir/out.$job")
    kill -STOP "$stopped"
}

# One program: started, stopped once or more, ended.
try() {
    library=$1 way=$2 named=0 tries=${HANG_TRIES:-1} what="$1, $2"
    moving='.state == "running" and (.verdicts | map(select(.class == "hang")) | length) == 0 and .probe.events > 300'
    [ "$way" = exchange ] || moving="$moving and .steps_per_s != null"
    start "$library" "$way"
    wait_for 240 that "$moving"
    ok $? "$what: the job runs" || show "$dir/err.$job" "$dir/agents"
    for ((t = 0; t < tries; t++)); do
        rank=$(((2 + t) % RANKS))
        stop $rank
        wait_for 240 that "(.verdicts[0] // {}) | .class == \"hang\" and .culprits == [\"r$rank\"] and
            (.text | test(\"^rank $rank \\\\(pid $stopped\\\\) on node$((rank / 2)) is stopped \\\\(SIGSTOP\\\\) (in|between) .* for \"))" && named=$((named + 1))
        echo "# $(jq -r '.verdicts[0].text // "no verdict"' "$dir/job")"
        [ $((t + 1)) -lt "$tries" ] || break
        kill -CONT "$stopped"
        wait_for 240 that "$moving" || break
    done
    is "$named of $tries" "$tries of $tries" "$what: the stopped rank is named with its node and its call"
    like "$(jq -r .verdicts[0].text "$dir/job")" "$3" "$what: the verdict's call is one that the program makes"
    is "$(jq -c '[.state, .regime, .steps_per_s, .step_s.p50, .step_s.mean, .skew_s.p50, .synchronisation_ratio, .worst]' "$dir/job")" \
        '["stalled","stalled",null,null,null,null,null,null]' "$what: the job is stalled, and no pace of before is reported as if it were now"
    is "$(jq -c "[.rank_table[] | select(.state == \"stopped\") | .rank]" "$dir/job")" "[$rank]" "$what: the table of ranks shows which one is stopped"
    is "$(jq -c '[.verdicts[0].process, (.rank_table[0] | {rank, node, pid})] | unique' "$dir/job")" \
        "[{\"rank\":$rank,\"node\":\"node$((rank / 2))\",\"pid\":$stopped}]" \
        "$what: the verdict has the stopped rank's process, and the table of ranks begins with it"
    is "$(sgctl jobs --json | jq -c --arg job "$job" '.jobs[] | select(.state == "stalled" and (.id | startswith($job))) | [.steps_per_s, .step_s.p50, .skew_s.p50]')" '[null,null,null]' \
        "$what: the list of jobs has no pace of before"
    like "$(sgctl job "$job" | tr -s ' \n' ' ')" "rank $rank \(pid $stopped\) on node$((rank / 2)) is stopped \(SIGSTOP\)" "$what: sgctl job names the stopped rank"
    like "$(COLUMNS=250 timeout 120 "$top_builddir/sgtop" --dump "$job" | tr -s ' \n' ' ')" "rank $rank \(pid $stopped\) on node$((rank / 2)) is stopped" \
        "$what: sgtop names the stopped rank"
    kill -CONT "$stopped"
    wait_for 240 that "$moving"
    ok $? "$what: the hang is over and the pace is back when the rank goes on"
    stop $rank
    wait_for 240 that '.verdicts[0].class == "hang"'
    ended
    wait_for 240 that '.state == "finished"'
    is "$(jq -c '.regime == "stalled"' "$dir/job")" false "$what: a job that ended while it hung is not stalled any more"
}

# A program in which each rank waits for a message from the one before it: known after half a minute, in which the others are tried.
begin_deadlock() {
    start "$1" crossed
    deadlocked=$job deadlocked_program=$program deadlocked_agents=("${agents[@]}")
}

judge_deadlock() {
    local what="$1, crossed" job=$deadlocked program=$deadlocked_program agents=("${deadlocked_agents[@]}")

    wait_for 240 that '.verdicts[0].class == "hang"'
    like "$(jq -r '.verdicts[0].text' "$dir/job")" \
        '^a deadlock of 4 ranks: rank 0 waits in a receive from rank 3 \(tag 9\), rank 3 waits in a receive from rank 2 \(tag 9\), rank 2' \
        "$what: ranks that wait for each other's messages are a deadlock, with their calls"
    is "$(jq -c '[.rank_table | sort_by(.rank)[].inside | [.message, .peer, .tag]]' "$dir/job")" '[["recv",3,9],["recv",0,9],["recv",1,9],["recv",2,9]]' \
        "$what: the table of ranks has the message that each waits for"
    ended
}

# The step ends as Slurm ends it: the processes are killed, then the agents are asked to stop.
ended() {
    sed -n 's/^loop: rank [0-9]* pid //p' "$dir/out.$job" | xargs kill -KILL 2>/dev/null
    kill -TERM "$program" 2>/dev/null
    wait "$program" 2>/dev/null
    kill -TERM "${agents[@]}" 2>/dev/null
    wait "${agents[@]}" 2>/dev/null
}

controller_start
ok $? "the controller answers" || done_testing
for library in ${HANG_LIBRARIES:-$libraries}; do
    begin_deadlock "$library"
    for way in ${HANG_WAYS:-allreduce polled exchange}; do
        case $way in
        allreduce) call='(in allreduce [0-9]+ of world|between calls, after allreduce [0-9]+ of world,) for' ;;
        polled) call='between calls, after [a-z]+ [0-9]+ of world, for|in ibarrier|in barrier [0-9]+ of world for' ;;
        *) call='(in a wait for messages|in a send, receive, probe or one-sided call|between calls(, after [a-z]+ [0-9]+ (to|from) rank [0-9]+ on world,)?) for' ;;
        esac
        try "$library" "$way" "$call"
    done
    judge_deadlock "$library"
done
done_testing
