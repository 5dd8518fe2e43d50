# record.sh - which process is which: files DIR/run/NAME of "PID STARTTIME".  Sourced.
# The time a process started (clock ticks since boot) tells it from a later one of the same number.

stat_pid() { # LINE of /proc/PID/stat
    echo "${1%% *}"
}

stat_start() { # LINE; the name, in parentheses, may hold blanks
    local rest=${1##*) }

    # shellcheck disable=SC2086
    set -- $rest
    echo "${20}"
}

start_of() { # PID; nothing when there is none, or a zombie
    local stat rest

    { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
    rest=${stat##*) }
    [ "${rest%% *}" != Z ] && stat_start "$stat"
}

record_as() { # NAME PID STARTTIME; whoever waits for the file finds it whole
    echo "$2 $3" >"$DIR/run/.$1.new"
    mv "$DIR/run/.$1.new" "$DIR/run/$1"
}

record() { # NAME PID
    local start

    start=$(start_of "$2") || start=0
    record_as "$1" "$2" "$start"
}

recorded() { # NAME: prints its pid when it lives
    local pid start

    { read -r pid start <"$DIR/run/$1"; } 2>/dev/null || return 1
    [ "$(start_of "$pid")" = "$start" ] && echo "$pid"
}

gone() { # NAME
    ! recorded "$1" >/dev/null
}

wait_until() { # SECONDS COMMAND...
    local end=$((SECONDS + $1))

    shift
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.02
    done
}
