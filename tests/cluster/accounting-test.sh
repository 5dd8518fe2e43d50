#!/bin/bash
# How often a job will fail, from a real Slurm: what its accounting (slurmdbd) has of the nodes, and which ends of guarded
# jobs count.
. "$(dirname "$(readlink -f "$0")")/prelude.sh"

trainer=$top_builddir/tests/workloads/api_trainer.openmpi
needs "$trainer" "the example is not built for Open MPI"
if ! why=$("$slurm" check --accounting 2>&1); then
    echo "1..0 # SKIP ${why#slurm: }"
    exit 0
fi
installed
up 4 --accounting
conf=$here/c/etc/syncguard.conf
echo 'Policy=watched Checkpoint=advise' >>"$conf"
export LD_LIBRARY_PATH=$here/inst/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

events() { C exec sacctmgr -nP show event Start=now-1days format=NodeName,State,User,Reason; }
wait_for() { # SECONDS PATTERN COMMAND...
    local end=$((SECONDS + $1)) pattern=$2

    shift 2
    until "$@" 2>/dev/null | grep -qE "$pattern"; do
        [ $SECONDS -lt $end ] || return 1
        sleep .5
    done
}
start() { # PROGRAM...: its number in $job
    C exec srun --sync-guard=watched -N2 -w 'node[1-2]' "$@" >"$here/out" 2>"$here/err" &
    srun=$!
    job=$((job + 1))
}
# Enough steps that its end counts.
under_way() { until_true 30 '.steps > 30' >/dev/null; }
restart() { C controller restart >/dev/null 2>&1; }

# ---- nodes ----

C exec scontrol update nodename=node3 state=drain reason=maintenance
C crash node4
ok "sacctmgr shows a drain and a node that fell silent" \
    wait_for 60 '^node4\|DOWN\*\|.*\|Not responding' events
events | sed 's/^/# /'
restart
start "$trainer" 5000 30 200 "$here/a"
ok "the rate is learnt from Slurm's accounting" until_true 30 '.checkpoint.failure_rate.source == "slurm"'
has "$(figure '.checkpoint.failure_rate.source_text')" '^from Slurm.s accounting: 1 event on 4 nodes in 0\.0 days$' \
    "one node failed, and one was drained"
is "$(figure '.checkpoint.failure_rate.failures')" 1 "which is one failure"
C exec sgctl job "$job" >"$here/page" 2>&1
ok "sgctl job shows it" grep -q 'accounting: 1 event on 4 nodes' "$here/page"
sed -n '/^Checkpoints/,/^$/p' "$here/page" | sed 's/^/# /'

# ---- guarded jobs: this one is cancelled ----

under_way
C exec scancel "$job"
wait $srun
start "$trainer" 5000 30 200 "$here/b"
under_way
C on node2 pkill -KILL -x api_trainer.ope
wait $srun
ok "a job of which a process was killed has failed" \
    wait_for 20 'FAILED' C exec sacct -nPX -j "$job" -o State
sleep 8 # squeue is asked every 5 s
echo 'AccountingDays=0' >>"$conf"
restart
start "$trainer" 5000 30 200 "$here/c"
ok "without the accounting the rate is that of guarded jobs" until_true 30 '.checkpoint.failure_rate.source == "history"'
is "$(figure '.checkpoint.failure_rate.failures')" 1 "the one that was cancelled is no failure, the one that died is"
C exec scancel "$job"
wait $srun

# ---- a slurmdbd that is gone ----

sed -i 's/^AccountingDays=0$/AccountingDays=30/' "$conf"
restart
C exec pkill -STOP -x slurmdbd
restart
start "$trainer" 5000 30 200 "$here/d"
ok "while slurmdbd hangs the controller answers, and the former source stays" \
    until_true 20 '.checkpoint.failure_rate.source == "history"'
C exec pkill -CONT -x slurmdbd
C exec scancel "$job"
wait $srun
echo "1..$n"
