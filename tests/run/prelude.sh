# prelude.sh - what tests of programs under sgrun begin with: tap.sh, a folder of their own ($dir, with tmp/ in it) that is gone
# with them and with what they started, and a configuration for what was built, to whose file a test may add lines:
# $SYNCGUARD_CONF.  To be sourced; skips all where munged or jq is missing.
# shellcheck shell=bash
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
: "${top_builddir:?}"
[ -x /usr/sbin/munged ] || skip_all "munged is not installed"
command -v jq >/dev/null || skip_all "jq is not installed"
dir=$(mktemp -d "/tmp/$(basename "$0" .sh)-test-XXXXXX") || exit 99
cleanup() {
    jobs -p | xargs -r kill 2>/dev/null
    wait 2>/dev/null
    rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

mkdir "$dir/tmp"
export TMPDIR=$dir/tmp SYNCGUARD_CONF=$dir/own.conf
cat >"$SYNCGUARD_CONF" <<CONF
AgentPath=$top_builddir/syncguard-agent
ProbePath=$top_builddir/.libs/libsyncguard_probe.so
CONF
