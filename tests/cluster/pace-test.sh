#!/bin/bash
# Pacing on a real Slurm: more ranks than CPUs, what the ranks do, what the job's report says of it.
set -u
top_srcdir=${top_srcdir:-$(dirname "$(readlink -f "$0")")/../..}
top_builddir=${top_builddir:-$PWD}
slurm=$top_srcdir/tests/cluster/slurm
program=$top_builddir/tests/bench/pace.openmpi
here=$(mktemp -d "${TMPDIR:-/tmp}/pace-test.XXXXXX")
n=0

ok() { # DESCRIPTION COMMAND...: passes when the command does
    local what=$1

    shift
    n=$((n + 1))
    if "$@"; then echo "ok $n - $what"; else echo "not ok $n - $what"; fi
}

C() { timeout 200 "$slurm" --dir "$here/c" "$@"; }

on_exit() {
    C down >/dev/null 2>&1
    rm -rf "$here"
}
trap on_exit EXIT
trap 'exit 130' INT TERM

if ! why=$("$slurm" check 2>&1); then
    echo "1..0 # SKIP ${why#slurm: }"
    exit 0
fi
[ -x "$program" ] || { echo "1..0 # SKIP there is no Open MPI"; exit 0; }
make -s -C "$top_builddir" install prefix="$here/inst" >"$here/install.log" 2>&1 ||
    { cat "$here/install.log"; echo "1..0 # SKIP not installed"; exit 1; }
C up 1 --plugin "$here/inst" >"$here/up.log" 2>&1 || { cat "$here/up.log"; echo "Bail out! no cluster"; exit 1; }

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
