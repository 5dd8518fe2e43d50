#!/bin/bash
# An operator's bad day on a real Slurm: what is said while a policy is paused, verdicts are acknowledged, the controller is killed, a
# rank hangs, a job is suspended and a node dies; and what the run's report says of all that at its end.
# ROUNDS=N: so many days, one after another (1).
. "$(dirname "$(readlink -f "$0")")/prelude.sh"

trainer=$top_builddir/tests/workloads/trainer.openmpi
[ "${SYNCGUARD_FULL-}" = yes ] || skip_all "takes minutes; ./check --full runs it"
needs "$trainer" "the trainer is not built for Open MPI"
installed
up 4

start() { # srun's arguments; the job's number is then $job
    C_TIMEOUT=3600 C exec srun "$@" >"$here/out" 2>"$here/err" &
    srun=$!
    job=$((job + 1))
}
S() { C exec sgctl "$@"; }
restart_controller() {
    C controller kill >/dev/null 2>&1
    sleep 1
    C controller start >/dev/null 2>&1
}
says() { # SECONDS REGEX WHAT: the job's sentence
    until_true "$1" ".sentence | test(\"$2\")"
    ok $? "$3: $(figure .sentence)"
}
culprit_jobs() { S nodes --json | jq -r --arg node "$1" '.nodes[] | select(.node == $node) | .culprit_jobs'; } # NODE

# ---- the same job with and without a restart in the middle ----

steps=1500
ran() { # WHAT: report of the job that has ended to $here/WHAT
    wait $srun
    is $? 0 "$1: the job exits with 0"
    until_true 60 '.state == "finished"' >/dev/null
    report >"$here/$1"
}
of() { jq -r "$2" "$here/$1"; }

start --sync-guard -N4 "$trainer" --steps $steps --batch 64
ran whole
start --sync-guard -N4 "$trainer" --steps $steps --batch 64
until_true 300 '.steps > 400' >/dev/null
restart_controller
ran cut
for what in whole cut; do
    of $what '"#   \(.steps) steps, \(.elapsed_s) s, \(.step_s.p50) s a step: \(.sentence)"'
    test "$(of $what "(.steps - $steps) | fabs < $steps * 0.02 + 8")" = true
    ok $? "$what: all steps are counted"
done
test "$(of cut '.events | any(.text | test("controller was restarted"))')" = true
ok $? "the report of the run says that the controller was restarted"
test "$(of cut '.elapsed_s')" != null && jq -en --argjson a "$(of cut .elapsed_s)" --argjson s "$(of cut .steps)" --argjson p "$(of cut .step_s.p50)" '$a >= $s * $p * 0.8' >/dev/null
ok $? "the run is as long as its steps took, restart or not"

# ---- the day ----

day() {
    start --sync-guard -N4 "$trainer" --seconds 100000000 --batch 64
    until_true 300 '.state == "running" and .steps > 50' >/dev/null

    # A node becomes slow; the operator sees it, and pauses the policy.
    C slow node3 400 >/dev/null
    until_true 300 'any(.verdicts[]; .class == "straggler" and .culprits == ["node3"])'
    ok $? "a slow node is named"
    S policy acknowledge "$job" >/dev/null && S policy pause "$job" >/dev/null
    is $? 0 "its verdict is acknowledged, and the policy paused"
    is_true 'all(.verdicts[]; .acknowledged) and .policy.paused'
    ok $? "the report says so"
    before=$(figure '.elapsed_s')
    restart_controller
    until_true 300 '.state == "running" and any(.verdicts[]; .culprits == ["node3"] and .acknowledged)'
    ok $? "after a restart of the controller the node is named again, as acknowledged"
    is_true '.policy.paused'
    ok $? "... with the policy still paused"
    test "$(figure ".elapsed_s >= $before")" = true
    ok $? "... in a run that began when it had begun"
    S policy resume "$job" >/dev/null
    C slow node3 off >/dev/null
    until_true 300 'all(.verdicts[]; .culprits | index("node3") | not)'
    ok $? "a node that is well again is no longer named"

    # A rank stops, and goes on.
    C on node2 sh -c 'kill -STOP $(pidof trainer.openmpi)'
    says 300 '^rank 1 .*on node2 is stopped' "a hang names the rank that is stopped"
    is_true '.judged == "no" and .step_s.p50 == null'
    ok $? "what was measured before the hang is not shown as if it were now"
    C on node2 sh -c 'kill -CONT $(pidof trainer.openmpi)'
    until_true 300 '.state == "running" and .steps_per_s != null'
    is_true '.step_s.mean < 3 * .step_s.p50'
    ok $? "after the hang the pace begins anew"

    # Slurm suspends the job, and resumes it.
    C exec scontrol suspend "$job"
    says 120 '^Suspended by Slurm' "a suspended job is called so"
    is_true '.state == "suspended" and (.verdicts | length == 0)'
    ok $? "it has no verdict"
    C exec scontrol resume "$job"
    until_true 300 '.state == "running" and .steps_per_s != null'
    ok $? "it goes on"
    is_true 'all(.timeline[]; .class != "hang" or .culprits == ["r1"])'
    ok $? "that it was suspended is nobody's fault"

    # A node dies.
    begin=$SECONDS
    C crash node4
    until_true 60 'any(.verdicts[]; .class == "lost" and .culprits == ["node4"])'
    ok $? "a node that dies is lost"
    echo "#   after $((SECONDS - begin)) s: $(figure .sentence)"
    C exec scancel "$job"
    until_true 120 '.state == "finished"'
    ok $? "the job has ended"
    wait_for 60 eval '! kill -0 $srun 2>/dev/null' || kill -KILL $srun # it may wait for the node for as long as Slurm does
    says 10 '^node4 is lost' "its sentence names the lost node"
    is_true '[.timeline[] | select(.class == "hang" or .class == "lost") | .culprits[]] | unique == ["node4", "r1"]'
    ok $? "no rank that was ended with it is named"
    wait_for 120 eval '[ "$(culprit_jobs node4)" -ge '"$1"' ]'
    ok $? "the history of the lost node counts it"
    C boot node4
    C exec scontrol update nodename=node4 state=resume 2>/dev/null
    wait_for 60 eval '[ "$(C exec sinfo -h -n node4 -o %T)" = idle ]'
}
for round in $(seq "${ROUNDS:-1}"); do
    day "$round"
done
done_testing
