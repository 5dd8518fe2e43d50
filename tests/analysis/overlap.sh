#!/bin/bash
# What sgctl reports of exposed and hidden communication, against programs whose transfers are known, where they are at hand: in
# $SYNCGUARD_CORPUS or shared/corpus beside the source tree.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99

corpus=${SYNCGUARD_CORPUS:-$top_srcdir/../shared/corpus}
command -v python3 >/dev/null || skip_all "there is no python3"
[ -e "$corpus/programs.py" ] || skip_all "there is no $corpus/programs.py"

# A job of each layout; with SYNCGUARD_FULL=yes all.
jobs=(0 1 2 22)
[ "${SYNCGUARD_FULL-}" != yes ] || jobs=()
exec timeout 3000 python3 "$top_srcdir/tests/analysis/score_overlap.py" "$corpus" "$top_builddir/sgctl" "${jobs[@]}"
