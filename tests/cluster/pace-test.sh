#!/bin/bash
# Pacing on a real Slurm: more ranks than CPUs, what the ranks do, what the job's report says of it; and how soon a
# parameter that is set is in force on all nodes.
. "$(dirname "$(readlink -f "$0")")/prelude.sh"

program=$top_builddir/tests/bench/pace.openmpi
needs "$program" "there is no Open MPI"
installed
up 4
echo 'Policy=paced Pacing=auto' >>"$here/c/etc/syncguard.conf"
C controller restart >/dev/null || bail_out "the controller does not start again"

cpus=$(C exec srun -N1 -n1 bash -c 'echo $SLURM_CPUS_ON_NODE')
many=$((cpus + 2))
# Open MPI yields by itself on this cluster (config.sh): release is not to be had, the gate is.
C exec srun -N1 -O -n$many --sync-guard=paced "$program" --steps 100 --work 2 --slow 1 >"$here/out" 2>"$here/err"
job=2 # after the one that told the CPUs
grep -q '"sums"' "$here/out"
ok $? "a paced job of two more ranks than CPUs ends and prints its sums"
echo "# $many ranks"
sed 's/^/# /' "$here/out" "$here/err" | head -n 5
is "$(figure .pace.levers)" release,gate "the job's report lists the policy's levers"

# The same without an end.
start() { # SRUN'S ARGUMENTS...: its number in $job
    C_TIMEOUT=3600 C exec srun --sync-guard=paced "$@" >/dev/null 2>&1 &
    srun=$!
    job=$((job + 1))
}
end() {
    C exec scancel --signal=KILL "$job"
    wait $srun
}
start -N1 -O -n$many "$program" --steps 1000000 --work 2 --slow 1
until_true 300 ".pace.nodes[0].ranks == $many"
ok $? "the job's report has the node's number of ranks"
until_true 300 '.pace.nodes[0].collectives > 0'
ok $? "the node reports collectives that were paced"
test "$(figure '.pace.nodes[0].levers[0].why | startswith("the MPI library")')" = true
ok $? "the report gives the MPI library as the reason why release is not in force"
figure '.pace | "# \(.)"'
end

# ---- a parameter of a running job ----

# PaceMaxDelay, in microseconds, on the control page of a node (lib/ring/control_page.h).
page() { C on "$1" sh -c "od -An -tu4 -j132 -N4 /dev/shm/syncguard*/*.$job.0.*/control" 2>/dev/null | tr -d ' '; }
on_pages() { # MICROSECONDS
    local node

    for node in node1 node2 node3 node4; do
        [ "$(page $node)" = "$1" ] || return 1
    done
}
in_force() { wait_for 120 on_pages "$1"; }
start -N4 "$program" --steps 1000000 --work 5
until_true 300 '.ranks == 4 and .steps > 20' >/dev/null
in_force 20000
ok $? "the policy's PaceMaxDelay is on the control pages of four nodes"
for us in 7000 3000 9000; do
    begun=$(date +%s%N)
    C exec sgctl policy set "$job" "PaceMaxDelay=${us}us" >/dev/null 2>&1
    in_force "$us"
    ok $? "sgctl policy set PaceMaxDelay=${us}us reaches the control pages of four nodes"
    echo "#   $((($(date +%s%N) - begun) / 1000000)) ms after sgctl began"
done
end
done_testing
