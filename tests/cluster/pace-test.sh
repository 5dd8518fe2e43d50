#!/bin/bash
# Pacing on a real Slurm: more ranks than CPUs, what the ranks do, what the job's report says of it; and how soon a
# parameter that is set is in force on all nodes.
C_TIMEOUT=200
. "$(dirname "$(readlink -f "$0")")/prelude.sh"

program=$top_builddir/tests/bench/pace.openmpi
needs "$program" "there is no Open MPI"
installed
up 4

cpus=$(C exec srun -N1 -n1 bash -c 'echo $SLURM_CPUS_ON_NODE')
many=$((cpus + 2))
# Open MPI yields by itself on this cluster (config.sh): release is not to be had, the gate is.
C exec srun -N1 -O -n$many --sync-guard=balanced "$program" --steps 200 --work 2 --slow 1 >"$here/out" 2>"$here/err"
ok "$many ranks run to their end" grep -q '"sums"' "$here/out"
sed 's/^/# /' "$here/out" "$here/err" | head -n 5
job=2 # after the one that told the CPUs
C exec sgctl job "$job" --json >"$here/job" 2>/dev/null
ok "the policy's levers are in the report" test "$(jq -r .pace.levers "$here/job")" = release,gate
ok "so is what the node reports" test "$(jq -r '.pace.nodes[0].ranks' "$here/job")" = $many
ok "they looked for what helps" test "$(jq -r '.pace.nodes[0].collectives > 0' "$here/job")" = true
ok "and say why release is not in force" test "$(jq -r '.pace.nodes[0].levers[0].why | startswith("the MPI library")' "$here/job")" = true
jq -c .pace "$here/job" | sed 's/^/# /'

# ---- a parameter of a running job ----

# PaceMaxDelay, in microseconds, on the control page of a node (ring/control.h).
page() { C on "$1" sh -c "od -An -tu4 -j132 -N4 /dev/shm/syncguard.*.$job.0.*/control" 2>/dev/null | tr -d ' '; }
in_force() { # MICROSECONDS: bounded; is it on all four pages?
    local node i

    for node in node1 node2 node3 node4; do
        for ((i = 0; i < 100; i++)); do
            [ "$(page $node)" = "$1" ] && continue 2
            sleep .02
        done
        return 1
    done
}
C exec srun -N4 --sync-guard=balanced "$program" --steps 100000 --work 5 >/dev/null 2>&1 &
job=3
until_true 20 '.ranks == 4 and .steps > 20' >/dev/null
ok "the policy's parameter is on the pages of four nodes" in_force 20000
for us in 7000 3000 9000; do
    begun=$(date +%s%N)
    C exec sgctl policy set "$job" "PaceMaxDelay=${us}us" >/dev/null 2>&1
    ok "$us us is set on all of them" in_force "$us"
    echo "#   $((($(date +%s%N) - begun) / 1000000)) ms after sgctl began"
done
C exec scancel "$job"
wait
echo "1..$n"
