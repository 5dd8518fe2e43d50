#!/bin/bash
# sgring as somebody types it on a node: without an operand it prints all steps that its user may read.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
[ -w /dev/shm ] || skip_all "/dev/shm cannot be written"
dir=$(mktemp -d) || exit 1
shm=$(mktemp -d /dev/shm/syncguard-test-XXXXXX) || exit 1
trap 'rm -rf "${dir:?}" "${shm:?}"' EXIT
unset SYNCGUARD_DIR
sgring() { timeout 120 "$top_builddir/sgring" "$@" 2>"$dir/err"; }

mkdir -m 700 "$shm/1000.17.0.n1" "$shm/1000.18.0.n1" "$dir/other"
printf -v bad 'bad\033[2J'
mkdir -m 700 "$shm/$bad"
ln -s "$dir/other" "$shm/1000.19.0.n1"
for step in "$shm"/*; do
    "$top_builddir/tests/agent/writers" "$step" 2 100 0 || bail_out "no ring can be made"
done
sgring >"$dir/out"
is "$(grep -F "$shm" "$dir/err")" "" "sgring without an operand reads all rings of the steps" # others may have some of another version
is "$(grep "^$shm/" "$dir/out")" "$(printf '%s\n' "$shm"/1000.{17,18}.0.n1/{0,1}.0.0.ring)" \
    "sgring without an operand prints the rings of all steps on the node, but follows no link and prints no control character"
is "$(sgring --json | grep -c "\"path\":\"$shm/")" 4 "sgring --json without an operand has the same rings"
is "$(SYNCGUARD_DIR=$shm/1000.18.0.n1 sgring | grep -c '\.ring$')" 2 "sgring without an operand prints the one step that SYNCGUARD_DIR names"
is "$(SYNCGUARD_DIR='' sgring | grep -c "^$shm/")" 4 "sgring takes an empty SYNCGUARD_DIR as unset"
done_testing
