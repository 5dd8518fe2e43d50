#!/bin/bash
# Labelled episodes of our own, which are always there: what `sgctl analyze` says of them. corpus.sh and programs.sh judge many more where they are at hand.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99

command -v python3 >/dev/null || skip_all "there is no python3"
exec python3 "$top_srcdir/tests/analysis/score_episodes.py" "$top_builddir/sgctl"
