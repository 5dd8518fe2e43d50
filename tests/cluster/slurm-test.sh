#!/bin/bash
# The private cluster itself: hosts that differ, MPI, faults that are what they say, nothing left behind.
set -u
top_srcdir=${top_srcdir:-$(dirname "$(readlink -f "$0")")/../..}
. "$top_srcdir/tests/tap.sh"
slurm=$top_srcdir/tests/cluster/slurm
# shellcheck source=tests/cluster/record.sh
. "$top_srcdir/tests/cluster/record.sh"
here=$(mktemp -d "${TMPDIR:-/tmp}/slurm-test.XXXXXX")
a=$here/a b=$here/b

between() { # VALUE LEAST MOST
    awk -v v="$1" -v least="$2" -v most="$3" 'BEGIN { exit !(v != "" && v >= least && v <= most) }'
}

quietly() {
    "$@" >/dev/null
}

# Bounded: what hangs fails here, and is ended with the cluster.
A() {
    timeout -k 5 60 "$slurm" --dir "$a" "$@"
}

B() {
    timeout -k 5 60 "$slurm" --dir "$b" "$@"
}

on_exit() {
    A down >/dev/null 2>&1
    B down >/dev/null 2>&1
    rm -rf "$here"
}
trap on_exit EXIT
trap 'exit 130' INT TERM

if ! why=$("$slurm" check 2>&1); then
    skip_all "${why#slurm: }"
fi

# Every process in the namespaces of a cluster (a namespace lives as long as one does), as "PID STARTTIME".
processes_of() { # DIR NODES
    local i dir space spaces

    spaces=$("$slurm" --dir "$1" exec readlink /proc/self/ns/pid
        for ((i = 1; i <= $2; i++)); do
            "$slurm" --dir "$1" on "node$i" readlink /proc/self/ns/pid
        done)
    for dir in /proc/[0-9]*; do
        space=$(readlink "$dir/ns/pid" 2>/dev/null) || continue
        if [[ $spaces == *"$space"* ]]; then
            echo "${dir#/proc/} $(start_of "${dir#/proc/}")"
        fi
    done
}

alive() { # "PID STARTTIME" lines: those that are still there
    local pid start

    while read -r pid start; do
        if [ -n "$start" ] && [ "$(start_of "$pid")" = "$start" ]; then
            ps -o pid=,args= -p "$pid"
        fi
    done
}

ping_ms() { # DIR NODE: median round trip
    timeout -k 5 20 "$slurm" --dir "$1" exec ping -n -c 9 -i 0.1 "$2" | sed -n 's/.*time=\([0-9.]*\) ms/\1/p' | sort -n | sed -n 5p
}

# ---- up ----

quietly A up 4
ok $? "slurm up 4 starts four nodes"
is "$(A exec srun -N4 hostname | sort | tr '\n' ' ')" "node1 node2 node3 node4 " "each node has its own host name"
is "$(A exec srun -N4 sh -c 'hostname -I' | awk '{print $1}' | sort -u | wc -l)" 4 "each node has its own address"
is "$(A exec hostname)" ctl "slurm exec runs a command on the control host"
is "$(A on node3 hostname)" node3 "slurm on node3 runs a command on that node"
A on node3 sh -c 'exit 7'
is $? 7 "slurm on returns the command's exit status"
A on node1 touch /dev/shm/mark
is "$(A exec srun -N4 sh -c 'ls /dev/shm' | tr -d '\n')" mark "each node has its own /dev/shm"
is "$(A exec srun -w node2 printenv SLURM_TOPOLOGY_ADDR)" spine0.leaf0.node2 "tasks see their place in the topology"
is "$(cd "$here" && A exec pwd)" "$here" "slurm exec keeps the working directory"
is "$(A env | sed -n 's/^export SLURM_CONF=//p')" "$a/etc/slurm.conf" "slurm env prints SLURM_CONF"
A up 2>/dev/null
is $? 1 "slurm up of a running cluster exits with 1"

# ---- MPI ----

cat >"$here/hello.c" <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, size, sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!rank)
        printf("%d ranks, sum %d\n", size, sum);
    MPI_Finalize();
    return 0;
}
C
if mpicc.openmpi -o "$here/hello" "$here/hello.c" 2>/dev/null; then
    is "$(A exec srun -N4 -n8 "$here/hello")" "8 ranks, sum 28" "Open MPI: 8 ranks under srun reduce their ranks to 28"
    is "$(A exec salloc -Q -N4 -n4 mpirun "$here/hello")" "4 ranks, sum 6" "Open MPI: 4 ranks under mpirun reduce their ranks to 6"
else
    skip "Open MPI" "no mpicc.openmpi"
fi

# ---- faults ----

A shape node2 5ms
rtt=$(ping_ms "$a" node2)
echo "# node2 with 5ms each way: round trip $rtt ms"
between "$rtt" 10 30
ok $? "slurm shape node2 5ms: the round trip takes 10 to 30 ms"
A shape node2 off
between "$(ping_ms "$a" node2)" 0 9
ok $? "slurm shape node2 off: the round trip takes less than 9 ms"
A shape node1 8mbit
is "$(A on node1 tc qdisc show dev eth0 | grep -o "tbf.*rate 8Mbit" | cut -c1-3)" "tbf" "slurm shape node1 8mbit limits the rate of its link"
A shape node1 off
is "$(A slow node1 nonsense 2>&1 >/dev/null | wc -l)" 1 "slurm slow with a wrong percentage prints one line of error"

cat >"$here/burn.c" <<'C'
#include <stdio.h>
#include <time.h>
static double now_s(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
int main(void)
{
    for (int chunk = 0; chunk < 6; chunk++) {
        double from_s = now_s(CLOCK_MONOTONIC), cpu_s = now_s(CLOCK_PROCESS_CPUTIME_ID);

        for (volatile long i = 0; i < 60000000; i++)
            ;
        printf("%.6f %.6f\n", now_s(CLOCK_MONOTONIC) - from_s, now_s(CLOCK_PROCESS_CPUTIME_ID) - cpu_s);
    }
    return 0;
}
C
if ${CC:-cc} -O1 -o "$here/burn" "$here/burn.c" 2>/dev/null; then
    # by turns, and the lower quartile of each: whatever else runs here disturbs both alike
    for _ in 1 2 3; do
        A slow node3 off
        A exec srun -Q -w node3 "$here/burn" >>"$here/free"
        A slow node3 50
        A exec srun -Q -w node3 "$here/burn" >>"$here/slowed"
    done
    ratio=$(paste <(sort -n "$here/free") <(sort -n "$here/slowed") | awk 'NR == 5 { printf "%.3f", $3 / $1 }')
    # A stop takes nothing from a task that was waiting for a core anyway (cpuslow.c).
    waited=$(sort -n "$here/free" | awk 'NR == 5 { printf "%.2f", $1 / $2 }')
    echo "# node3 slower by 50 %: its task took $ratio times as long; undisturbed, a second of its CPU took $waited s"
    if between "$waited" 0 1.2; then
        between "$ratio" 1.25 2.2
        ok $? "slurm slow node3 50: a task takes 1.25 to 2.2 times as long"
    else
        skip "slurm slow node3 50: a task takes 1.25 to 2.2 times as long" "other processes take the cores"
    fi
    A exec srun -Q -w node3 sleep 10 &
    runs() { A on node3 pgrep -x sleep >/dev/null; }
    wait_for 20 runs
    A slow node3 off
    is "$(A on node3 ps -eo stat= | grep -c '^T')" 0 "slurm slow node3 off leaves no process stopped"
    wait
else
    skip "slurm slow node3 50: a task takes 1.25 to 2.2 times as long" "no C compiler"
fi

A crash node4
A on node4 true 2>/dev/null
is $? 1 "after slurm crash, slurm on that node exits with 1"
A boot node4
A on node4 true
ok $? "slurm boot brings a crashed node back"

# ---- two side by side; the second with shares of a core where this machine allows them ----

shares=
quietly "$slurm" check --share && shares="--share 20"
# shellcheck disable=SC2086
quietly B up 2 $shares
ok $? "a second cluster starts beside the first"
is "$(B exec srun -N2 hostname | sort | tr '\n' ' ')" "node1 node2 " "the second cluster runs jobs on its two nodes"
is "$(A exec sinfo -h -o %D)" 4 "the first cluster still has four nodes"
if [ -n "$shares" ] && [ -x "$here/burn" ]; then
    made=$(sed -n 's/^SHARES=//p' "$b/etc/cluster")
    # seconds for a second of CPU
    stretch() { B exec srun -Q -w node2 "$here/burn" | awk '{ wall += $1; cpu += $2 } END { printf "%.2f", wall / cpu }'; }
    fifth=$(stretch)
    quietly B slow node2 50
    slowed=$(stretch)
    quietly B slow node2 off
    echo "# a second of CPU on node2 takes $fifth s with a fifth of a core, $slowed s when slower by 50 %"
    between "$fifth" 3.5 6.5
    ok $? "slurm up --share 20: a task takes 3.5 to 6.5 times its CPU time"
    between "$(awk -v a="$slowed" -v b="$fifth" 'BEGIN { print a / b }')" 1.25 2
    ok $? "slurm slow node2 50 with shares: a task takes 1.25 to 2 times as long"
else
    made=
    skip "slurm up --share 20: a task takes 3.5 to 6.5 times its CPU time" "no cgroup or no C compiler"
    skip "slurm slow node2 50 with shares: a task takes 1.25 to 2 times as long" "no cgroup or no C compiler"
fi
theirs=$(processes_of "$b" 2)
B down
ok $? "slurm down ends the second cluster"
test -z "$made" -o ! -e "$made"
ok $? "slurm down removes the cgroups of a cluster with shares"
A exec srun -w node1 true
ok $? "the first cluster runs jobs after the second ended"

# ---- down ----

A exec srun -w node1 sleep 1000 &
runs() { A on node1 pgrep -x sleep >/dev/null; }
wait_for 20 runs
theirs+=$'\n'$(processes_of "$a" 4)
echo "# $(wc -l <<<"$theirs") processes in both clusters"
A down
ok $? "slurm down ends a cluster with a running job"
wait
test ! -e "$a" -a ! -e "$b"
ok $? "slurm down removes the directories of both clusters"
is "$(alive <<<"$theirs")" "" "slurm down leaves no process in the clusters' namespaces"
is "$(grep -F "$here" /proc/self/mounts)" "" "slurm down leaves no mount"
A down 2>/dev/null
ok $? "slurm down of a cluster that is down exits with 0"

mkdir "$here/full" && touch "$here/full/mine"
timeout -k 5 60 "$slurm" --dir "$here/full" up 2>/dev/null
is "$? $(ls "$here/full")" "1 mine" "slurm up refuses a directory that has files, and leaves them"

timeout -s INT 60 "$slurm" --dir "$a" up 4 --conf <(echo "NoSuchKey=1") >/dev/null 2>&1
is "$? $(test -e "$a" && echo left)" "1 " "slurm up that fails exits with 1 and removes its directory"
"$slurm" --dir "$a" up 8 >/dev/null 2>&1 &
pid=$!
wait_for 20 test -e "$a"
A down 2>/dev/null
wait "$pid"
is "$(test -e "$a" && echo left)" "" "slurm down during slurm up removes the directory"

done_testing
