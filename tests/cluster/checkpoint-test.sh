#!/bin/bash
# Checkpoints on a real cluster: all ranks hear a request at the same step, in C with MPI and in Python without;
# what they cost is measured; signal and file reach programs that do not ask; the last one comes in time.
# The jobs run side by side, each until it is ended here: what they do takes longer on a busy machine, and is the same.
. "$(dirname "$(readlink -f "$0")")/prelude.sh"

trainer=$top_builddir/tests/workloads/api_trainer.openmpi
needs "$trainer" "the example is not built for Open MPI"
installed
# More CPUs than there are, so that all jobs have room; only the preempted job and what preempts it use node5 and node6.
# The grace time is long enough for any machine, and the test ends that job before; no job is ended at its time limit.
cat >"$here/more.conf" <<'CONF'
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
OverTimeLimit=60
PartitionName=low Nodes=node[5-6] PriorityTier=1 PreemptMode=CANCEL GraceTime=600
PartitionName=high Nodes=node[5-6] PriorityTier=10 PreemptMode=OFF
CONF
up 6 --cpus 8 --conf "$here/more.conf"
cat >>"$here/c/etc/syncguard.conf" <<CONF
Policy=often Checkpoint=request CheckpointCost=0.05s CheckpointMinInterval=0s CheckpointMaxInterval=1s
Policy=asked Checkpoint=request CheckpointCost=0.5s CheckpointMinInterval=1s CheckpointMaxInterval=30d PreemptionGrace=20s
Policy=limited Checkpoint=request CheckpointCost=2s CheckpointMinInterval=1s CheckpointMaxInterval=30d
Policy=others Checkpoint=request CheckpointMinInterval=0s CheckpointMaxInterval=1s CheckpointSignal=USR1 CheckpointFile=$here/now.%j
CONF
C controller kill >/dev/null 2>&1
C controller start >/dev/null 2>&1
answers() { C exec sgctl status >/dev/null 2>&1; }
wait_for 60 answers || bail_out "the controller does not start again"

export LD_LIBRARY_PATH=$here/inst/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PYTHONPATH=$here/inst/share/syncguard
endless=100000000 # steps
declare -A number pid
job_named() { number[$1]=$(C exec squeue -h -n "$1" -o %i) && [ -n "${number[$1]}" ]; }
start() { # NAME SRUN'S ARGUMENTS...: its number in ${number[NAME]}
    C_TIMEOUT=3600 C exec srun -J "$1" "${@:2}" >"$here/out.$1" 2>"$here/err.$1" &
    pid[$1]=$!
    wait_for 120 job_named "$1" || bail_out "srun does not submit a job: $(cat "$here/err.$1")"
}
end() { C exec scancel --signal=KILL "${number[$1]}"; } # NAME
under_way() { until_true 300 '.checkpoint.callers == 4 and .steps > 20' >/dev/null; }
# Have the files of all N ranks LINES lines or more, the first LINES of them the same?
same() { # PREFIX N LINES
    local file

    [ "$(ls "$1".* | wc -l)" = "$2" ] || return 1
    for file in "$1".*; do
        [ "$(wc -l <"$file")" -ge "$3" ] || return 1
    done
    [ "$(for file in "$1".*; do head -n "$3" "$file" | md5sum; done | sort -u | wc -l)" = 1 ]
}

# A program that does not ask: it notes the steps at which it was signalled.
cat >"$here/other.c" <<'CC'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile sig_atomic_t got;
static void on(int s) { (void)s; got++; }
int main(int argc, char **argv)
{
    char path[4096];
    int rank, told = 0;
    signal(SIGUSR1, on);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof(path), "%s.%d", argv[1], rank);
    for (int i = 0;; i++) {
        usleep(30000);
        MPI_Barrier(MPI_COMM_WORLD);
        if (got > told) {
            FILE *f = fopen(path, "a");
            fprintf(f, "%d\n", i);
            fclose(f);
            told = got;
        }
    }
}
CC

begun=$(date +%s)
start c --sync-guard=often -x 'node[5-6]' -N4 --ntasks-per-node=2 "$trainer" $endless 30 200 "$here/c-heard"
# Its ranks keep step by the clock: they begin when all should be there.
TRAINER_BEGIN=$(($(date +%s) + 5)) start python --sync-guard=often -x 'node[5-6]' -N4 \
    python3 "$top_srcdir/api/examples/trainer.py" $endless 150 100 "$here/py-heard"
start term --sync-guard=asked -x 'node[5-6]' -N4 "$trainer" $endless 30 200 "$here/term-heard"
start limit --sync-guard=limited -x 'node[5-6]' -t 60 -N4 "$trainer" $endless 30 200 "$here/limit-heard"
start preempt --sync-guard=asked -p low --exclusive -N2 --ntasks-per-node=2 "$trainer" $endless 30 200 "$here/preempt-heard"

# ---- a notice: SIGTERM, as at a preemption ----

job=${number[term]}
under_way
C exec scancel --signal=TERM "$job.0"
until_true 300 '.checkpoint.written >= 1 and .checkpoint.requests.newest.reason == "preemption"'
ok $? "a last checkpoint is written after SIGTERM"
figure '.checkpoint.requests.newest | "# \(.)"'
end term

# ---- a preemption, as Slurm does it ----

job=${number[preempt]}
under_way
C exec srun -p high --exclusive -N2 true >/dev/null 2>&1 &
high=$!
until_true 300 '.checkpoint.written >= 1 and .checkpoint.requests.newest.reason == "preemption"'
ok $? "a preempted job writes its last checkpoint within its grace time"
figure '.checkpoint | "# \(.notice_s) s before the end: \(.requests.newest)"'
is "$(C exec squeue -h -j "$job" -o %T)" RUNNING "a preempted job runs on until its grace time is over"
end preempt
wait "${pid[preempt]}"
wait $high
is $? 0 "what preempts a job runs when that has ended"
same "$here/preempt-heard" 4 "$(wc -l <"$here/preempt-heard.0")"
ok $? "all ranks of a preempted job hear the request at the same step"

# ---- programs that do not ask: a signal and a file ----

if mpicc.openmpi -o "$here/other" "$here/other.c" 2>/dev/null; then
    start others --sync-guard=others -x 'node[5-6]' -N2 "$here/other" "$here/signalled"
    job=${number[others]}
    until_true 300 '.checkpoint.requests.delivered >= 1'
    ok $? "a program that does not ask for requests gets one by signal"
    both() { [ "$(ls "$here"/signalled.* 2>/dev/null | wc -l)" = 2 ]; }
    wait_for 120 both
    ok $? "the signal reaches both ranks"
    wait_for 120 test -e "$here/now.$job"
    ok $? "the request to a program that does not ask also makes CheckpointFile"
    end others
else
    skip "a program that does not ask for requests gets one by signal" "there is no mpicc.openmpi"
fi

# ---- Python without MPI: 4 ranks ----

job=${number[python]}
until_true 300 '.checkpoint.requests.heard >= 5'
ok $? "Python: 5 checkpoint requests are heard by all ranks"
is "$(figure '.checkpoint.requests.split')" 0 "Python: no request is heard by some of the ranks only"
wait_for 120 same "$here/py-heard" 4 5 # it notes a step when it has written
ok $? "Python: every rank hears a request at the same step"
end python

# ---- C with MPI: 8 ranks on 4 nodes ----

job=${number[c]}
until_true 300 '.checkpoint.requests.heard >= 10'
ok $? "C: 10 checkpoint requests are heard by all 8 ranks"
is "$(figure '.checkpoint.requests.split')" 0 "C: no request is heard by some of the ranks only"
figure '.checkpoint | "# asked \(.requests.asked), heard \(.requests.heard), failed \(.requests.failed), written \(.written); cost \(.cost_s.value) s (\(.cost_s.low) to \(.cost_s.high)), \(.cost_source); interval \(.interval_s) s"'
is "$(figure .checkpoint.cost_source)" program "C: the cost of a checkpoint comes from the program"
test "$(figure '.checkpoint.cost_s.value > 0.19')" = true
ok $? "C: a checkpoint that takes 0.2 s or more costs as much"
# However long they took on a busy machine, they came one after the other.
test "$(figure ".checkpoint | .written >= 1 and .written * .cost_s.value < $(date +%s) + 1 - $begun")" = true
ok $? "C: all checkpoints together cost less than the job's time"
# Both are of the last few seconds: until they are of the same ones.
until_true 300 '.samples_per_s / (.steps_per_s * 8 * 32) | . > 0.8 and . < 1.25'
ok $? "C: the report has 8 ranks' 32 samples in each step"
is "$(figure .checkpoint.callers)" 8 "C: all 8 ranks ask"
C exec sgctl job "$job" --full >"$here/page" 2>&1
grep -q 'heard by all ranks at one step' "$here/page"
ok $? "C: sgctl job --full prints the requests heard"
sed -n '/^Checkpoints/,/^$/p' "$here/page" | sed 's/^/# /'
wait_for 120 same "$here/c-heard" 8 10
ok $? "C: every rank hears a request at the same step"
echo "#   $(head -n 10 "$here/c-heard.0" | tr '\n' ' ')"
end c

# ---- the time limit, as Slurm tells it ----

# Until a write was measured, the longest is taken for ten times the policy's CheckpointCost: the last one is due 20 s before the
# end, unless work began less than 40 s ago.
job=${number[limit]}
until_true 300 '.checkpoint.callers == 4 and .checkpoint.lost_work_s > 45' >/dev/null
is "$(cat "$here"/limit-heard.* | wc -l)" 0 "an hour before the time limit no checkpoint is requested"
written() { [ "$(figure '.checkpoint | .written >= 1 and .requests.newest.reason == "time limit"')" = true ]; }
heard() { wc -l <"$here/limit-heard.0"; }
in_time() { written && [ "$(heard)" -gt "$before" ] && [ "$(stat -c %Y "$here/limit-heard.0")" -le $limit ]; }
# A machine on which it takes longer than that until the ranks have heard gets another limit.
for try in 1 2 3 4 5 6 7 8; do
    before=$(heard)
    limit=$(($(date +%s) + 20))
    C exec scontrol update jobid="$job" EndTime="$(date -d @$limit +%FT%T)"
    wait_for 30 in_time && break
done
written
ok $? "a last checkpoint is written when the job's time limit is near"
in_time
ok $? "the last checkpoint is requested before the job's time limit"
echo "#   limit number $try"
figure '.checkpoint | "# \(.limit_s) s before the limit: \(.requests.newest)"'
done_testing
