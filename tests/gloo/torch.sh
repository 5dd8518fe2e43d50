# torch.sh - what a test of trainings under sgrun needs: PyTorch with Gloo, a folder of its own, a configuration.  To be sourced (bash)
# after tests/tap.sh; skips all where something is missing.
#   $python $dir      Debian's Python; the folder, with tmp/ in it
#   training ...      the training tests/workloads/train.py
#   guarded ...       the same under sgrun; leaves $dir/out, $dir/err and the report in $dir/report
#   loss              of what a training printed (its input), as a hexadecimal number
# shellcheck shell=bash
: "${top_srcdir:?}" "${top_builddir:?}"
python=/usr/bin/python3
[ -x /usr/sbin/munged ] || skip_all "munged is not installed"
command -v jq >/dev/null || skip_all "jq is not installed"
"$python" -c 'import torch.distributed as d; exit(not d.is_gloo_available())' 2>/dev/null || skip_all "python3-torch is not installed"
dir=$(mktemp -d /tmp/torch-test-XXXXXX) || exit 99
trap 'rm -rf "$dir"' EXIT
on_failure() { show "$dir/err"; }

mkdir "$dir/tmp"
cat >"$dir/own.conf" <<CONF
AgentPath=$top_builddir/syncguard-agent
ProbePath=$top_builddir/.libs/libsyncguard_probe.so
Policy=quick HangTimeout=5
CONF
export TMPDIR=$dir/tmp OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 SYNCGUARD_CONF=$dir/own.conf
unset RANK WORLD_SIZE SLURM_PROCID SLURM_NTASKS SYNCGUARD_DIR SYNCGUARD_LIBRARY

training() { "$python" "$top_srcdir/tests/workloads/train.py" "$@"; }
sgrun() { timeout -k 5 600 "$top_builddir/sgrun" --no-screen --report="$dir/report" "$@" >"$dir/out" 2>"$dir/err"; }
guarded() { sgrun "$python" "$top_srcdir/tests/workloads/train.py" "$@"; }
loss() { sed -n 's/^result: .* loss \([^ ]*\).*/\1/p'; }
