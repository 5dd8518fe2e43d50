#!/bin/bash
# Pacing on a real Slurm: more ranks than CPUs, what the ranks do, what the job's report says of it.
C_TIMEOUT=200
. "$(dirname "$(readlink -f "$0")")/prelude.sh"

program=$top_builddir/tests/bench/pace.openmpi
needs "$program" "there is no Open MPI"
installed
up 1

cpus=$(C exec srun -n1 bash -c 'echo $SLURM_CPUS_ON_NODE')
many=$((cpus + 2))
# Open MPI yields by itself on this cluster (config.sh): release is not to be had, the gate is.
C exec srun -O -n$many --sync-guard=balanced "$program" --steps 200 --work 2 --slow 1 >"$here/out" 2>"$here/err"
ok "$many ranks run to their end" grep -q '"sums"' "$here/out"
sed 's/^/# /' "$here/out" "$here/err" | head -n 5
job=2 # after the one that told the CPUs
C exec sgctl job "$job" --json >"$here/job" 2>/dev/null
ok "the policy's levers are in the report" test "$(jq -r .pace.levers "$here/job")" = release,gate
ok "so is what the node reports" test "$(jq -r '.pace.nodes[0].ranks' "$here/job")" = $many
ok "they looked for what helps" test "$(jq -r '.pace.nodes[0].collectives > 0' "$here/job")" = true
ok "and say why release is not in force" test "$(jq -r '.pace.nodes[0].levers[0].why | startswith("the MPI library")' "$here/job")" = true
jq -c .pace "$here/job" | sed 's/^/# /'
echo "1..$n"
