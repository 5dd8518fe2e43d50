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
# Slurm takes its time to notice this, while the jobs below run on the other two nodes.
C exec scontrol update nodename=node3 state=drain reason=maintenance
C crash node4
conf=$here/c/etc/syncguard.conf
printf 'AccountingDays=0\nPolicy=watched Checkpoint=advise\n' >>"$conf"
restart() { C controller restart >/dev/null 2>&1 || bail_out "the controller does not start again"; }
restart
export LD_LIBRARY_PATH=$here/inst/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

events() { C exec sacctmgr -nP show event Start=now-1days format=NodeName,State,User,Reason; }
prints() { "${@:2}" 2>/dev/null | grep -qE "$1"; } # PATTERN COMMAND...
start() { # its number in $job; it runs until it is ended
    C_TIMEOUT=3600 C exec srun --sync-guard=watched -N2 -w 'node[1-2]' "$trainer" 100000000 30 200 >"$here/out" 2>"$here/err" &
    srun=$!
    job=$((job + 1))
}
cancel() { # JOB SRUN
    C exec scancel "$1"
    wait "$2"
}
# Enough steps that its end counts.
under_way() { until_true 120 '.steps > 30' >/dev/null; }
# In the history: which jobs broke, by what Slurm said of their ends.
broken() {
    python3 - "$(find "$here/c/state" -name history.sqlite)" <<'PYTHON'
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as history:
    print(" ".join("%d:%d" % row for row in history.execute("SELECT job, broken FROM outcome WHERE job <= 2 ORDER BY job")))
PYTHON
}
are_broken() { [ "$(broken)" = "$1" ]; }

# ---- guarded jobs: one is cancelled after another died ----

start
cancelled=$srun
under_way
start
under_way
# The other would wait for it without end, and take a SIGTERM of Slurm's for a notice.
C on node2 pkill -KILL -n -x api_trainer.ope
C on node1 pkill -KILL -n -x api_trainer.ope
wait $srun
wait_for 120 prints '^FAILED' C exec sacct -nPX -j "$job" -o State
ok $? "sacct lists a job with a killed process as FAILED"
cancel 1 $cancelled
# Slurm is asked for both at once: when it has said that this one was cancelled, it has told how the other ended as well.
job=1
until_true 120 '.state == "finished"' >/dev/null
wait_for 120 are_broken "1:0 2:1"
is "$(broken)" "1:0 2:1" "in the history a job that died is broken, and a cancelled one is not"

# The next one lives on: as long as Slurm has not said how a job ended, it counts as broken.
restart
job=2
start
until_true 120 '.checkpoint.failure_rate.source == "history"'
ok $? "with AccountingDays=0 the failure rate's source is guarded jobs"
is "$(figure '.checkpoint.failure_rate.failures')" 1 "of a cancelled job and one that died 1 is counted as a failure"

# ---- a slurmdbd that is gone ----

sed -i 's/^AccountingDays=0$/AccountingDays=30/' "$conf"
C exec pkill -STOP -x slurmdbd
restart
until_true 120 '.checkpoint.failure_rate.source == "history"'
ok $? "while slurmdbd hangs the controller answers, and the failure rate keeps its former source"
C exec pkill -CONT -x slurmdbd

# ---- nodes ----

wait_for 300 prints '^node4\|DOWN\*\|.*\|Not responding' events
ok $? "sacctmgr lists the crashed node as DOWN, not responding"
events | sed 's/^/# /'
restart
# The controller before had an answer from before this, which is told until there is a new one.
until_true 120 '.checkpoint.failure_rate | .source == "slurm" and .failures > 0'
ok $? "the failure rate's source is Slurm's accounting"
like "$(figure '.checkpoint.failure_rate.source_text')" '^from Slurm.s accounting: 1 event on 4 nodes in 0\.0 days$' \
    "the source of the failure rate is 1 event on 4 nodes: a drain does not count"
is "$(figure '.checkpoint.failure_rate.failures')" 1 "one crashed node and one drained node are 1 failure"
C exec sgctl job "$job" --full >"$here/page" 2>&1
grep -q 'accounting: 1 event on 4 nodes' "$here/page"
ok $? "sgctl job --full prints the source of the failure rate"
sed -n '/^Checkpoints/,/^$/p' "$here/page" | sed 's/^/# /'
cancel $job $srun
done_testing
