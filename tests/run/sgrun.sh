#!/bin/bash
# sgrun around real MPI programs: what is said of them, what reaches them, and what is left.
. "${top_srcdir:=$PWD}/tests/run/prelude.sh" || exit 99
. "$top_srcdir/tests/workloads/mpi.sh" || exit 99
libraries=$(mpi_libraries "$top_builddir/tests/workloads/loop")
[ -n "$libraries" ] || skip_all "there is no MPI library"
on_failure() { show "$dir/err"; }

cat >>"$SYNCGUARD_CONF" <<CONF
Controller=elsewhere.example
StateDir=/nonexistent
Policy=quick Description="of the test"
CONF
sgrun() { timeout -k 5 600 "$top_builddir/sgrun" "$@" >"$dir/out" 2>"$dir/err"; }
# Those that nobody holds: a run of somebody else, another test's too, holds its own.
rings() { find /dev/shm -maxdepth 1 -name 'syncguard-run-*' -user "$(id -u)" -exec flock -n {} echo {} \; 2>/dev/null | sort; }
before=$(rings)
no_service() { ! pgrep -f -- "$dir/tmp" >/dev/null; }
nothing_left() {
    is "$(find "$dir/tmp" -name 'sgrun-*')$(rings | grep -vxF "${before:-none}")$(pgrep -f -- "$dir/tmp")" "" "$1: no folder, ring or process is left"
}

# ---- without MPI ----

# shellcheck disable=SC2016
sgrun sh -c 'echo "to $1"; echo bad >&2; exit 7' - out
is "$?" 7 "the exit status is the program's"
is "$(cat "$dir/out")" "to out" "standard output has what the program prints, and nothing else"
like "$(cat "$dir/err")" '^bad$' "the program's standard error is its own"
like "$(cat "$dir/err")" '^sgrun: guarded; to look at it from another terminal: sgtop --conf=/' "where there is no screen, it is said how to look"
like "$(tr '\n' ' ' <"$dir/err")" 'No call of MPI, NCCL or Gloo was seen before the end' "the report says that no call of MPI was seen"
nothing_left "a program without MPI"
sgrun sh -c 'kill -KILL $$'
is "$?" 137 "a program that a signal ended exits with 128 and its number"
sgrun /nonexistent/program
is "$?" 127 "a program that does not exist exits with 127"
like "$(cat "$dir/err")" '^sgrun: cannot run /nonexistent/program: No such file' "a program that does not exist is named"
sgrun "$dir/own.conf"
is "$?" 126 "a file that cannot be run exits with 126"
nothing_left "programs that cannot be run"
sgrun --policy=nonsense true
is "$?" 2 "an unknown policy exits with 2"
like "$(cat "$dir/err")" "unknown policy 'nonsense'; known are .*quick" "an unknown policy is named, and the known ones"
sgrun
is "$?" 2 "without a program it exits with 2"
like "$(cat "$dir/err")" 'missing PROGRAM' "a missing program is said"

# ---- what cannot be guarded runs ----

sed 's|^ProbePath=.*|ProbePath=/nonexistent/probe.so|' "$dir/own.conf" >"$dir/broken.conf"
sgrun --conf="$dir/broken.conf" sh -c 'echo ran; exit 3'
is "$? $(cat "$dir/out")" "3 ran" "a program that cannot be guarded runs"
is "$(grep -c . "$dir/err") $(cat "$dir/err")" "1 sgrun: sh runs unguarded: cannot read /nonexistent/probe.so: No such file or directory" \
    "a program that cannot be guarded: one line says so, and why"

# ---- signals ----

# What is started in the background writes to a file of its own: until the shell there has opened it, one of the same name has the words of the
# command before, and the wait for them ends before the program has begun.
# shellcheck disable=SC2016
timeout -k 5 600 "$top_builddir/sgrun" sh -c 'trap "echo caught; exit 5" TERM; echo up; while :; do sleep .05; done' >"$dir/caught" 2>"$dir/err" &
child=$!
wait_for 120 grep -q up "$dir/caught"
pkill -TERM -P "$child"
wait "$child"
is "$? $(tail -n 1 "$dir/caught")" "5 caught" "SIGTERM reaches the program, which decides about it"
nothing_left "a program that was asked to end"

# What a program does with these is its own affair: each is passed on, and its answer awaited, before the next.
# shellcheck disable=SC2016
timeout -k 5 600 "$top_builddir/sgrun" bash -c 'for s in USR1 USR2 ALRM XCPU; do trap "echo has $s" $s; done; trap "exit 5" TERM; echo up; while :; do sleep .05; done' >"$dir/passed" 2>"$dir/err" &
child=$!
wait_for 120 grep -q up "$dir/passed"
for s in USR1 USR2 ALRM XCPU; do
    pkill -"$s" -P "$child"
    wait_for 120 grep -q "has $s" "$dir/passed"
done
pkill -TERM -P "$child"
wait "$child"
is "$? $(tr '\n' ' ' <"$dir/passed")" "5 up has USR1 has USR2 has ALRM has XCPU " "SIGUSR1, SIGUSR2, SIGALRM and SIGXCPU reach the program"
nothing_left "a program that was sent other signals"

# What was ignored before, as by nohup, stays so in the program.
inherited=(env "--ignore-signal=HUP,INT,PIPE,CHLD,USR1,TTOU" "--block-signal=USR2,TERM")
if "${inherited[@]}" true 2>/dev/null; then
    state=(grep -E '^Sig(Blk|Ign):' /proc/self/status)
    sgrun "${state[@]}"
    plain=$(cat "$dir/out")
    is "$(timeout -k 5 600 "${inherited[@]}" "$top_builddir/sgrun" "${state[@]}" 2>"$dir/err")" "$(timeout 600 "${inherited[@]}" "${state[@]}")" \
        "signals that were ignored or blocked when sgrun was started are so in the program"
    is "$plain" "$(timeout 600 "${state[@]}")" "a program ignores and blocks no others"
    timeout -k 5 600 "${inherited[@]}" "$top_builddir/sgrun" sh -c 'exit 7' >"$dir/out" 2>"$dir/err"
    is "$?" 7 "sgrun that was started with SIGCHLD ignored sees the end of the program"
    nothing_left "sgrun that was started with signals ignored"
else
    skip "signals that were ignored or blocked when sgrun was started" "env cannot ignore signals"
fi

# One that comes while the guard starts: the agent does, once the signal is sent.
printf '#!/bin/sh\n: >%s/starts\nuntil [ -e %s/agent ]; do sleep .05; done\nexec %s/syncguard-agent "$@"\n' "$dir" "$dir" "$top_builddir" >"$dir/slow-agent"
chmod +x "$dir/slow-agent"
sed "s|^AgentPath=.*|AgentPath=$dir/slow-agent|" "$dir/own.conf" >"$dir/slow.conf"
timeout -k 5 600 "$top_builddir/sgrun" --conf="$dir/slow.conf" env --ignore-signal=TERM sh -c 'echo ran' >"$dir/early" 2>"$dir/err" &
child=$!
wait_for 120 test -e "$dir/starts"
pkill -TERM -P "$child"
touch "$dir/agent"
wait "$child"
is "$? $(cat "$dir/early")" "143 " "where SIGTERM comes while the guard starts, the program is not started"
like "$(cat "$dir/err")" '^sgrun: env was not started: Terminated$' "a program that was not started: it is said, and why"
nothing_left "a program that was not started"
rm "$dir/starts" "$dir/agent"

# Killed, it leaves folders, but no process of its own; the program goes on.
# shellcheck disable=SC2016
"$top_builddir/sgrun" sh -c 'echo up; while [ ! -e "$0" ]; do sleep .1; done; echo end' "$dir/go" >"$dir/killed" 2>"$dir/err" &
child=$!
wait_for 120 grep -q up "$dir/killed"
kill -KILL "$child"
wait "$child" 2>/dev/null
wait_for 120 no_service
ok $? "when sgrun is killed, munged, controller and agent end"
touch "$dir/go"
wait_for 120 grep -q end "$dir/killed"
ok $? "when sgrun is killed, the program goes on"
rm -rf "${dir:?}"/tmp/* && rings | grep -vxF "${before:-none}" | xargs -r rm -rf

# ---- several hosts: a stand-in for ssh runs what it is told here ----

printf '#!/bin/sh\necho "$1" >>%s/reached\nexec sh -c "$2"\n' "$dir" >"$dir/ssh"
chmod +x "$dir/ssh"
hosts=(--hosts='alpha[1-2],me@beta' --address=127.0.0.1 --ssh="$dir/ssh")
mkdir "$dir/folder"
# shellcheck disable=SC2016
(cd "$dir/folder" && MARKED="it's here" sgrun "${hosts[@]}" --report="$dir/report" --name=spread sh -c 'echo "$SGRUN_NODE of $SGRUN_NODES: $1, $MARKED, ${PWD##*/}"; cat' - "a 'b")
is "$? $(sort "$dir/out" | tr '\n' '+')" "0 0 of 3: a 'b, it's here, folder+1 of 3: a 'b, it's here, folder+2 of 3: a 'b, it's here, folder+" \
    "hosts: the program runs on each of them, with arguments, environment and folder, and reads nothing"
is "$(sort "$dir/reached" | tr '\n' ' ')" "alpha1 alpha2 me@beta " "hosts: ssh is given their names"
is "$(jq -c '[.name, .state, .nodes]' "$dir/report")" '["spread","finished",3]' "hosts: the report is of one job on all of them"
nothing_left "hosts"
# shellcheck disable=SC2016
sgrun "${hosts[@]}" sh -c 'trap "echo asked $SGRUN_NODE; exit 0" TERM; [ "$SGRUN_NODE" != 1 ] || exit 3; while :; do sleep .05; done'
is "$? $(sort "$dir/out" | tr '\n' ' ')" "3 asked 0 asked 2 " "hosts: where a program fails the others are asked to end, and its status is that of all"
like "$(cat "$dir/err")" '^sgrun: alpha2: exit status 3; ' "hosts: which one failed is said"
# shellcheck disable=SC2016
timeout -k 5 600 "$top_builddir/sgrun" "${hosts[@]}" sh -c 'trap "echo caught $SGRUN_NODE; exit 0" TERM; trap "echo saved" USR1; echo up; while :; do sleep .05; done' >"$dir/all-caught" 2>"$dir/err" &
child=$!
all_three() { [ "$(grep -c "$1" "$2")" = 3 ]; } # WORD FILE
wait_for 120 all_three up "$dir/all-caught"
pkill -USR1 -P "$child"
wait_for 120 all_three saved "$dir/all-caught"
ok $? "hosts: SIGUSR1 reaches all programs"
pkill -TERM -P "$child"
wait "$child"
is "$? $(grep caught "$dir/all-caught" | sort | tr '\n' ' ')" "0 caught 0 caught 1 caught 2 " "hosts: a signal reaches all programs"
nothing_left "hosts that were asked to end"
if "${inherited[@]}" true 2>/dev/null; then
    printf '#!/bin/sh\nexec env --default-signal=HUP sh -c "$2"\n' >"$dir/other-ssh"
    chmod +x "$dir/other-ssh"
    timeout -k 5 600 env --ignore-signal=HUP "$top_builddir/sgrun" --hosts=alpha --address=127.0.0.1 --ssh="$dir/other-ssh" \
        sh -c 'trap "echo hung up" HUP; trap "exit 0" TERM; echo up; while :; do sleep .05; done' >"$dir/ignored" 2>"$dir/err" &
    child=$!
    wait_for 120 grep -q up "$dir/ignored"
    pkill -HUP -P "$child"
    pkill -TERM -P "$child"
    wait "$child"
    is "$? $(cat "$dir/ignored")" "0 up" "hosts: a signal that sgrun was started with as ignored reaches no program"
    nothing_left "hosts where a signal is ignored"
else
    skip "hosts: a signal that sgrun was started with as ignored" "env cannot ignore signals"
fi
# shellcheck disable=SC2016
"$top_builddir/sgrun" "${hosts[@]}" sh -c 'echo up; while [ ! -e "$0" ]; do sleep .1; done; echo end' "$dir/leave" >"$dir/all-killed" 2>"$dir/err" &
child=$!
wait_for 120 all_three up "$dir/all-killed"
kill -KILL "$child"
wait "$child" 2>/dev/null
touch "$dir/leave"
wait_for 120 all_three end "$dir/all-killed"
ok $? "hosts: when sgrun is killed, the programs go on"
wait_for 120 no_service
ok $? "hosts: and nothing of it stays behind them"
rm -rf "${dir:?}"/tmp/* && rings | grep -vxF "${before:-none}" | xargs -r rm -rf
sgrun --hosts='no[' true
is "$?" 126 "hosts: a list that is wrong cannot be run"
sgrun --hosts=nowhere.invalid true
like "$(cat "$dir/err")" "cannot tell by which address nowhere.invalid reaches this host .*--address" "hosts: a name that is not known is said, and what helps"
sgrun --hosts=a,b,a --address=127.0.0.1 true
like "$(cat "$dir/err")" "a is in the list of hosts twice" "hosts: one that is there twice is refused"
sgrun --ssh=rsh true
is "$? $(cat "$dir/err" | head -n 1)" "2 sgrun: --ssh and --address are for --hosts" "hosts: options that need them are refused without"
"$top_builddir/sgrun" --join true <<<'{"node":"x"}' 2>"$dir/err"
is "$?" 126 "hosts: a part that is told nonsense runs nothing"

# ---- with MPI ----

for library in $libraries; do
    case $library in
    openmpi) launcher=(mpiexec.openmpi --oversubscribe --bind-to none) ;;
    *) launcher=("mpiexec.$library") ;;
    esac
    sgrun --no-screen --name=around --policy=quick --report="$dir/report" "${launcher[@]}" -n 3 "$top_builddir/tests/workloads/loop.$library" allreduce 200
    is $? 0 "$library: a program of 3 ranks ends well"
    is "$(grep -c '^loop: rank [0-2] pid' "$dir/out")" 3 "$library: its output is there"
    is "$(jq -c '[.state, .ranks, .nodes, .name, .policy.name]' "$dir/report")" '["finished",3,1,"around","quick"]' "$library: the report has the job's ranks, name and policy"
    is "$(jq -c '.probe | [.ranks_guarded, .ranks_total]' "$dir/report")" '[3,3]' "$library: without Slurm the ranks say how many they are"
    jq -e '.steps >= 150 and .steps <= 250 and .probe.events >= 600' "$dir/report" >/dev/null
    ok $? "$library: the report has the steps and calls of all ranks" || jq -c '[.steps, .probe]' "$dir/report"
    like "$(cat "$dir/err")" 'More +sgrun --full, or --report=FILE as JSON$' "$library: ten lines of it are on standard error, and how to have the rest"
    ok "$(($(grep -vc '^sgrun: ' "$dir/err") > 16))" "$library: and no more"
    nothing_left "$library"
    ASAN_OPTIONS=detect_leaks=0 sgrun --report="$dir/report" "${launcher[@]}" -n 2 "$top_builddir/tests/probe/sanitized.$library" agreement
    is "$? $(grep -c ' ok$' "$dir/out")" "0 2" "$library: a program with an address sanitizer of its own ends well"
    is "$(jq '.probe | .ranks_guarded == 2 and .events > 0' "$dir/report")" true "$library: and is guarded"
done
sgrun --full --report="$dir/report" "${launcher[@]}" -n 1 "$top_builddir/tests/workloads/loop.$library" allreduce 5
is "$(jq -r .name "$dir/report")" "loop.$library" "behind a launcher the job is called by the program's name"
like "$(cat "$dir/err")" '^Figures$' "with --full the whole report is on standard error"
like "$(cat "$dir/err")" '^  1 of 1 rank is guarded$' "and of how many ranks they are"

# Two at a time: neither sees the other. Each program ends when both have begun.
# shellcheck disable=SC2016
meet=': >"$1.begun"; until [ -e "$2.begun" ]; do sleep 0.1; done'
"$top_builddir/sgrun" --report="$dir/a" sh -c "$meet" - "$dir/a" "$dir/b" 2>/dev/null &
first=$!
"$top_builddir/sgrun" --report="$dir/b" sh -c "$meet" - "$dir/b" "$dir/a" 2>/dev/null &
second=$!
wait "$first" && wait "$second"
is "$? $(jq -r .state "$dir/a" "$dir/b" | tr '\n' ' ')" "0 finished finished " "two at a time: each has its own report"
nothing_left "two at a time"

# ---- the screen ----

if command -v script >/dev/null; then
    TERM=dumb timeout -k 5 300 script -qec "'$top_builddir/sgrun' echo printed" /dev/null </dev/null >"$dir/dumb" 2>&1
    is "$? $(tr -d '\r' <"$dir/dumb" | grep -c '^printed$') $(grep -c 'from another terminal: sgtop' "$dir/dumb")" "0 1 1" \
        "on a terminal that cannot place its cursor the program has the terminal, and it is said how to look"
    nothing_left "a terminal that cannot place its cursor"
else
    skip "a terminal that cannot place its cursor" "script is not installed"
fi

if command -v tmux >/dev/null; then
    tmux="tmux -S $dir/tmux -f /dev/null"
    $tmux new-session -d -x 100 -y 30 "'$top_builddir/sgrun' sh -c 'echo printed; sleep 600' 2>$dir/err; echo status=\$?; sleep 600"
    screen() { $tmux capture-pane -p >"$dir/screen" && grep -q -- "$1" "$dir/screen"; }
    wait_for 120 screen 'sgtop'
    ok $? "on a terminal sgtop shows the run" || show "$dir/screen"
    ! grep -q printed "$dir/screen"
    ok $? "on a terminal the program does not write into the screen"
    $tmux send-keys Q
    wait_for 120 screen '^printed'
    ok $? "after Q the program's output follows" || show "$dir/screen"
    $tmux send-keys C-c
    wait_for 120 screen 'status=130'
    ok $? "after Q, Ctrl-C ends the program" || show "$dir/screen"
    $tmux kill-server 2>/dev/null
    nothing_left "the screen"
    $tmux new-session -d -x 100 -y 30 "'$top_builddir/sgrun' sh -c 'sleep 1; echo printed' 2>$dir/err; echo status=\$?; sleep 600"
    wait_for 120 screen '^ finished '
    ok $? "the screen stays when the program has ended, and says so" || show "$dir/screen"
    $tmux send-keys Q
    wait_for 120 screen 'status=0' && screen '^printed'
    ok $? "after Q the program's output follows, and sgrun ends as it did" || show "$dir/screen"
    $tmux kill-server 2>/dev/null
    nothing_left "the screen of a program that has ended"
    $tmux new-session -d -x 100 -y 30 "trap : INT; '$top_builddir/sgrun' --conf=$dir/slow.conf sh -c 'echo ran >$dir/ran' 2>$dir/err; echo status=\$?; sleep 600"
    wait_for 120 test -e "$dir/starts"
    $tmux send-keys C-c
    wait_for 120 screen '\^C'
    touch "$dir/agent"
    wait_for 120 screen 'status=130' && [ ! -e "$dir/ran" ]
    ok $? "where Ctrl-C comes while the guard starts, the program is not started" || show "$dir/screen"
    $tmux kill-server 2>/dev/null
    nothing_left "the screen of a program that was not started"
else
    skip "the screen" "tmux is not installed"
fi
done_testing
