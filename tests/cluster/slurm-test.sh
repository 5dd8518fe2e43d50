#!/bin/bash
# The private cluster itself: hosts that differ, MPI, faults that are what they say, nothing left behind.
set -u
top_srcdir=${top_srcdir:-$(dirname "$(readlink -f "$0")")/../..}
slurm=$top_srcdir/tests/cluster/slurm
# shellcheck source=tests/cluster/record.sh
. "$top_srcdir/tests/cluster/record.sh"
here=$(mktemp -d "${TMPDIR:-/tmp}/slurm-test.XXXXXX")
a=$here/a b=$here/b
n=0

ok() { # DESCRIPTION COMMAND...: passes when the command does
    local what=$1

    shift
    n=$((n + 1))
    if "$@"; then
        echo "ok $n - $what"
    else
        echo "not ok $n - $what"
    fi
}

is() { # GOT WANTED DESCRIPTION
    ok "$3" test "$1" = "$2"
    [ "$1" = "$2" ] || printf '#   got:    %s\n#   wanted: %s\n' "$1" "$2"
}

skip() { # DESCRIPTION REASON
    n=$((n + 1))
    echo "ok $n - $1 # SKIP $2"
}

between() { # VALUE LEAST MOST
    awk -v v="$1" -v least="$2" -v most="$3" 'BEGIN { exit !(v != "" && v >= least && v <= most) }'
}

quietly() {
    "$@" >/dev/null
}

# Bounded: what hangs fails here, and is ended with the cluster.
A() {
    timeout 60 "$slurm" --dir "$a" "$@"
}

B() {
    timeout 60 "$slurm" --dir "$b" "$@"
}

on_exit() {
    A down >/dev/null 2>&1
    B down >/dev/null 2>&1
    rm -rf "$here"
}
trap on_exit EXIT
trap 'exit 130' INT TERM

if ! why=$("$slurm" check 2>&1); then
    echo "1..0 # SKIP ${why#slurm: }"
    exit 0
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
    timeout 20 "$slurm" --dir "$1" exec ping -n -c 9 -i 0.1 "$2" | sed -n 's/.*time=\([0-9.]*\) ms/\1/p' | sort -n | sed -n 5p
}

# ---- up ----

ok "four nodes come up" quietly A up 4
is "$(A exec srun -N4 hostname | sort | tr '\n' ' ')" "node1 node2 node3 node4 " "hosts have names of their own"
is "$(A exec srun -N4 sh -c 'hostname -I' | awk '{print $1}' | sort -u | wc -l)" 4 "and addresses of their own"
is "$(A exec hostname)" ctl "exec runs on the control host"
is "$(A on node3 hostname)" node3 "on runs on the node"
A on node3 sh -c 'exit 7'
is $? 7 "with the command's exit status"
A on node1 touch /dev/shm/mark
is "$(A exec srun -N4 sh -c 'ls /dev/shm' | tr -d '\n')" mark "shared memory is the host's own"
is "$(A exec srun -w node2 printenv SLURM_TOPOLOGY_ADDR)" spine0.leaf0.node2 "tasks see the topology"
is "$(cd "$here" && A exec pwd)" "$here" "the working directory stays"
is "$(A env | sed -n 's/^export SLURM_CONF=//p')" "$a/etc/slurm.conf" "env tells Slurm's configuration"
A up 2>/dev/null
is $? 1 "a cluster that is up is not brought up again"

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
    is "$(A exec srun -N4 -n8 "$here/hello")" "8 ranks, sum 28" "Open MPI under srun"
    is "$(A exec salloc -Q -N4 -n4 mpirun "$here/hello")" "4 ranks, sum 6" "Open MPI under mpirun"
else
    skip "Open MPI" "no mpicc.openmpi"
fi

# ---- faults ----

A shape node2 5ms
rtt=$(ping_ms "$a" node2)
echo "# node2 with 5ms each way: round trip $rtt ms"
ok "a link is delayed" between "$rtt" 10 30
A shape node2 off
ok "and is as before afterwards" between "$(ping_ms "$a" node2)" 0 9
A shape node1 8mbit
is "$(A on node1 tc qdisc show dev eth0 | grep -o "tbf.*rate 8Mbit" | cut -c1-3)" "tbf" "a link has its rate limited"
A shape node1 off
is "$(A slow node1 nonsense 2>&1 >/dev/null | wc -l)" 1 "a wrong percentage is one line"

cat >"$here/burn.c" <<'C'
#include <stdio.h>
#include <time.h>
int main(void)
{
    for (int chunk = 0; chunk < 6; chunk++) {
        struct timespec from, to;

        clock_gettime(CLOCK_MONOTONIC, &from);
        for (volatile long i = 0; i < 60000000; i++)
            ;
        clock_gettime(CLOCK_MONOTONIC, &to);
        printf("%.6f\n", (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9);
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
    ratio=$(paste <(sort -n "$here/free") <(sort -n "$here/slowed") | awk 'NR == 5 { printf "%.3f", $2 / $1 }')
    echo "# node3 slower by 50 %: its task took $ratio times as long"
    ok "a node is slowed down" between "$ratio" 1.25 2.2
    A exec srun -Q -w node3 sleep 2 &
    sleep 0.7
    A slow node3 off
    is "$(A on node3 ps -eo stat= | grep -c '^T')" 0 "nothing stays stopped afterwards"
    wait
else
    skip "a node is slowed down" "no C compiler"
fi

A crash node4
A on node4 true 2>/dev/null
is $? 1 "a crashed node is down"
A boot node4
ok "and comes back" A on node4 true

# ---- two side by side ----

ok "a second cluster beside the first" quietly B up 2
is "$(B exec srun -N2 hostname | sort | tr '\n' ' ')" "node1 node2 " "runs its jobs"
is "$(A exec sinfo -h -o %D)" 4 "and the first is still itself"
theirs=$(processes_of "$b" 2)
ok "ends" B down
ok "the first still runs jobs" A exec srun -w node1 true

# ---- down ----

A exec srun -w node1 sleep 1000 &
sleep 0.5
theirs+=$'\n'$(processes_of "$a" 4)
echo "# $(wc -l <<<"$theirs") processes in both clusters"
ok "down with a job that runs" A down
wait
ok "the directories are gone" test ! -e "$a" -a ! -e "$b"
is "$(alive <<<"$theirs")" "" "no process is left in any of their namespaces"
is "$(grep -F "$here" /proc/self/mounts)" "" "no mount is left"
ok "down once more is no error" A down 2>/dev/null

mkdir "$here/full" && touch "$here/full/mine"
timeout 60 "$slurm" --dir "$here/full" up 2>/dev/null
is "$? $(ls "$here/full")" "1 mine" "a directory that is somebody's is not touched"

timeout -s INT 60 "$slurm" --dir "$a" up 4 --conf <(echo "NoSuchKey=1") >/dev/null 2>&1
is "$? $(test -e "$a" && echo left)" "1 " "a start that fails cleans up"
"$slurm" --dir "$a" up 8 >/dev/null 2>&1 &
pid=$!
sleep 0.4
A down 2>/dev/null
wait "$pid"
is "$(test -e "$a" && echo left)" "" "so does one that is interrupted"

echo "1..$n"
