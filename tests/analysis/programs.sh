#!/bin/bash
# Labelled jobs of pipelines, groups, overlap and halo exchanges, where they are at hand: how often `sgctl analyze` is right about them.
# Their folder, with its scorer, is $SYNCGUARD_CORPUS or shared/corpus beside the source tree.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99

corpus=${SYNCGUARD_CORPUS:-$top_srcdir/../shared/corpus}
command -v python3 >/dev/null || skip_all "there is no python3"
[ -e "$corpus/score_programs.py" ] || skip_all "there is no $corpus/score_programs.py"

# Every fault twice; with SYNCGUARD_FULL=yes all that the targets were set by, which takes minutes.
count=22
[ "${SYNCGUARD_FULL-}" != yes ] || count=66
rows=$(timeout 3000 python3 "$corpus/score_programs.py" --seed ci --count $count --verbose -- "$top_builddir/sgctl" analyze --json - 2>&1)
exec python3 "$top_srcdir/tests/analysis/targets.py" "sgctl analyze on labelled programs" "$rows" \
    "right>=0.93" "placed>=0.92" "found>=0.92" "false_alarms<=0" "broken<=0" "delay_steps_p50<=5" "price_error_p50<=0.05"
