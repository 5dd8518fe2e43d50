#!/bin/bash
# Does the tarball have every file that git has? A header that no list names is found in a clone, and missing only where somebody builds from the tarball.
# shellcheck source=tests/tap.sh
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99

[ -e "$top_srcdir/.git" ] && command -v git >/dev/null || skip_all "not a clone"
lists=$(mktemp -d) || exit 99
trap 'rm -rf "$lists"' EXIT
# A make that is not the one that runs this test: its flags are not for it.
env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$top_builddir" --no-print-directory dist-list >"$lists/words" 2>"$lists/errors"
ok $? "make dist-list succeeds" || show "$lists/errors"
tr -s ' ' '\n' <"$lists/words" | sed "s:^$top_srcdir/::" | sort -u >"$lists/packed"
# Removed in the work tree, but not yet in the index: nobody's fault.
git -c safe.directory='*' -C "$top_srcdir" ls-files | while read -r file; do
    [ ! -e "$top_srcdir/$file" ] || echo "$file"
done | sort >"$lists/tracked"
[ "$(wc -l <"$lists/tracked")" -gt 1000 ]
ok $? "git lists the tree's files"
# What git itself is told is of no use without it.
is "$(comm -13 "$lists/packed" "$lists/tracked" | grep -vx '\.gitignore')" "" "every file that git has is in the tarball"
done_testing
