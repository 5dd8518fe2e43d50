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
sleep 1

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
ok "10 requests are heard by all ranks" until_true 100 '.checkpoint.requests.heard >= 10'
is "$(figure '.checkpoint.requests.split')" 0 "none by some alone"
figure '.checkpoint | "# asked \(.requests.asked), heard \(.requests.heard), failed \(.requests.failed), written \(.written); cost \(.cost_s.value) s (\(.cost_s.low) to \(.cost_s.high)), \(.cost_source); interval \(.interval_s) s"'
ok "a write costs what it takes" test "$(figure '.checkpoint | .cost_source == "program" and .cost_s.value > 0.19 and .cost_s.value < 0.5')" = true
ok "samples a second are known" test "$(figure '.samples_per_s > 1000 and .samples_per_s < 10000')" = true
is "$(figure .checkpoint.callers)" 8 "all ranks ask"
C exec sgctl job "$job" >"$here/page" 2>&1
ok "sgctl job shows them" grep -q 'heard by all ranks at one step' "$here/page"
sed -n '/^Checkpoints/,/^$/p' "$here/page" | sed 's/^/# /'
C exec scancel --signal=KILL "$job"
wait $srun
for r in 0 1 2 3 4 5 6 7; do head -n 10 "$here/c-heard.$r" >"$here/c-ten.$r"; done
ok "and every rank heard them at the same steps" same "$here/c-ten" 8 10
echo "#   $(head -n 10 "$here/c-heard.0" | tr '\n' ' ')"

# ---- Python without MPI: 4 ranks ----

TRAINER_BEGIN=$(date +%s.%N) start --sync-guard=often -N4 python3 "$top_srcdir/api/examples/trainer.py" 900 40 100 "$here/py-heard"
ok "Python: 5 requests are heard" until_true 60 '.checkpoint.requests.heard >= 5'
is "$(figure '.checkpoint.requests.split')" 0 "Python: none by some alone"
C exec scancel --signal=KILL "$job"
wait $srun

# ---- a notice: SIGTERM, as at a preemption ----

start --sync-guard=asked -N4 "$trainer" 3000 30 200 "$here/term-heard"
until_true 20 '.checkpoint.callers == 4 and .steps > 20' >/dev/null
C exec scancel --signal=TERM "$job.0"
ok "after SIGTERM a last checkpoint is written" until_true 10 '.checkpoint.written >= 1 and .checkpoint.requests.newest.reason == "preemption"'
figure '.checkpoint.requests.newest | "# \(.)"'
C exec scancel --signal=KILL "$job"
wait $srun

# ---- the time limit, as Slurm tells it ----

start --sync-guard=asked -t 1 -N4 "$trainer" 5000 30 200 "$here/limit-heard"
ok "before the time limit a last checkpoint is written" until_true 75 '.checkpoint.written >= 1 and .checkpoint.requests.newest.reason == "time limit"'
figure '.checkpoint | "# \(.limit_s) s before the limit: \(.requests.newest)"'
C exec scancel --signal=KILL "$job"
wait $srun

# ---- a preemption, as Slurm does it ----

start --sync-guard=asked -p low --exclusive -N4 "$trainer" 5000 30 200 "$here/preempt-heard"
until_true 20 '.checkpoint.callers == 4 and .steps > 20' >/dev/null
C exec srun -p high --exclusive -N4 true >/dev/null 2>&1 &
high=$!
ok "a preempted job writes its last checkpoint in its grace" until_true 18 '.checkpoint.written >= 1 and .checkpoint.requests.newest.reason == "preemption"'
figure '.checkpoint | "# \(.notice_s) s before the end: \(.requests.newest)"'
wait $srun
wait $high
job=$((job + 1))
ok "all ranks heard it at the same step" same "$here/preempt-heard" 4 1

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
    ok "a program that does not ask gets a signal" until_true 30 '.checkpoint.requests.delivered >= 1'
    sleep 1
    is "$(ls "$here"/signalled.* 2>/dev/null | wc -l)" 2 "on every rank"
    ok "and a file" test -e "$here/now.$job"
    C exec scancel --signal=KILL "$job"
    wait $srun
fi
echo "1..$n"
