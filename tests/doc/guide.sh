#!/bin/bash
# The guides agree with the programs: what they tell to type exists, files of configuration in them are accepted, what they quote is printed, and what
# they name is there. Conventions of the guides: "in quotes" is what a program prints, with ... for what varies; `Key=` is a key of syncguard.conf; a block
# marked syncguard.conf or plugstack.conf is such a file.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
: "${top_builddir:?}"
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
programs=(sgctl sgplan sgtop sgrun sgring syncguardd)

# ---- taking a guide apart ----

# Blocks of code, and what is between backticks: a line each.
code() {
    awk '/^```/ { block = !block; next } block || /^    / { print }' "$1"
    spans "$1" | awk 'BEGIN { RS = "`" } NR % 2 == 0 { gsub(/[ \n]+/, " "); print }'
}
spans() { awk '/^```/ { block = !block; next } !block && !/^    / { print }' "$1"; }
prose() { spans "$1" | awk 'BEGIN { RS = "`"; ORS = " " } NR % 2 { gsub(/[ \n]+/, " "); print }'; }
# Blocks of one kind: block KIND FILE
block() { awk -v begin="\`\`\`$1" '/^```/ { inside = $0 == begin; next } inside { print }' "$2"; }

# ---- what programs know ----

commands() { "$top_builddir/$1" --complete "$1" "${@:2}" '' 2>/dev/null | cut -f1; } # PROGRAM [COMMAND]
help_of() { # PROGRAM [COMMAND [SECOND]]
    if [ $# -eq 1 ]; then
        "$top_builddir/$1" --help
    else
        "$top_builddir/$1" help "${@:2}"
    fi
}
for program in sgctl sgplan; do
    commands $program >"$dir/commands-$program"
done
commands sgctl policy >"$dir/commands-sgctl-policy"
"$top_builddir/sgctl" config | grep -oE '^  [A-Z][A-Za-z]+=|[ (][A-Z][A-Za-z]+=NAME' | tr -d ' (' | cut -d= -f1 | sort -u >"$dir/keys"
# All sources' text, with the parts of divided strings joined.
(cd "$top_srcdir" && cat {agent,ctl,daemon,run,spank,tui,lib/*}/*.[ch]) |
    tr '\n' ' ' | sed -E 's/"[[:space:]]+"//g; s/%%/%/g' >"$dir/sources"

# ---- what holds of each guide ----

# What does not exist of an invocation, which is a program and its arguments: the command, or an option of it.
check_invocation() {
    local program=$1 command='' second='' word

    shift
    for word; do
        [[ $word =~ ^[a-z]+$ && $word != help && ( $program = sgctl || $program = sgplan ) ]] || continue
        if [ -z "$command" ]; then
            command=$word
            grep -qx "$word" "$dir/commands-$program" || echo "$program $word"
        elif [[ -z $second && $command = policy ]]; then
            second=$word
            grep -qx "$word" "$dir/commands-sgctl-policy" || echo "$program $command $word"
        fi
    done
    for word; do
        [[ $program = sgrun && $word != -* ]] && break # what it runs
        [[ $word = --* ]] || continue
        help_of "$program" ${command:+"$command"} ${second:+"$second"} | grep -qE -- "(^|[ ,])${word%%=*}([= ]|\$)" || echo "$program $command $second $word"
    done
}
check_commands() {
    local line words

    code "$1" | grep -oE "(^|[ =/])($(IFS='|'; echo "${programs[*]}"))( [^|#&;<>]*)?" | sort -u | while read -r line; do
        read -ra words <<<"${line#/}"
        check_invocation "${words[@]}"
    done
}
check_quotes() {
    local quote part

    prose "$1" | grep -oE '"[^"]*"' | tr -d '"' | sort -u | while read -r quote; do
        sed 's/ *\.\.\. */\n/g' <<<"$quote" | while read -r part; do
            if [[ $part =~ ^[A-Za-z]+$ ]]; then # a word alone stands anywhere; a column or a check of that name does not
                part="\"$part\""
            fi
            grep -qF -- "$part" "$dir/sources" || echo "$part"
        done
    done
}
check_names() {
    local name

    grep -oE '(^|[^-/.A-Za-z])(lib)?syncguard[a-z_]*(-[a-z]+)*(\.[a-z]+)?' "$1" | grep -oE '(lib)?syncguard.*' | sort -u | while read -r name; do
        grep -qx "Package: $name" "$top_srcdir/debian/control" || [ -x "$top_builddir/$name" ] || [ -e "$top_builddir/.libs/$name" ] ||
            compgen -G "$top_srcdir/doc/$name.[0-9].in" >/dev/null || [ -e "$top_srcdir/daemon/$name.in" ] || echo "$name"
    done
}

check_keys() { code "$1" | grep -oE '(^|[^A-Za-z])[A-Z][a-z]+[A-Za-z]*=' | grep -oE '[A-Za-z]+' | sort -u | comm -23 - "$dir/keys"; }
check_pages() {
    grep -oE '(sg[a-z]+|syncguard[a-z.-]*)\([0-9]\)' "$1" | tr '()' '. ' | sort -u | while read -r page; do
        [ -e "$top_srcdir/doc/$page.in" ] || echo "$page"
    done
}
check_links() {
    grep -oE '\]\([^)#]+' "$1" | cut -c3- | while read -r to; do
        [ -e "$top_srcdir/doc/$to" ] || echo "$to"
    done
}

for guide in getting-started administrators-guide operators-guide; do
    file=$top_srcdir/doc/$guide.md
    [ "$(code "$file" | grep -cE '(sgctl|sgrun) ')" -gt 1 ]; ok $? "$guide: it has commands"
    is "$(check_commands "$file")" "" "$guide: each command of our programs exists, and so does each of its options"
    is "$(check_keys "$file")" "" "$guide: each key is one of syncguard.conf"
    [ "$(prose "$file" | tr -cd '"' | wc -c)" -gt 5 ]; ok $? "$guide: it quotes programs"
    is "$(check_quotes "$file")" "" "$guide: programs print what is quoted"
    is "$(check_names "$file")" "" "$guide: packages, programs and files of ours that it names exist"
    is "$(check_pages "$file")" "" "$guide: each manual page exists"
    is "$(check_links "$file")" "" "$guide: links lead to a file"
done

# ---- other documents that tell what to type ----

for file in "$top_srcdir"/README.md "$top_srcdir"/doc/{overview,pytorch}.md; do
    name=${file##*/}
    [ "$(code "$file" | grep -cE '(sgctl|sgrun) ')" -gt 1 ]; ok $? "$name: it has commands"
    is "$(check_commands "$file")" "" "$name: each command of our programs exists, and so does each of its options"
    is "$(check_pages "$file")" "" "$name: each manual page exists"
done

# ---- getting started ----

file=$top_srcdir/doc/getting-started.md
is "$(tail -n +3 "$file" | awk 'length > 80 || NR > 24')" "" "getting-started: below its title it is no larger than a screen of 80 columns and 24 lines"
[ -x "$top_srcdir/demo" ]; ok $? "getting-started: ./demo can be run"
for option in --seconds --library; do
    is "$("$top_srcdir/demo" $option 2>&1; echo $?)" "demo: option '$option' needs a value; see ./demo --help
2" "getting-started: ./demo $option says that the option's value is missing, and exits with 2"
done

# ---- the administrator's guide ----

file=$top_srcdir/doc/administrators-guide.md
{
    printf 'Include %s\n' "$(realpath "$top_srcdir")"/policies/*.conf
    block syncguard.conf "$file"
} >"$dir/syncguard.conf"
[ "$(block syncguard.conf "$file" | wc -l)" -gt 5 ]; ok $? "administrators-guide: it has an example of syncguard.conf"
is "$("$top_builddir/sgctl" config check "$dir/syncguard.conf" 2>&1 | grep -v ' is fine: ')" "" "administrators-guide: sgctl config check accepts it"
arguments=$(grep -oE 'value_of\(arg, "[a-z]+"' "$top_srcdir/spank/args.c" | cut -d'"' -f2 | sort -u)
unknown=$(block plugstack.conf "$file" | grep -oE ' [a-z]+=' | tr -d ' =' | sort -u | comm -23 - <(echo "$arguments"))
is "$unknown" "" "administrators-guide: the plugin knows its arguments in plugstack.conf"
port=$(sed -n 's/^#define CONFIG_DEFAULT_PORT *//p' "$top_srcdir/lib/common/config.h")
ports=$(grep -oE '(add-port=|dport |`Port=`, )[0-9]+' "$file" | grep -oE '[0-9]+' | sort -u)
is "$ports" "$port" "administrators-guide: firewalls are opened for the default port"
databases=$(grep -ohE '\.file = "[a-z]+\.sqlite' "$top_srcdir"/lib/{history,actions}/*.c | cut -d'"' -f2 | sort -u)
is "$(grep -oE '`[a-z]+\.sqlite' "$file" | tr -d '`' | sort -u)" "$databases" "administrators-guide: it names each database of the controller"
parts=$(grep -oE 'parts? `[a-z]+`(, `[a-z]+`)*' "$file" | grep -oE '`[a-z]+`' | tr -d '`' | sort -u)
[ -n "$parts" ]; ok $? "administrators-guide: it refers to measurements"
for part in $parts; do
    grep -q "^  \"$part\": {\$" "$top_srcdir/doc/bench.json"; ok $? "administrators-guide: doc/bench.json has the part $part"
done

# ---- the operator's guide ----

guide=$top_srcdir/doc/operators-guide.md
classes=$(sed -n 's/^    \[FINDING_[A-Z]*\] = "\([a-z]*\)",$/\1/p' "$top_srcdir/lib/detect/finding.c" | sort)
ok "$([ -n "$classes" ]; echo $?)" "there are classes of findings"
is "$(sed -n 's/^### //p' "$guide" | sort)" "$classes" "operators-guide: each has a section, and nothing else has"
for section in $classes; do
    text=$(sed -n "/^### $section\$/,/^##/p" "$guide" | tr '\n' ' ')
    like "$text" '- \*Confirm\*:.*- \*Do\*:' "operators-guide: $section: how to confirm it, and what to do"
done
missing=$(grep -oE '`sgctl job 123 --full`, "[^"]*"' "$guide" | grep -oE '"[^"]*"' | tr -d '"' | while read -r part; do
    grep -q "^ *$part" "$top_srcdir/tests/ctl/job-straggler.txt" || echo "$part"
done)
is "$missing" "" "operators-guide: each part of a report that it names is in a report"
is "$(sed -n '/^\$ sgctl job/,/^```/p' "$guide" | sed '1d;$d')" "$(cat "$top_srcdir/tests/ctl/brief-straggler-80.txt")" \
    "operators-guide: the short report that it shows is what sgctl prints"
keys=$(grep -oE 'keys? `[a-zA-Z0-9]`' "$guide" | grep -oE '`.`' | tr -d '`' | sort -u)
for key in $keys; do
    grep -qE "(^|[^a-zA-Z0-9])$key( |$)" "$top_srcdir/tests/tui/expected/help-80x24"; ok $? "operators-guide: sgtop's help has the key $key"
done
done_testing
