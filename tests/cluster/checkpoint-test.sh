#!/bin/bash
# Checkpoints on a real cluster: all ranks hear a request at the same step, in C with MPI and in Python without;
# what they cost is measured; signal and file reach programs that do not ask; the last one comes in time.
. "$(dirname "$(readlink -f "$0")")/prelude.sh"

trainer=$top_builddir/tests/workloads/api_trainer.openmpi
needs "$trainer" "the example is not built for Open MPI"
installed
cat >"$here/more.conf" <<'CONF'
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
PartitionName=low Nodes=ALL PriorityTier=1 PreemptMode=CANCEL GraceTime=20
PartitionName=high Nodes=ALL PriorityTier=10 PreemptMode=OFF
CONF
up 4 --conf "$here/more.conf"
cat >>"$here/c/etc/syncguard.conf" <<CONF
Policy=often Checkpoint=request CheckpointCost=0.05s CheckpointMinInterval=0s CheckpointMaxInterval=3s
Policy=asked Checkpoint=request CheckpointCost=0.5s CheckpointMinInterval=1s CheckpointMaxInterval=30d PreemptionGrace=20s
Policy=others Checkpoint=request CheckpointMinInterval=0s CheckpointMaxInterval=3s CheckpointSignal=USR1 CheckpointFile=$here/now.%j
CONF
C controller kill >/dev/null 2>&1
C controller start >/dev/null 2>&1
answers() { C exec sgctl status >/dev/null 2>&1; }
wait_for 20 answers

export LD_LIBRARY_PATH=$here/inst/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PYTHONPATH=$here/inst/share/syncguard
start() {
    C exec srun "$@" >"$here/out" 2>"$here/err" &
    srun=$!
    job=$((job + 1))
}
# Are the files of all N ranks the same, of LINES lines or more?
same() { # PREFIX N LINES
    [ "$(ls "$1".* | wc -l)" = "$2" ] && [ "$(md5sum "$1".* | cut -d' ' -f1 | sort -u | wc -l)" = 1 ] &&
        [ "$(wc -l <"$1.0")" -ge "$3" ]
}

# ---- C with MPI: 8 ranks on 4 nodes, every 3 s ----

start --sync-guard=often -N4 --ntasks-per-node=2 "$trainer" 4000 30 200 "$here/c-heard"
until_true 100 '.checkpoint.requests.heard >= 10'
ok $? "C: 10 checkpoint requests are heard by all 8 ranks within 100 s"
is "$(figure '.checkpoint.requests.split')" 0 "C: no request is heard by some of the ranks only"
figure '.checkpoint | "# asked \(.requests.asked), heard \(.requests.heard), failed \(.requests.failed), written \(.written); cost \(.cost_s.value) s (\(.cost_s.low) to \(.cost_s.high)), \(.cost_source); interval \(.interval_s) s"'
test "$(figure '.checkpoint | .cost_source == "program" and .cost_s.value > 0.19 and .cost_s.value < 0.5')" = true
ok $? "C: the measured cost of a checkpoint is 0.19 to 0.5 s (it takes 0.2 s)"
test "$(figure '.samples_per_s > 1000 and .samples_per_s < 10000')" = true
ok $? "C: the report has 1,000 to 10,000 samples a second"
is "$(figure .checkpoint.callers)" 8 "C: all 8 ranks ask"
C exec sgctl job "$job" --full >"$here/page" 2>&1
grep -q 'heard by all ranks at one step' "$here/page"
ok $? "C: sgctl job --full prints the requests heard"
sed -n '/^Checkpoints/,/^$/p' "$here/page" | sed 's/^/# /'
C exec scancel --signal=KILL "$job"
wait $srun
for r in 0 1 2 3 4 5 6 7; do head -n 10 "$here/c-heard.$r" >"$here/c-ten.$r"; done
same "$here/c-ten" 8 10
ok $? "C: every rank hears a request at the same step"
echo "#   $(head -n 10 "$here/c-heard.0" | tr '\n' ' ')"

# ---- Python without MPI: 4 ranks ----

TRAINER_BEGIN=$(date +%s.%N) start --sync-guard=often -N4 python3 "$top_srcdir/api/examples/trainer.py" 900 40 100 "$here/py-heard"
until_true 60 '.checkpoint.requests.heard >= 5'
ok $? "Python: 5 checkpoint requests are heard by all ranks within 60 s"
is "$(figure '.checkpoint.requests.split')" 0 "Python: no request is heard by some of the ranks only"
C exec scancel --signal=KILL "$job"
wait $srun

# ---- a notice: SIGTERM, as at a preemption ----

start --sync-guard=asked -N4 "$trainer" 3000 30 200 "$here/term-heard"
until_true 20 '.checkpoint.callers == 4 and .steps > 20' >/dev/null
C exec scancel --signal=TERM "$job.0"
until_true 10 '.checkpoint.written >= 1 and .checkpoint.requests.newest.reason == "preemption"'
ok $? "a last checkpoint is written within 10 s after SIGTERM"
figure '.checkpoint.requests.newest | "# \(.)"'
C exec scancel --signal=KILL "$job"
wait $srun

# ---- the time limit, as Slurm tells it ----

start --sync-guard=asked -t 1 -N4 "$trainer" 5000 30 200 "$here/limit-heard"
until_true 75 '.checkpoint.written >= 1 and .checkpoint.requests.newest.reason == "time limit"'
ok $? "a last checkpoint is written before the job's time limit"
figure '.checkpoint | "# \(.limit_s) s before the limit: \(.requests.newest)"'
C exec scancel --signal=KILL "$job"
wait $srun

# ---- a preemption, as Slurm does it ----

start --sync-guard=asked -p low --exclusive -N4 "$trainer" 5000 30 200 "$here/preempt-heard"
until_true 20 '.checkpoint.callers == 4 and .steps > 20' >/dev/null
C exec srun -p high --exclusive -N4 true >/dev/null 2>&1 &
high=$!
until_true 18 '.checkpoint.written >= 1 and .checkpoint.requests.newest.reason == "preemption"'
ok $? "a preempted job writes its last checkpoint within its grace time"
figure '.checkpoint | "# \(.notice_s) s before the end: \(.requests.newest)"'
wait $srun
wait $high
job=$((job + 1))
same "$here/preempt-heard" 4 1
ok $? "all ranks of a preempted job hear the request at the same step"

# ---- programs that do not ask: a signal and a file ----

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
    for (int i = 0; i < 1000; i++) {
        usleep(30000);
        MPI_Barrier(MPI_COMM_WORLD);
        if (got > told) {
            FILE *f = fopen(path, "a");
            fprintf(f, "%d\n", i);
            fclose(f);
            told = got;
        }
    }
    MPI_Finalize();
    return 0;
}
CC
if mpicc.openmpi -o "$here/other" "$here/other.c" 2>/dev/null; then
    start --sync-guard=others -N2 "$here/other" "$here/signalled"
    until_true 30 '.checkpoint.requests.delivered >= 1'
    ok $? "a program that does not ask for requests gets one by signal"
    both() { [ "$(ls "$here"/signalled.* 2>/dev/null | wc -l)" = 2 ]; }
    wait_for 20 both
    ok $? "the signal reaches both ranks within 20 s"
    test -e "$here/now.$job"
    ok $? "the request to a program that does not ask also makes CheckpointFile"
    C exec scancel --signal=KILL "$job"
    wait $srun
fi
done_testing
