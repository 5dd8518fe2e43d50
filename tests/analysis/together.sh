#!/bin/bash
# Places that are slow at the same time, where programs with faults are at hand: in $SYNCGUARD_CORPUS or shared/corpus beside the source tree.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99

corpus=${SYNCGUARD_CORPUS:-$top_srcdir/../shared/corpus}
command -v python3 >/dev/null || skip_all "there is no python3"
[ -e "$corpus/programs.py" ] || skip_all "there is no $corpus/programs.py"

count=3
[ "${SYNCGUARD_FULL-}" != yes ] || count=10
exec timeout 3000 python3 "$top_srcdir/tests/analysis/score_together.py" "$corpus" "$top_builddir/sgctl" $count
