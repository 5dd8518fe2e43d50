#!/bin/bash
# The private cluster itself: hosts that differ, MPI, faults that are what they say, nothing left behind.
set -u
top_srcdir=${top_srcdir:-$(dirname "$(readlink -f "$0")")/../..}
. "$top_srcdir/tests/tap.sh" || exit 99
slurm=$top_srcdir/tests/cluster/slurm
# shellcheck source=tests/cluster/record.sh
. "$top_srcdir/tests/cluster/record.sh" || exit 99
here=$(mktemp -d "${TMPDIR:-/tmp}/slurm-test.XXXXXX")
a=$here/a b=$here/b

quietly() {
    "$@" >/dev/null
}

# Bounded: what hangs fails here, and is ended with the cluster.
A() {
    timeout -k 5 300 "$slurm" --dir "$a" "$@"
}

B() {
    timeout -k 5 300 "$slurm" --dir "$b" "$@"
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
    timeout -k 5 120 "$slurm" --dir "$1" exec ping -n -c 9 -i 0.1 "$2" | sed -n 's/.*time=\([0-9.]*\) ms/\1/p' | sort -n | sed -n 5p
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
awk -v ms="$rtt" 'BEGIN { exit !(ms >= 10) }'
ok $? "slurm shape node2 5ms: the round trip takes 10 ms at the least"
A shape node2 off
is "$(A on node2 tc qdisc show dev eth0 | grep -c -e netem -e tbf)" 0 "slurm shape node2 off leaves the link as it was"
A shape node1 8mbit
is "$(A on node1 tc qdisc show dev eth0 | grep -o "tbf.*rate 8Mbit" | cut -c1-3)" "tbf" "slurm shape node1 8mbit limits the rate of its link"
A shape node1 off
is "$(A slow node1 nonsense 2>&1 >/dev/null | wc -l)" 1 "slurm slow with a wrong percentage prints one line of error"

A slow node3 50
A exec srun -Q -w node3 --job-name slowed sleep 777 2>/dev/null &
state() { A on node3 ps -eo stat=,args= | awk '$2 ~ /sleep$/ && $3 == 777 { print substr($1, 1, 1) }'; }
stops() { [ "$(state)" = T ]; }
goes_on() { [ "$(state)" = S ]; }
wait_for 120 stops && wait_for 120 goes_on && wait_for 120 stops
ok $? "slurm slow node3 50 stops a task again and again"
A slow node3 off
is "$(state)" S "slurm slow node3 off leaves no task stopped"
is "$(A on node3 pgrep -c cpuslow)" 0 "slurm slow node3 off leaves nothing that would stop it again"
A exec scancel --name slowed
wait

A crash node4
A on node4 true 2>/dev/null
is $? 1 "after slurm crash, slurm on that node exits with 1"
A boot node4
A on node4 true
ok $? "slurm boot brings a crashed node back"

# ---- two side by side; the second a fat tree, and with shares of a core where this machine allows them ----

shares=
quietly "$slurm" check --share && shares="--share 20"
# shellcheck disable=SC2086
quietly B up 4 --leaf 2 --spines 2 $shares
ok $? "a second cluster starts beside the first"
is "$(B exec srun -N4 hostname | sort | tr '\n' ' ')" "node1 node2 node3 node4 " "the second cluster runs jobs on its four nodes"
is "$(B exec scontrol show topology | sed -n 's/^SwitchName=\(spine.\).* Switches=\(.*\)$/\1:\2/p' | tr '\n' ' ')" "spine0:leaf[0-1] spine1:leaf[0-1] " \
    "--spines 2: each leaf switch is below both spines"
sent() { B exec ip -s -j link show up0.1 | jq '.[0].stats64.tx.packets'; } # from leaf0 to spine1
for node in 3 4; do
    B on node1 ping -n -c 1 "node$node" >/dev/null 2>&1 # now they know one another's addresses
    before=$(sent)
    B on node1 ping -n -c 20 -i 0.05 "node$node" >/dev/null
    is "$(($(sent) - before >= 20))" $((node - 3)) "node1 reaches node$node by spine$((node - 3))"
done
B shape leaf1 8mbit
is "$(B exec tc qdisc show | grep -c 'tbf.*rate 8Mbit')" 4 "slurm shape leaf1 limits its links to both spines"
B shape leaf1 off
is "$(B exec tc qdisc show | grep -c tbf)" 0 "... and off leaves them as they were"
is "$(A exec sinfo -h -o %D)" 4 "the first cluster still has four nodes"
if [ -n "$shares" ]; then
    made=$(sed -n 's/^SHARES=//p' "$b/etc/cluster")
    # share_of NODE: of a core, in percent
    share_of() {
        if [ -e "$made/$1/cpu.max" ]; then
            cat "$made/$1/cpu.max"
        else
            cat "$made/$1/cpu.cfs_quota_us" "$made/$1/cpu.cfs_period_us" | tr '\n' ' '
        fi | awk '{ printf "%.0f", 100 * $1 / $2 }'
    }
    throttled() { awk '/^nr_throttled/ { exit !$2 }' "$made/node2/cpu.stat"; }
    is "$(share_of node2)" 20 "slurm up --share 20 gives a node a fifth of a core"
    quietly B slow node2 50
    is "$(share_of node1) $(share_of node2)" "20 13" "slurm slow node2 50 takes a third of that node's share, and of no other"
    B exec srun -Q -w node2 --job-name busy bash -c 'while :; do :; done' busy-task 2>/dev/null &
    # slurmd alone is held back as well, and a job that is cancelled while it starts takes long to end
    computes() { B on node2 pgrep -f 'busy[-]task' >/dev/null; }
    wait_for 120 computes && wait_for 120 throttled
    ok $? "the kernel holds a task of that node to its share"
    B exec scancel --name busy
    wait
    quietly B slow node2 off
    is "$(share_of node2)" 20 "slurm slow node2 off gives it back"
else
    made=
    skip "slurm up --share 20 gives a node a fifth of a core" "no cgroup"
    skip "slurm slow node2 50 takes a third of that node's share, and of no other" "no cgroup"
    skip "the kernel holds a task of that node to its share" "no cgroup"
    skip "slurm slow node2 off gives it back" "no cgroup"
fi
theirs=$(processes_of "$b" 4)
B down
ok $? "slurm down ends the second cluster"
test -z "$made" -o ! -e "$made"
ok $? "slurm down removes the cgroups of a cluster with shares"
A exec srun -w node1 true
ok $? "the first cluster runs jobs after the second ended"

# ---- down ----

A exec srun -w node1 sleep 1000 &
runs() { A on node1 pgrep -x sleep >/dev/null; }
wait_for 120 runs
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
timeout -k 5 300 "$slurm" --dir "$here/full" up 2>/dev/null
is "$? $(ls "$here/full")" "1 mine" "slurm up refuses a directory that has files, and leaves them"

timeout -s INT 300 "$slurm" --dir "$a" up 4 --conf <(echo "NoSuchKey=1") >/dev/null 2>&1
is "$? $(test -e "$a" && echo left)" "1 " "slurm up that fails exits with 1 and removes its directory"
"$slurm" --dir "$a" up 8 >/dev/null 2>&1 &
pid=$!
wait_for 120 test -e "$a"
A down 2>/dev/null
wait "$pid"
is "$(test -e "$a" && echo left)" "" "slurm down during slurm up removes the directory"

done_testing
