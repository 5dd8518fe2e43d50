#!/bin/bash
# Manual pages: every program has one, they are well-formed, and say what the programs' own tables say.
. "${top_srcdir:=$PWD}/tests/tap.sh"
page() { find "$top_builddir/doc" "$top_srcdir"/{doc,tui,ring,agent,daemon,spank} -name "$1" 2>/dev/null | head -n 1; }

sgctl=$top_builddir/sgctl
plain() { sed 's/\\-/-/g' "$1"; }

for name in syncguard.3 sgctl.1 sgplan.1 sgring.1 sgtop.1 syncguard.7 syncguard.conf.5 syncguardd.8 syncguard-agent.8 sgplan-scenario.5; do
    file=$(page $name)
    if [ $name = sgtop.1 ] && [ -z "$file" ] && [ ! -e "$top_builddir/sgtop" ]; then
        skip "$name exists" "sgtop is not built here"
        continue
    fi
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

# sgctl.1: the table of commands went in whole.
missing=''
for word in $("$sgctl" help --words); do
    word=${word/#--/-} # "Fl \-conf" is --conf
    plain "$(page sgctl.1)" | grep -qE "^\.It (Cm|Fl [a-zA-Z] , Fl|Fl) ${word%=}( |\$)" || missing+=" $word"
done
[ -z "$missing" ]; ok $? "sgctl.1 documents every command and option${missing:+, but not$missing}"

# sgplan.1: every question and option.
missing=''
sgplan=$top_builddir/sgplan
for question in $("$sgplan" help --words | grep -v '^-'); do
    plain "$(page sgplan.1)" | grep -qE "^\.Ss $question( |\$)" || missing+=" $question"
    for word in $("$sgplan" help --words "$question" | grep '^-' | sed 's/=.*//' | sort -u); do
        plain "$(page sgplan.1)" | grep -qE "^\.It Fl ${word/#--/-}( |\$)" || missing+=" $question:$word"
    done
done
[ -z "$missing" ]; ok $? "sgplan.1 documents every question and option${missing:+, but not$missing}"

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
[ -n "$key" ] && [ -z "$missing" ]; ok $? "syncguard.conf.5 documents every key and default${missing:+, but not$missing}"

# sgctl.1 documents what the protocol promises for a job, nodes and status.
missing=''
for key in $(sed -n '/^### job /,/^VIEW/{s/^| \(`[^|]*\) |.*/\1/p}' "$top_srcdir/doc/protocol.md" | grep -oE '[a-z_0-9]+'); do
    grep -qw -- "$key" "$(page sgctl.1)" || missing+=" $key"
done
[ -z "$missing" ]; ok $? "sgctl.1 documents every key of a job's JSON${missing:+, but not$missing}"
done_testing
