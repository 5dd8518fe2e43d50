#!/bin/bash
# Labelled episodes, where they are at hand: how often `sgctl analyze` is right about them, and how soon.
# Their folder, with score.py, is $SYNCGUARD_CORPUS or shared/corpus beside the source tree.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99

corpus=${SYNCGUARD_CORPUS:-$top_srcdir/../shared/corpus}
command -v python3 >/dev/null || skip_all "there is no python3"
[ -e "$corpus/score.py" ] || skip_all "there is no $corpus/score.py"

rows=$(timeout 3000 python3 "$corpus/score.py" --seed ci --count 96 -- "$top_builddir/sgctl" analyze --json - 2>&1)
exec python3 "$top_srcdir/tests/analysis/targets.py" "sgctl analyze on labelled episodes" "$rows" \
    "accuracy>=0.98" "placed>=0.97" "false_alarms==0" "structure>=0.98" "delay_steps_p50<=8" "delay_steps_p95<=30" \
    "slowdown_error_p50<=0.01" "slowdown_error_p95<=0.04"
