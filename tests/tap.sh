# tap.sh - what every test in shell begins with (bash): Test Anything Protocol; a failed line says what was expected and what came.
#     . "${top_srcdir:-.}/tests/tap.sh"
#     ok STATUS WHAT                 0 is good:  grep -q x file; ok $? "the file has an x"
#     is GOT EXPECTED WHAT           both are the same text
#     like GOT PATTERN WHAT          an extended regular expression matches a line of GOT
#     skip WHAT REASON               an assertion that cannot be made here
#     skip_all REASON                none can: ends the test
#     bail_out REASON                nothing works without this: ends the test as failed
#     wait_for SECONDS COMMAND...    runs the command until it succeeds, for SECONDS at most; its status
#     show FILE...                   their first lines as remarks, after a failure
#     done_testing                   closes the account: the last line of the script
# WHAT is a whole statement that is understood by itself: "sgctl job 7: a job that is unknown exits with 1".
# ok, is and like return their outcome:  is "$(cat out)" yes "it answers yes" || show err
# A script may define on_failure, which prints more after each failure.
# shellcheck shell=bash
: "${top_srcdir:=$PWD}" "${top_builddir:=$PWD}"
tap_run=0 tap_failed=0

# Prints a result: STATUS TEXT
tap_line() {
    tap_run=$((tap_run + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tap_run - $2"
    else
        tap_failed=$((tap_failed + 1))
        echo "not ok $tap_run - $2"
        ! declare -F on_failure >/dev/null || on_failure
    fi
    return "$1"
}

# Prints a result with what was expected and what came: on its line where that is short. STATUS WHAT EXPECTED GOT
tap_compared() {
    if [ "$1" -eq 0 ]; then
        tap_line 0 "$2"
    elif [[ ${#3} -le 100 && ${#4} -le 100 && $3$4 != *$'\n'* ]]; then
        tap_line 1 "$2: expected $3, got $4"
    else
        tap_line 1 "$2"
        sed 's/^/#   expected: /' <<<"$3"
        sed 's/^/#   got:      /' <<<"$4"
        return 1
    fi
}

ok() { tap_line "$1" "$2"; }

is() {
    [ "$1" = "$2" ]
    tap_compared $? "$3" "'$2'" "'$1'"
}

like() {
    grep -qE -- "$2" <<<"$1"
    tap_compared $? "$3" "/$2/" "'$1'"
}

skip() { tap_line 0 "$1 # SKIP $2"; }

skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}

bail_out() {
    echo "Bail out! $1"
    exit 1
}

wait_for() {
    local end=$((SECONDS + $1))

    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep .1
    done
}

show() { head -qn 20 -- "$@" | sed 's/^/#   /'; }

done_testing() {
    echo "1..$tap_run"
    [ $tap_failed -eq 0 ]
    exit
}
