#!/bin/bash
# sgtop in a real terminal (tmux) against tests/tui/fakecontroller: what a person does with it.
# TAP; a case whose tool is missing is skipped by name.
set -u
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
SGTOP=$top_builddir/sgtop FAKE=$top_builddir/tests/tui/fakecontroller COST=$top_builddir/tests/tui/cost
DIR=$(mktemp -d) || exit 99
export LC_ALL=C.UTF-8
FAKE_PID= SERVER=0
echo 'set -g default-terminal tmux-256color' >"$DIR/tmux.conf"


tm() { tmux -S "$DIR/tmux$SERVER" -f "$DIR/tmux.conf" "$@" 9>&-; }

# What is on the screen; with -e in colour.
screen() { tm capture-pane -p "$@" -t t; }

on_screen() { screen | grep -qF -- "$1"; }
off_screen() { ! on_screen "$1"; }

# An assertion: the screen shows a text, sooner or later.
shows() { # TEXT NAME
    wait_for 120 on_screen "$1"
    ok $? "$2" || screen | sed 's/^/#   /'
}

# What stty says after sgtop's end; it says so a moment after the status.
restored() {
    wait_for 120 on_screen ' icanon' && wait_for 120 on_screen ' echo '
    ok $? "sgtop leaves the terminal with echo and line editing on" || screen | sed 's/^/#   /'
}

hides() { # TEXT NAME
    wait_for 120 off_screen "$1"
    ok $? "$2" || screen | sed 's/^/#   /'
}

keys() { tm send-keys -t t "$@"; }

# One report of a mouse button as this terminal makes it: 0 press, 3 release, 64 and 65 the wheel.
report() { # BUTTON COLUMN ROW
    # shellcheck disable=SC2059
    printf "\033[M\\$(printf %o $((32 + $1)))\\$(printf %o $((32 + $2)))\\$(printf %o $((32 + $3)))"
}
mouse() { keys -l "$(report "$@")"; }

# A busy machine may deliver a click's bytes too far apart to be one: then it is made again.
click_shows() { # COLUMN ROW TEXT NAME
    for _ in {1..10}; do
        mouse 0 "$1" "$2"
        mouse 3 "$1" "$2"
        wait_for 12 on_screen "$3" && break
    done
    shows "$3" "$4"
}

address_or_end() { [ -s "$DIR/address" ] || ! kill -0 "$FAKE_PID" 2>/dev/null; }

start_fake() { # ARGUMENT...
    mkfifo "$DIR/in" 2>/dev/null
    rm -f "$DIR/address" # of the one before
    "$FAKE" "$@" <"$DIR/in" >"$DIR/address" 2>"$DIR/fake.err" &
    FAKE_PID=$!
    exec 9>"$DIR/in" # it ends when this end of its input is closed
    wait_for 120 address_or_end
    read -r HOSTS SOCKET <"$DIR/address"
}

stop_fake() {
    [ -n "$FAKE_PID" ] || return 0
    exec 9>&-
    wait "$FAKE_PID" 2>/dev/null
    FAKE_PID=
}

close_terminal() {
    [ -S "$DIR/tmux$SERVER" ] && tm kill-server 2>/dev/null
}

finish() {
    close_terminal
    stop_fake
    rm -rf "$DIR"
}
trap finish EXIT
trap 'exit 1' INT TERM

# A new terminal that runs sgtop and then tells its status and the terminal's settings. bash: unlike dash it lets a program that
# catches Ctrl-C decide.
open_terminal() { # ARGUMENT...
    close_terminal
    SERVER=$((SERVER + 1)) # a name of its own: the server before may still be on its way out
    tm new-session -d -s t -x 80 -y 24 bash -c "${ENV:-env} $SGTOP $* ; echo status \$?; stty -a; exec sleep 1000000"
}

if ! command -v munged >/dev/null && [ ! -x /usr/sbin/munged ]; then
    skip_all "munged is missing: apt-get install munge"
fi
start_fake --at 20 --frozen
if [ -z "${HOSTS:-}" ]; then
    sed 's/^/# /' "$DIR/fake.err"
    skip_all "the test's munged does not start"
fi
AT="--controller $HOSTS --munge-socket $SOCKET"

# ---- without a terminal ----
# shellcheck disable=SC2086
{
    "$SGTOP" $AT >"$DIR/report" 2>&1 </dev/null
    ok $? "sgtop into a pipe prints a report and exits with 0"
    grep -q 'rank 9 on node11 is between calls' "$DIR/report"
    ok $? "sgtop's report names whom everybody waits for"
    [ "$(grep -c 'LATENESS\|NAMED' "$DIR/report")" = 2 ]
    ok $? "sgtop's report has a table of ranks and one of nodes"
    "$SGTOP" $AT --dump --size=80x24 4711 >"$DIR/report"
    [ "$(wc -l <"$DIR/report")" = 24 ]
    ok $? "sgtop --dump --size=80x24 prints 24 lines"
    "$SGTOP" $AT --json 4711 | python3 -c 'import json,sys; j=json.load(sys.stdin); sys.exit(len(j["rank_table"]) != 64)'
    ok $? "sgtop --json prints the answer with all 64 ranks"
    LC_ALL=C "$SGTOP" $AT 4711 | LC_ALL=C grep -q '[^ -~]'
    [ $? = 1 ]
    ok $? "sgtop in a locale without UTF-8 prints nothing but ASCII"
    "$SGTOP" $AT 99 >/dev/null 2>"$DIR/err"
    [ $? = 1 ] && grep -q 'no guarded job has this id' "$DIR/err"
    ok $? "sgtop of an unknown job exits with 1 and a reason"
    "$SGTOP" --controller 127.0.0.1:1 >/dev/null 2>"$DIR/err"
    [ $? = 1 ] && grep -q '127.0.0.1:1: Connection refused' "$DIR/err"
    ok $? "sgtop without a controller exits with 1 and a reason"
    "$SGTOP" --nonsense >/dev/null 2>"$DIR/err"
    [ $? = 2 ] && grep -q "unknown option '--nonsense'" "$DIR/err" && [ "$(wc -l <"$DIR/err")" = 2 ]
    ok $? "sgtop --nonsense exits with 2, the error and a line on how to get help"

    # ---- a trace ----
    awk 'BEGIN {
        printf "{\"format\":\"syncguard-trace\",\"version\":1,\"job\":\"7.0\",\"ranks\":["
        for (r = 0; r < 8; r++) printf "%s{\"rank\":%d,\"node\":\"n%d\"}", r ? "," : "", r, r / 2
        print "]}"
        for (s = 0; s < 300; s++) {
            for (last = r = 0; r < 8; r++) {
                t0[r] = now + (80 + (r * 7919 + s * 104729) % 97 / 60) * (r == 5 && s > 100 ? 1.5 : 1) * 1e6
                if (t0[r] > last) last = t0[r]
            }
            now = last + 1e5
            for (r = 0; r < 8; r++)
                printf "{\"r\":%d,\"c\":\"world\",\"s\":%d,\"o\":\"allreduce\",\"b\":8,\"t0\":%.0f,\"t1\":%.0f}\n", r, s, t0[r], now
        }
    }' >"$DIR/slow.jsonl"
    "$SGTOP" --replay "$DIR/slow.jsonl" >"$DIR/report" </dev/null
    ok $? "sgtop --replay into a pipe exits with 0"
    grep -q 'found   r5 is slow (straggler)' "$DIR/report" && grep -q 'critical path' "$DIR/report"
    ok $? "sgtop --replay's report has the straggler and the critical path"
    grep -q 'on n2 since [0-9]* s of the run' "$DIR/report"
    ok $? "sgtop --replay's report tells times by the trace's own clock"
    "$SGTOP" --replay - <"$DIR/slow.jsonl" | sed 1d | cmp -s - <(sed 1d "$DIR/report")
    ok $? "sgtop --replay - reports the same of a trace on standard input"
    [ "$("$top_builddir/sgctl" replay --json "$DIR/slow.jsonl" | python3 -c 'import json,sys; print(json.load(sys.stdin)["sentence"])')" = \
        "$("$top_builddir/sgctl" analyze --json "$DIR/slow.jsonl" | python3 -c 'import json,sys; print(json.load(sys.stdin)["sentence"])')" ]
    ok $? "sgctl replay --json and sgctl analyze --json give the same sentence"
    "$SGTOP" --replay "$DIR/slow.jsonl" --json </dev/null | python3 -c 'import json,sys; j=json.load(sys.stdin); sys.exit(j["id"] != "7.0" or len(j["rank_table"]) != 8)'
    ok $? "sgtop --replay --json prints job and ranks as a controller would"
    "$SGTOP" --replay "$DIR/none" >/dev/null 2>"$DIR/err" </dev/null
    [ $? = 1 ] && grep -q 'none: No such file' "$DIR/err"
    ok $? "sgtop --replay of a missing file exits with 1 and a reason"

    # ---- what it costs: figures here (make bench measures them), and what does not depend on the machine ----
    cost=$("$COST" 2 80x24 "$SGTOP" $AT 4711)
    echo "# $cost"
    python3 -c 'import json,sys; c=json.loads(sys.argv[1]); sys.exit(not (0 <= c["first_paint_s"] and c["restored"] and c["status"] == 0))' "$cost"
    ok $? "sgtop paints, exits with 0 and restores the terminal"
    cost=$("$COST" 1 80x24 "$SGTOP" --controller 127.0.0.1:1)
    echo "# without a controller: $cost"
    python3 -c 'import json,sys; c=json.loads(sys.argv[1]); sys.exit(not (0 <= c["first_paint_s"] and c["restored"] and c["status"] == 0))' "$cost"
    ok $? "without a controller sgtop paints, exits with 0 and restores the terminal"
    # The picture is complete after a second, or later: then the next try sees it stand still. One that is painted again and again never does.
    silent() { [ "$("$COST" 2 80x24 "$SGTOP" $AT 4711 | python3 -c 'import json,sys; print(json.load(sys.stdin)["bytes_per_s"])')" = 0 ]; }
    wait_for 60 silent
    ok $? "sgtop writes nothing to the terminal when nothing changes"
}

if ! command -v tmux >/dev/null; then
    skip "sgtop in a terminal" "tmux is missing: apt-get install tmux"
    done_testing
fi

# ---- a person at the keys ----
open_terminal "$AT"
shows "4711.0" "sgtop starts with the list of jobs"
shows "rank 9 on node11 is between calls" "the list shows the sentence of the job under the cursor"
keys Down
shows "node05 is slow" "Down shows the sentence of the next job"
keys Enter
shows "RANK   NODE" "Enter opens the job"
shows "node05!" "the screen of a job marks the culprit's node"
keys '?'
shows "this help" "? opens the help"
keys '?'
hides "this help" "? closes the help again"
keys v
shows "evidence: what was found" "v shows the evidence"
keys Down
shows " 2 to 19 of " "Down scrolls the evidence"
keys c
shows "collectives wait for the same rank" "c shows the critical path"
keys q
shows "RANK   NODE" "q goes back from the critical path to the ranks"
keys / node03
shows "/node03" "the filter is typed at the bottom"
shows "r24 " "the filter /node03 shows ranks of node03"
hides "r41 " "the filter /node03 hides ranks of other nodes"
keys Enter
shows "filter: node03" "Enter keeps the filter"
keys Escape
shows "r41 " "Esc drops the filter"
keys s
shows "COMPUT▼" "s sorts by the next column"
keys Space
shows "FROZEN" "Space freezes the screen"
keys End
shows "64/64" "a frozen picture can be scrolled to its end"
keys Space
hides "FROZEN" "Space again unfreezes the screen"
keys Home
shows " 1/64" "Home goes back to the first row"
mouse 65 20 12
shows " 4/64" "the mouse wheel scrolls"
click_shows 20 13 " 5/64" "a click chooses a row"
click_shows 4 11 "RANK▼" "a click on a title sorts"
click_shows 33 1 "LEMON" "a click on a screen's name shows it"
keys 1
shows "CULPRIT" "1 shows the list of jobs"
keys m
shows "1 HUNG  1 SLOW" "m shows the jobs as cells, and how many there are of each kind"
keys o
shows "severity, worst first" "o shows what can be sorted by"
keys Down Enter
hides "severity, worst first" "Enter closes the menu"
keys m
shows "JOB▼" "m leads back to the list, in the order that was chosen"
tm resize-window -t t -x 60 -y 15
shows "sgtop needs 60x16, this is 60x15" "a terminal of 60x15 is reported as too small"
tm resize-window -t t -x 60 -y 16
shows "CULPRIT" "60x16 is enough"
tm resize-window -t t -x 120 -y 40
shows "SAMP/S" "a terminal 120 wide shows more columns"
tall() { screen | sed -n 40p | grep -q '? help'; }
wait_for 120 tall
ok $? "a terminal 40 high is used to its last line"
keys q
shows "status 0" "q exits with 0"
restored

# ---- colours ----
ENV= open_terminal "$AT" 4711
shows "node05!" "sgtop JOB starts with that job"
screen -e | grep -q '38;5;196'
ok $? "the culprit is shown in red"
ENV="env NO_COLOR=1" open_terminal "$AT" 4711
shows "node05!" "sgtop starts with NO_COLOR set"
screen -e | grep -q '[34]8;5;\|\[3[1-7]m'
[ $? = 1 ]
ok $? "with NO_COLOR set sgtop writes no colours"
ENV="env LC_ALL=C" open_terminal "$AT" 4711 --mono
shows "LATEv" "sgtop --mono in a locale without UTF-8 starts"
screen | LC_ALL=C grep -q '[^ -~]'
[ $? = 1 ]
ok $? "in a locale without UTF-8 sgtop draws nothing but ASCII"
ENV="env TERM=no-such-terminal" open_terminal "$AT"
shows "TERM=no-such-terminal is not known" "an unknown TERM is reported"
ENV="env TERM=dumb" open_terminal "$AT"
shows "status 0" "on a terminal that cannot place its cursor sgtop ends with 0"
screen -S - | grep -q 'rank 9 on node11 is between calls'
ok $? "on a terminal that cannot place its cursor sgtop prints its report"

# ---- signals ----
for signal in TERM HUP QUIT; do
    ENV= open_terminal "$AT"
    shows "4711.0" "sgtop runs, before it gets SIG$signal"
    pid=$(tm list-panes -t t -F '#{pane_pid}')
    kill -"$signal" "$(ps -o pid= --ppid "$pid" | head -1)"
    shows "status $((128 + $(kill -l $signal)))" "SIG$signal ends sgtop with status $((128 + $(kill -l $signal)))"
    restored
done
ENV= open_terminal "$AT"
shows "4711.0" "sgtop runs, before Ctrl-Z"
pid=$(ps -o pid= --ppid "$(tm list-panes -t t -F '#{pane_pid}')" | head -1)
keys C-z
stopped() { [ "$(ps -o state= -p $pid)" = T ]; }
wait_for 120 stopped
ok $? "Ctrl-Z stops sgtop"
kill -CONT $pid
shows "4711.0" "after SIGCONT sgtop paints again"
# The old picture may still stand there, and what is typed before it listens again is lost; a second Ctrl-C would end what comes after it.
listens() { [ "$(ps -o state= -p $pid)" != T ] && keys '?' && wait_for 10 on_screen "this help"; }
wait_for 120 listens
ok $? "after SIGCONT sgtop listens to the keys again"
keys C-c
shows "status 0" "Ctrl-C exits with 0"

# ---- a controller that comes and goes ----
ENV= open_terminal "$AT"
shows "4711.0" "sgtop shows a job of the running controller"
stop_fake
shows "STALE" "when the controller is gone the screen is marked STALE"
shows "connection lost" "when the controller is gone the screen gives the reason"
screen | grep -q '4711.0'
ok $? "when the controller is gone the last picture stays"
open_terminal "--controller 127.0.0.1:1 --munge-socket $SOCKET" # no port that another may have got meanwhile
shows "Connection refused" "sgtop started without a controller shows the reason"
shows "What to check" "sgtop started without a controller lists what to check"
start_fake --at 20
open_terminal "--controller $HOSTS --munge-socket $SOCKET"
shows "4711.0" "sgtop shows jobs of a controller that was started again"

# ---- a trace ----
# shellcheck disable=SC2086
keys Q
shows "status 0" "Q exits with 0"
# At a quarter of the speed, so that a machine that takes its time does not see the end before the pause.
ENV= open_terminal --replay "$DIR/slow.jsonl" --from 5 --speed 0.25
shows "replay ×0.25  " "sgtop --replay --from 5 --speed 0.25 plays a trace"
keys Space
shows "paused ×0.25  " "Space pauses the replay"
before=$(screen | head -n 1)
at=$(sed -n 's/.*paused ×0.25  \([0-9]*\)\..*/\1/p' <<<"$before")
echo "# paused at $at s"
[ "${at:-0}" -ge 5 ] && [ "$at" -lt 14 ]
ok $? "sgtop --replay --from 5 plays a trace from 5 s"
sleep 0.4
[ "$(screen | head -n 1)" = "$before" ]
ok $? "a paused replay does not change its clock"
keys +
shows "paused ×0.5 " "+ doubles the speed of the replay"
keys Right
shows "paused ×0.5  $((at + 10))." "Right moves the replay on by 10 s"
keys Left
shows "paused ×0.5  $at." "Left moves the replay back by 10 s"
keys n
shows "r5 " "n moves the replay on by a step"
keys End
shows "ENDED" "End moves the replay to its end"
shows " of " "at its end a replay shows its duration"
keys v
shows "evidence: what was found" "v shows the evidence of a replayed job"
keys v
keys Home
shows "paused ×0.5  0 s" "Home moves the replay to its beginning"
keys Space
hides "paused" "Space again resumes the replay"
keys '?'
shows "pause the replay" "? lists the keys of a replay"
keys '?'
keys 3
shows "LATE" "3 shows the nodes of a trace"
keys q
shows "CULPRIT" "q goes back from the nodes to the list of the trace's job"
keys q
shows "status 0" "q exits with 0"

done_testing
