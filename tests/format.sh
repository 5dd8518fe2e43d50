#!/bin/bash
# Is every C file as clang-format leaves it?  Releases differ in what they leave, so that one of them decides.
# shellcheck source=tests/tap.sh
. "${top_srcdir:-.}/tests/tap.sh"

RELEASE=14

has=$(clang-format --version 2>/dev/null | sed -n 's/.*version \([0-9]*\)\..*/\1/p')
if [ "$has" != "$RELEASE" ]; then
    skip_all "clang-format $RELEASE is not installed"
fi
cd "$top_srcdir" || exit 1
mapfile -t files < <(find . -path './.*' -prune -o -path './build*' -prune -o \( -name '*.c' -o -name '*.h' \) -print | sort)
[ "${#files[@]}" -gt 500 ]
ok $? "there are C files"
wrong=$(printf '%s\0' "${files[@]}" | xargs -0 -n 50 -P 2 clang-format --dry-run -Werror 2>&1 | sed -n 's/^\([^:]*\):[0-9]*:.*error:.*/\1/p' | sort -u)
is "$wrong" "" "clang-format -i leaves every C file as it is"
done_testing
