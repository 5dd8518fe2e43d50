#!/bin/bash
# install-packages knows what is installed under any of its names, and what to install of several.  The answers of dpkg-query
# and apt-cache are made up here; nothing is installed.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
script=$top_srcdir/tests/cluster/install-packages
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

# check LIST WANT TEXT: what --check reports for the list, "nothing" or the packages to install.
check() {
    local got rc

    printf '%b\n' "$1" >"$dir/list"
    got=$(PATH=$dir:$PATH "$script" --check "$dir/list" 2>&1)
    rc=$?
    case $rc in
    0) got=nothing${got:+, but it prints: $got} ;;
    3) got=$(sed -n 's/^missing packages: //p' <<<"$got") ;;
    *) got="exit status $rc: $got" ;;
    esac
    is "$got" "$2" "install-packages: $3"
}

# It answers any format that asks for these three fields in this order.
cat >"$dir/dpkg-query" <<'END'
#!/bin/bash
cat <<'ANSWER'
installed, gcc, c-compiler
installed, libpmix2t64, libpmix2 (= 5.0.7-1)
installed, tool:amd64, tool-api (= 0), tool-api (= 1), old-tool:any
installed, plain, 
config-files, removed, removed-too
not-installed, never, 
ANSWER
END
cat >"$dir/apt-cache" <<'END'
#!/bin/sh
case $2 in
new-name | first | second | gone) echo "$2:
  Installed: (none)
  Candidate: 1.0-1" ;;
virtual) echo "$2:
  Installed: (none)
  Candidate: (none)" ;;
esac
END
chmod +x "$dir/dpkg-query" "$dir/apt-cache"

check 'plain\ngcc # a compiler' nothing "installed under the listed names"
check 'libpmix2' nothing "provided by an installed package, with its version"
check 'tool-api\nold-tool\nc-compiler' nothing "provided beside others, for any architecture, without a version"
check 'absent | libpmix2t64' nothing "an alternative is installed"
check 'libpmix2t64|absent\nabsent|absent2|plain' nothing "one of several alternatives is installed"
check 'removed | never' 'removed' "packages removed or never installed do not count"
check 'removed-too' 'removed-too' "what a removed package provided does not count"
check 'libpmix' 'libpmix' "a name that begins like an installed one does not count"
check 'first | second' first "of two alternatives to install the first"
check 'virtual | new-name' new-name "an alternative that apt can install, rather than a name without a package"
check 'unheard-of | unheard-of-too\nplain' unheard-of "no alternative that apt knows: the first"
check '# nothing\n\n   # at all' nothing "a list of comments"

lines=$(sed -e 's/#.*//' -e 's/[[:space:]]*$//' -e '/^$/d' "$top_srcdir/packages.txt" |
    grep -vE '^[a-z0-9][a-z0-9.+-]+( \| [a-z0-9][a-z0-9.+-]+)*$')
is "$lines" "" "packages.txt: names and alternatives are well-formed"
done_testing
