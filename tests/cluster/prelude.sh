# prelude.sh - what the tests on a real Slurm begin with: TAP, a folder of their own ($here) that is gone with them,
# the cluster as C. To be sourced; ends the test as skipped where there can be no cluster.
# shellcheck shell=bash
set -u
top_srcdir=${top_srcdir:-$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../..}
top_builddir=${top_builddir:-$PWD}
slurm=$top_srcdir/tests/cluster/slurm
here=$(mktemp -d "${TMPDIR:-/tmp}/$(basename "$0" .sh).XXXXXX")
n=0 job=0

ok() { # DESCRIPTION COMMAND...: passes when the command does
    local what=$1

    shift
    n=$((n + 1))
    if "$@"; then echo "ok $n - $what"; else echo "not ok $n - $what"; fi
}

is() { # GOT WANTED DESCRIPTION
    ok "$3" test "$1" = "$2"
    [ "$1" = "$2" ] || printf '#   got:    %s\n#   wanted: %s\n' "$1" "$2"
}

has() { # TEXT PATTERN DESCRIPTION
    ok "$3" grep -qE -- "$2" <<<"$1"
    grep -qE -- "$2" <<<"$1" || printf '%s\n' "$1" | sed 's/^/#   got: /'
}

skip() { # DESCRIPTION REASON
    n=$((n + 1))
    echo "ok $n - $1 # SKIP $2"
}

# Bounded: what hangs fails here, and is ended with the cluster.
C() { timeout "${C_TIMEOUT:-120}" "$slurm" --dir "$here/c" "$@"; }

on_exit() {
    C down >/dev/null 2>&1
    rm -rf "$here"
}
trap on_exit EXIT
trap 'exit 130' INT TERM

if ! why=$("$slurm" check 2>&1); then
    echo "1..0 # SKIP ${why#slurm: }"
    exit 0
fi

# Something that was not built is needed.
needs() { # FILE REASON
    [ -x "$1" ] || { echo "1..0 # SKIP $2"; exit 0; }
}

# What was built, installed under $here/inst.
installed() {
    make -s -C "$top_builddir" install prefix="$here/inst" >"$here/install.log" 2>&1 ||
        { cat "$here/install.log"; echo "1..0 # SKIP not installed"; exit 1; }
}

up() { # NODES OPTIONS...: the cluster with the plugin
    C up "$1" --plugin "$here/inst" "${@:2}" >"$here/up.log" 2>&1 || { cat "$here/up.log"; echo "Bail out! no cluster"; exit 1; }
}

report() { C exec sgctl job "$job" --json 2>/dev/null; }
figure() { report | jq -r "$1"; }
# Wait until the report's FILTER is true, at most SECONDS.
until_true() { # SECONDS FILTER
    local end=$((SECONDS + $1))

    while [ $SECONDS -lt $end ]; do
        [ "$(figure "$2" 2>/dev/null)" = true ] && return 0
        sleep .3
    done
    echo "#   never: $2"
    report | jq -c '{state, ranks, nodes, steps, regime, verdicts, checkpoint}' | sed 's/^/#   /'
    return 1
}
