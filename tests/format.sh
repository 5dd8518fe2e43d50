#!/bin/bash
# Do scripts end where they miss what they need?  And is every C file as clang-format leaves it?  Releases differ in what they leave, so
# that one of them decides.
# shellcheck source=tests/tap.sh
. "${top_srcdir:-.}/tests/tap.sh" || exit 99

RELEASE=14

cd "$top_srcdir" || exit 99
# Without its prelude a script has no folder of its own, and what it removes is somebody else's.
is "$(grep -rnE '^ *\. "\$\{?top_srcdir' tests | grep -v '|| exit 99$')" "" "a script that cannot read its prelude ends there"
# shellcheck disable=SC2016
is "$(grep -rnE 'rm -[a-z]*r[a-z]* [^|;&]*"\$[A-Za-z_]+"[^ ]*/\*( |$)' tests demo check)" "" 'none removes all below a variable that may be empty: "${dir:?}"/*'

has=$(clang-format --version 2>/dev/null | sed -n 's/.*version \([0-9]*\)\..*/\1/p')
if [ "$has" != "$RELEASE" ]; then
    skip 1 "clang-format $RELEASE is not installed"
    done_testing
    exit
fi
mapfile -t files < <(find . -path './.*' -prune -o -path './build*' -prune -o \( -name '*.c' -o -name '*.h' \) -print | sort)
[ "${#files[@]}" -gt 500 ]
ok $? "there are C files"
wrong=$(printf '%s\0' "${files[@]}" | xargs -0 -n 50 -P 2 clang-format --dry-run -Werror 2>&1 | sed -n 's/^\([^:]*\):[0-9]*:.*error:.*/\1/p' | sort -u)
is "$wrong" "" "clang-format -i leaves every C file as it is"
done_testing
