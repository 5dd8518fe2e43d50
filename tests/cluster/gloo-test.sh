#!/bin/bash
# A training over Gloo on a real private Slurm, one rank on each of four nodes: srun --sync-guard, and the one that works longer is named while it runs.
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/prelude.sh"

/usr/bin/python3 -c 'import torch.distributed as d; exit(not d.is_gloo_available())' 2>/dev/null || skip_all "python3-torch is not installed"
C_TIMEOUT=900
installed
up 4
cp "$top_srcdir/tests/workloads/train.py" "$here/train.py"
export OMP_NUM_THREADS=1
: >"$here/hold" # the training goes on until its verdict is there
C exec srun -N 4 -n 4 --sync-guard /usr/bin/python3 "$here/train.py" --steps 100 --while "$here/hold" --slow 2 --by 20 --meet "$here/meet" >"$here/out" 2>"$here/err" &
running=$!
wait_for 240 [ -s "$here/meet" ]
ok $? "the training begins" || show "$here/err"
job=1
until_true 240 '.probe.ranks_guarded == 4 and .probe.ranks_total == 4'
ok $? "all four tasks are ranks"
until_true 240 '[.verdicts[]|select(.class == "straggler").culprits] == [["node3"]]'
ok $? "the node of the rank that works longer is named, and no other"
is "$(figure '[.rank_table[]|select(.rank == 2).node][0]')" node3 "it is the one where that rank runs"
rm "$here/hold"
wait $running
is $? 0 "srun ends as the training does" || show "$here/err"
like "$(cat "$here/out")" "^result: steps [0-9]{3,} loss 0x1" "and it has its result"
until_true 120 '.state == "finished"'
# Not counted: that nothing was seen for the first seconds, while Python loaded PyTorch.
is "$(figure '[.probe.dropped, .probe.missed, ([.notes[] | select(test(": nothing seen for |[0-9]+ ranks? (was|were) seen [0-9]+ s after the start$") | not)] | length)]|tostring')" "[0,0,0]" "nothing was dropped or missed, and there is no note"
done_testing
