# prelude.sh - what the tests on a real Slurm begin with: tap.sh, a folder of their own ($here) that is gone with them,
# the cluster as C. To be sourced; ends the test as skipped where there can be no cluster.
# SYNCGUARDD: a controller of another build to start instead, such as one with a sanitizer (of threads: the test runs under
# `setarch -R`, see ./check); controller_silent finds what it has to say.
# shellcheck shell=bash
set -u
top_srcdir=${top_srcdir:-$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../..}
. "$top_srcdir/tests/tap.sh" || exit 99
slurm=$top_srcdir/tests/cluster/slurm
here=$(mktemp -d "${TMPDIR:-/tmp}/$(basename "$0" .sh).XXXXXX")
job=0

# Bounded: what hangs fails here, and is ended with the cluster.  What runs until the test ends it gets a C_TIMEOUT of its own.
C() { timeout -k 5 "${C_TIMEOUT:-300}" "$slurm" --dir "$here/c" "$@"; }

on_exit() {
    C down >/dev/null 2>&1
    rm -rf "$here"
}
trap on_exit EXIT
trap 'exit 130' INT TERM

if ! why=$("$slurm" check 2>&1); then
    skip_all "${why#slurm: }"
fi

# Something that was not built is needed.
needs() { # FILE REASON
    [ -x "$1" ] || skip_all "$2"
}

# What was built, installed under $here/inst.
installed() {
    make -s -C "$top_builddir" install prefix="$here/inst" >"$here/install.log" 2>&1 ||
        { cat "$here/install.log"; bail_out "make install failed"; }
    [ -z "${SYNCGUARDD-}" ] || install -m 755 "$SYNCGUARDD" "$here/inst/sbin/syncguardd" || bail_out "no program: $SYNCGUARDD"
}

# Ends the controller, which must have nothing to say on its standard output and error: a sanitizer would.
controller_silent() {
    C controller stop >/dev/null && [ ! -s "$here/c/log/syncguardd.out" ] && return
    show "$here/c/log/syncguardd.out"
    return 1
}

up() { # NODES OPTIONS...: the cluster with the plugin
    C up "$1" --plugin "$here/inst" "${@:2}" >"$here/up.log" 2>&1 || { cat "$here/up.log"; bail_out "the private cluster does not start"; }
}

report() { C exec sgctl job "$job" --json 2>/dev/null; }
figure() { report | jq -r "$1"; }
is_true() { [ "$(figure "$1" 2>/dev/null)" = true ]; }
# Wait until the report's FILTER is true, at most SECONDS.
until_true() { # SECONDS FILTER
    wait_for "$1" is_true "$2" && return
    echo "#   not within $1 s: $2"
    report | jq -c '{state, judged, sentence, ranks, nodes, steps, regime, verdicts, checkpoint, notes},
        (.rank_table // [] | map([.rank, .node, .lateness_s, .compute_s, .slowdown, .last_ratio])), (.events // [] | map([.age_s, .text, .count]))' | sed 's/^/#   /'
    return 1
}
