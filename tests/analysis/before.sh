#!/bin/bash
# Labelled jobs, where they are at hand, looked at before their fault begins: nothing is found.
# Their folder, with what makes them, is $SYNCGUARD_CORPUS or shared/corpus beside the source tree.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99

corpus=${SYNCGUARD_CORPUS:-$top_srcdir/../shared/corpus}
command -v python3 >/dev/null || skip_all "there is no python3"
[ -e "$corpus/programs.py" ] || skip_all "there is no $corpus/programs.py"

count=22
[ "${SYNCGUARD_FULL-}" != yes ] || count=132
exec python3 "$top_srcdir/tests/analysis/score_before.py" "$corpus" "$top_builddir/sgctl" $count
