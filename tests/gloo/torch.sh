# torch.sh - what tests of trainings under sgrun begin with: tests/run/prelude.sh, and PyTorch with Gloo.  To be sourced (bash);
# skips all where something is missing.
#   $python $dir      Debian's Python; the folder, with tmp/ in it
#   training ...      the training tests/workloads/train.py
#   guarded ...       the same under sgrun; leaves $dir/out, $dir/err and the report in $dir/report
#   $other_notes      for jq: how many notes there are that a busy machine does not make true
#   loss              of what a training printed (its input), as a hexadecimal number
# shellcheck shell=bash
. "${top_srcdir:=$PWD}/tests/run/prelude.sh" || exit 99
python=/usr/bin/python3
"$python" -c 'import torch.distributed as d; exit(not d.is_gloo_available())' 2>/dev/null || skip_all "python3-torch is not installed"
on_failure() { show "$dir/err"; }

echo 'Policy=quick HangTimeout=5' >>"$SYNCGUARD_CONF"
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
unset RANK WORLD_SIZE SLURM_PROCID SLURM_NTASKS SYNCGUARD_DIR SYNCGUARD_LIBRARY

training() { "$python" "$top_srcdir/tests/workloads/train.py" "$@"; }
sgrun() { timeout -k 5 600 "$top_builddir/sgrun" --no-screen --report="$dir/report" "$@" >"$dir/out" 2>"$dir/err"; }
guarded() { sgrun "$python" "$top_srcdir/tests/workloads/train.py" "$@"; }
# For jq: how many notes there are beside that nothing was seen for the first seconds, which is true on a busy machine, where Python
# loads PyTorch for longer than the agent waits before it says so.
other_notes='([.notes[] | select(test(": nothing seen for |[0-9]+ ranks? (was|were) seen [0-9]+ s after the start$") | not)] | length)'
loss() { sed -n 's/^result: .* loss \([^ ]*\).*/\1/p'; }
