#!/bin/bash
# Manual pages: every program has one, they are well-formed, and they agree with the tables and reports of the programs.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
page() { find "$top_builddir/doc" "$top_srcdir/doc" -name "$1" 2>/dev/null | head -n 1; }

sgctl=$top_builddir/sgctl
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
plain() { sed 's/\\-/-/g' "$1"; }

for name in syncguard.3 sgctl.1 sgplan.1 sgring.1 sgrun.1 sgtop.1 syncguard.7 syncguard.conf.5 syncguardd.8 syncguard-agent.8 syncguard-credential.8 sgplan-scenario.5; do
    file=$(page $name)
    [ -n "$file" ]; ok $? "$name exists"
    [ -n "$file" ] || continue
    ! grep -n '@[a-z]*@' "$file" | sed 's/^/# /' | grep .; ok $? "$name: no placeholder is left unfilled"
    if command -v mandoc >/dev/null; then
        ! mandoc -Tlint -Wwarning "$file" 2>&1 | sed 's/^/# /' | grep .
        ok $? "$name: mandoc reports no warning"
    elif command -v groff >/dev/null; then
        ! groff -man -ww -z "$file" 2>&1 | sed 's/^/# /' | grep .
        ok $? "$name: groff reports no warning"
    else
        skip "$name is well-formed" "neither mandoc nor groff is installed"
    fi
done

# sgtop.1 has much to say of its screens: behind what it is, and in parts that a terminal has room for.
if command -v mandoc >/dev/null && command -v col >/dev/null; then
    mandoc -Tascii "$(page sgtop.1)" | col -b >"$dir/sgtop"
    is "$(awk '/^DESCRIPTION/ { on = 1; next } on && /^[A-Z]/ { exit } on { n++ } END { print n <= 22 }' "$dir/sgtop")" 1 "sgtop.1: its description fits on a screen of 24 lines"
    is "$(awk '/^KEYS/ { exit } NF { if (++n == 23) print; next } { n = 0 }' "$dir/sgtop")" "" "sgtop.1: no paragraph is longer than 22 lines"
else
    skip "sgtop.1: its description fits on a screen of 24 lines" "mandoc or col is not installed"
fi

# Options of every program: what --help lists stands in its manual page, and nothing else does.
options_of_page() { # options_of_page PAGE: "--name", one a line
    plain "$1" | sed -n 's/^\.It Fl \([a-zA-Z] , Fl \)\{0,1\}-\([a-z-]*\).*/--\2/p' | sort -u
}
options_of_help() { grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u; }
for name in sgctl.1 sgplan.1 sgring.1 sgrun.1 sgtop.1 syncguardd.8 syncguard-agent.8 syncguard-credential.8; do
    program=$top_builddir/${name%.*}
    {
        "$program" --help
        for command in $("$program" --complete "${name%.*}" '' | cut -f1); do
            "$program" help "$command" 2>/dev/null
        done
        "$program" --complete "${name%.*}" policy '' 2>/dev/null | cut -f1 | while read -r second; do
            "$program" help policy "$second" 2>/dev/null
        done
    } | options_of_help >"$dir/help"
    options_of_page "$(page $name)" >"$dir/page"
    difference=$(diff "$dir/help" "$dir/page" | grep '^[<>]' | tr '\n' ' ')
    [ -s "$dir/help" ] && [ -z "$difference" ]; ok $? "$name: options of --help (<) and of the page (>) are the same" || echo "# $difference"
done

# Commands of the two programs that have some.
for name in sgctl.1 sgplan.1; do
    missing=''
    for command in $("$top_builddir/${name%.*}" --complete "${name%.*}" '' | cut -f1); do
        plain "$(page $name)" | grep -qE "^\.Ss $command( |\$)" || missing+=" $command"
    done
    [ -z "$missing" ]; ok $? "$name has every command" || echo "# not$missing"
done

# syncguard.conf.5: every key, and its default.
missing='' key=''
while IFS= read -r line; do
    case $line in
        '  '[A-Z]*=) key=${line// /}
            plain "$(page syncguard.conf.5)" | grep -q "^\.It Cm $key" || missing+=" $key" ;;
        *'; default '*) value=${line##*default }
            plain "$(page syncguard.conf.5)" | sed -n "/^\.It Cm $key/,/^\.It Cm/p" | grep -qF -- "$value" ||
                missing+=" $key($value)" ;;
    esac
done < <("$sgctl" config)
[ -n "$key" ] && [ -z "$missing" ]; ok $? "syncguard.conf.5 documents every key and default" || echo "# not$missing"

# sgctl.1 documents every key that a job's report has: rows of the tables in lib/report, and what else is put there.
# The question about strategies is not an answer.
missing='' keys=$(cd "$top_srcdir/lib/report" && {
    grep -ohE '\{ "[a-z_0-9.]+", (FIELD|PART|ROWS)' report*.c
    grep -ohE 'put_[a-z]+\((o|row|inside|item|list), "[a-z_0-9]+"' report*.c
} | grep -oE '"[^"]+"' | tr -d '"' | tr . '\n' | grep -E '^..' | sort -u)
for key in $keys; do
    grep -qw -- "$key" "$(page sgctl.1)" || missing+=" $key"
done
[ "$(wc -w <<<"$keys")" -gt 400 ]; ok $? "more than 400 keys of a job's report are found in the sources"
[ -z "$missing" ]; ok $? "sgctl.1 documents every key of a job's JSON" || echo "# not$missing"
done_testing
