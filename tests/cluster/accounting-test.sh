#!/bin/bash
# How often a job will fail, from a real Slurm: what its accounting (slurmdbd) has of the nodes, and which ends of guarded
# jobs count.
. "$(dirname "$(readlink -f "$0")")/prelude.sh"

trainer=$top_builddir/tests/workloads/api_trainer.openmpi
needs "$trainer" "the example is not built for Open MPI"
if ! why=$("$slurm" check --accounting 2>&1); then
    skip_all "${why#slurm: }"
fi
installed
up 4 --accounting
conf=$here/c/etc/syncguard.conf
echo 'Policy=watched Checkpoint=advise' >>"$conf"
export LD_LIBRARY_PATH=$here/inst/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

events() { C exec sacctmgr -nP show event Start=now-1days format=NodeName,State,User,Reason; }
prints() { "${@:2}" 2>/dev/null | grep -qE "$1"; } # PATTERN COMMAND...
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
wait_for 60 prints '^node4\|DOWN\*\|.*\|Not responding' events
ok $? "sacctmgr lists the crashed node as DOWN, not responding, within 60 s"
events | sed 's/^/# /'
restart
start "$trainer" 5000 30 200 "$here/a"
until_true 30 '.checkpoint.failure_rate.source == "slurm"'
ok $? "the failure rate's source is Slurm's accounting"
like "$(figure '.checkpoint.failure_rate.source_text')" '^from Slurm.s accounting: 1 event on 4 nodes in 0\.0 days$' \
    "the source of the failure rate is 1 event on 4 nodes: a drain does not count"
is "$(figure '.checkpoint.failure_rate.failures')" 1 "one crashed node and one drained node are 1 failure"
C exec sgctl job "$job" --full >"$here/page" 2>&1
grep -q 'accounting: 1 event on 4 nodes' "$here/page"
ok $? "sgctl job --full prints the source of the failure rate"
sed -n '/^Checkpoints/,/^$/p' "$here/page" | sed 's/^/# /'

# ---- guarded jobs: this one is cancelled ----

under_way
C exec scancel "$job"
wait $srun
start "$trainer" 5000 30 200 "$here/b"
under_way
C on node2 pkill -KILL -x api_trainer.ope
wait $srun
wait_for 20 prints 'FAILED' C exec sacct -nPX -j "$job" -o State
ok $? "sacct lists a job with a killed process as FAILED within 20 s"
sleep 8 # squeue is asked every 5 s
echo 'AccountingDays=0' >>"$conf"
restart
start "$trainer" 5000 30 200 "$here/c"
until_true 30 '.checkpoint.failure_rate.source == "history"'
ok $? "with AccountingDays=0 the failure rate's source is guarded jobs"
is "$(figure '.checkpoint.failure_rate.failures')" 1 "of a cancelled job and one that died 1 is counted as a failure"
C exec scancel "$job"
wait $srun

# ---- a slurmdbd that is gone ----

sed -i 's/^AccountingDays=0$/AccountingDays=30/' "$conf"
restart
C exec pkill -STOP -x slurmdbd
restart
start "$trainer" 5000 30 200 "$here/d"
until_true 20 '.checkpoint.failure_rate.source == "history"'
ok $? "while slurmdbd hangs the controller answers, and the failure rate keeps its former source"
C exec pkill -CONT -x slurmdbd
C exec scancel "$job"
wait $srun
done_testing
